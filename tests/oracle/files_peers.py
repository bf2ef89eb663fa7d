#!/usr/bin/env python3
"""files_peers.py - models in files of others, as those read them.

tekken.json: makes small random files, and takes the real ones that mistral_common has. What bpe-encode makes of texts by
them must be the ids of mistral_common. Directories: what bpe-model -f hf-dir makes of random models must be loaded by
transformers' AutoTokenizer, with the same ids, eos and pad.

    files_peers.py [ROUNDS [SEED]]      needs mistral_common, transformers and BUILD; prints TAP
"""
import base64
import glob
import json
import logging
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import ok  # noqa: E402

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
try:
    import mistral_common
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import AutoTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
except ImportError as why:
    lib.skip_all(why)

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
SEED = lib.seed(sys.argv[2] if len(sys.argv) > 2 else 20240501)
REGEXES = [r"\p{N}{1,3}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
           r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
           r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+", r"\p{L}++|\P{L}{1,3}+"]
WORDS = ["the", " the", " lower", "newest", "'ll", "'S", " é", "über", "語", "中文", "🙂", "\n", "\n\n  ", "  ", "\t", "1", "2024", "3.14", "#!", "...",
         "\x00", "\x7f", "a", " a", "aaa", "ab", "<s>", "</s>", "[INST]", "[/INST", "<SPECIAL_20>", "<pad>", "ＡＢ", "e\u0301", "\u0301", "ǅ", "/\n"]


def encode(model, texts, *args):
    """The ids of each text."""
    code, out, err = lib.run(["bpe-encode", "-m", model, "-0", "-f", "text", *args], "\0".join([*texts, ""]).encode())
    if code:
        raise RuntimeError(f"bpe-encode: exit {code}: {err}")
    return [list(map(int, line.split())) for line in out.decode().splitlines()]


def texts_of(rng, n):
    return ["".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 60))).replace("\0", "") for _ in range(n)]


# ---- tekken.json ----

def tekken_of(rng, texts):
    """The tokens are random pieces of the texts, and all that their merges need."""
    tokens = [bytes([b]) for b in range(256)]
    for _ in range(rng.randrange(200)):
        text = rng.choice(texts).encode()
        left = next(iter(rng.sample([t for t in tokens if t in text] or [b"a"], 1)))
        at = text.find(left) + len(left)
        right = max((t for t in tokens if t and text.startswith(t, at)), key=len, default=None)
        if right and left + right not in tokens:
            tokens.append(left + right)
    version = rng.choice(["v1", "v3", "v7", "v11", "v13", "v15"])
    special = None if version in ("v1", "v3", "v7") and rng.random() < 0.7 else ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"][:rng.randrange(6)]
    n_special = (20 if special is None else len(special)) + rng.choice([0, 1, 30])
    size = n_special + rng.randrange(256, len(tokens) + 1)
    return {"config": {"pattern": rng.choice(REGEXES), "num_vocab_tokens": len(tokens), "default_vocab_size": size,
                       "default_num_special_tokens": n_special, "version": version},
            "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(tokens)],
            **({} if special is None else {"special_tokens": [{"rank": i, "token_str": s, "is_control": True} for i, s in enumerate(special)]})}


def same_tekken(tag, path, texts):
    peer = Tekkenizer.from_file(path)
    ours = encode(path, texts, "--special=text")
    bad = [(t, o) for t, o in zip(texts, ours) if peer.encode(t, bos=False, eos=False) != o]
    ok(not bad, f"{tag}: the ids of mistral_common", repr(bad[:1]))
    code, out, err = lib.run(["bpe-model", "--info", path])
    special = [line.split(" ", 2)[1:] for line in out.decode().splitlines() if line.startswith("special: ")]
    want = [[str(i), peer.id_to_piece(i)] for i in range(peer.num_special_tokens)]
    ok(code == 0 and special == want, f"{tag}: its special tokens", err)
    ok(f"\nids: {peer.n_words}\n" in out.decode(), f"{tag}: its number of ids")


# ---- Directories of from_pretrained ----

EOS = ["<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "</s>", "<eos>"]
PAD = ["<pad>", "<|pad|>", "[PAD]", "<PAD>", "<|padding|>", "<|finetune_right_pad_id|>", "<｜▁pad▁｜>"]


def train(rng, texts, special):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=256 + len(special) + rng.choice([0, 40, 300]), special_tokens=special,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def model(*args):
    code, _, err = lib.run(["bpe-model", *args])
    if code:
        raise RuntimeError(f"bpe-model {args}: exit {code}: {err}")
    return err


def check_directory(tag, rng, tmp, texts):
    special = rng.sample([*EOS, *PAD, "<s>", "[INST]", "<|é|>"], rng.randrange(1, 6))
    t = train(rng, texts, special)
    t.save(f"{tmp}/t.json")
    said = model("-f", "hf-dir", "-o", f"{tmp}/dir", f"{tmp}/t.json")
    peer = AutoTokenizer.from_pretrained(f"{tmp}/dir")
    eos = next((s for s in EOS if s in special), special[0] if len(special) == 1 else None)
    pad = next((s for s in PAD if s in special), eos)
    ok((peer.eos_token, peer.pad_token) == (eos, pad), f"{tag}: eos {eos}, pad {pad}", f"{special}: {peer.eos_token}, {peer.pad_token}")
    ok(peer.eos_token_id == (None if eos is None else t.token_to_id(eos)), f"{tag}: with its id")
    ok(("no special token is known to end a text" in said) == (eos is None), f"{tag}: and a remark if there is none", said)
    texts = texts + ["".join(rng.choice([*WORDS, *special, " "]) for _ in range(40)).replace("\0", "") for _ in range(30)]
    bad = [x for x in texts if not peer(x)["input_ids"] == peer(x, add_special_tokens=False)["input_ids"] == t.encode(x).ids]
    ok(not bad, f"{tag}: transformers encodes as tokenizers", repr(bad[:1]))
    bad = [x for x in texts if peer.decode(t.encode(x).ids) != t.decode(t.encode(x).ids, skip_special_tokens=False)]
    ok(not bad, f"{tag}: and decodes so", repr(bad[:1]))


def check_round(number):
    rng = random.Random(f"{SEED}/{number}")
    texts = texts_of(rng, 30)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "tekken.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(tekken_of(rng, texts), f, indent=rng.choice([None, 1]))
        same_tekken(f"round {number}", path, texts)
        check_directory(f"round {number}, directory", rng, tmp, texts)


def main():
    print(f"# mistral_common {mistral_common.__version__}, transformers {transformers.__version__}")
    logging.disable(logging.WARNING)
    lib.rounds(ROUNDS, check_round)
    for path in sorted(glob.glob(os.path.join(os.path.dirname(mistral_common.__file__), "data", "tekken_*.json"))):
        same_tekken(os.path.basename(path), path, texts_of(random.Random(SEED), 1000))
    sys.exit(lib.done())


main()
