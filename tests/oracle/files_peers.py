#!/usr/bin/env python3
"""files_peers.py - bpetools reads and writes other projects' model files as those projects do.

tekken.json: with small random files and the real ones of mistral_common, bpe-encode must produce the ids of mistral_common. Directories:
transformers' AutoTokenizer must load those that bpe-model -f hf-dir makes of random models, with the same ids, eos and pad; and random
directories with vocab.json and merges.txt, or with ranks, must be read as AutoTokenizer reads them.

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
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
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
    """The ids of all texts, concatenated, because lines end at separators, too."""
    code, out, err = lib.run(["bpe-encode", "-m", model, "-0", "-f", "text", *args], "\0".join([*texts, ""]).encode())
    if code:
        raise RuntimeError(f"bpe-encode: exit {code}: {err}")
    return list(map(int, out.split()))


def same_ids(tag, model, texts, peer, *args):
    """peer is a function that returns the ids of a text."""
    ours, theirs = encode(model, texts, *args), [i for t in texts for i in peer(t)]
    bad = next((t for t in texts if encode(model, [t], *args) != peer(t)), None) if ours != theirs else None
    ok(ours == theirs, tag, bad is None or f"{bad!r}: {encode(model, [bad], *args)}, not {peer(bad)}")


def texts_of(rng, n):
    return ["".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 60))).replace("\0", "") for _ in range(n)]


READ = []  # whether each random directory was read

# ---- tekken.json ----

def tekken_of(rng, texts):
    """A tekken.json whose tokens are bytes and random strings of the texts, each made of two others."""
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
    same_ids(f"{tag}: same ids as mistral_common", path, texts, lambda t: peer.encode(t, bos=False, eos=False), "--special=text")
    code, out, err = lib.run(["bpe-model", "--info", path])
    special = [line.split(" ", 2)[1:] for line in out.decode().splitlines() if line.startswith("special: ")]
    want = [[str(i), peer.id_to_piece(i)] for i in range(peer.num_special_tokens)]
    ok(code == 0 and special == want, f"{tag}: same special tokens", err)
    ok(f"\nids: {peer.n_words}\n" in out.decode(), f"{tag}: same number of ids")


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
    if rng.random() < 0.5:
        t.post_processor = processors.TemplateProcessing(single=f"{special[0]} $A", special_tokens=[(special[0], t.token_to_id(special[0]))])
    t.save(f"{tmp}/t.json")
    said = model("-f", "hf-dir", "-o", f"{tmp}/dir", f"{tmp}/t.json")
    peer = AutoTokenizer.from_pretrained(f"{tmp}/dir")
    # A single special token ends a text unless its name is that of a padding token.
    eos = next((s for s in EOS if s in special), special[0] if len(special) == 1 and special[0] not in PAD else None)
    pad = next((s for s in PAD if s in special), eos)
    ok((peer.eos_token, peer.pad_token) == (eos, pad), f"{tag}: eos {eos}, pad {pad}", f"{special}: {peer.eos_token}, {peer.pad_token}")
    ok(peer.eos_token_id == (None if eos is None else t.token_to_id(eos)), f"{tag}: with the id of eos")
    ok(("no special token is known to end a text" in said) == (eos is None), f"{tag}: with a warning if there is no eos", said)
    texts = texts + ["".join(rng.choice([*WORDS, *special, " "]) for _ in range(40)).replace("\0", "") for _ in range(30)]
    bad = [x for x in texts if any(peer(x, add_special_tokens=add)["input_ids"] != t.encode(x, add_special_tokens=add).ids for add in (True, False))]
    ok(not bad, f"{tag}: transformers encodes as tokenizers does", repr(bad[:1]))
    bad = [x for x in texts if peer.decode(t.encode(x).ids) != t.decode(t.encode(x).ids, skip_special_tokens=False)]
    ok(not bad, f"{tag}: and decodes as it does", repr(bad[:1]))


def role(rng, content):
    """A token in one of the forms that a role may have."""
    return rng.choice([content, {"__type": "AddedToken", "content": content, "lstrip": False, "normalized": rng.random() < 0.5, "rstrip": False,
                                 "single_word": False}])


def roles_of(rng, special):
    """Roles, other names, and lists for some of the special tokens."""
    roles = ["eos_token", "pad_token", "bos_token", "unk_token", "mask_token", "image_token", "audio_token", "boi_token"]
    said = {name: role(rng, rng.choice(special)) for name in rng.sample(roles, rng.randrange(6))}
    if rng.random() < 0.2:
        said[rng.choice(["image_token", "audio_token"])] = None
    if rng.random() < 0.3:
        said[rng.choice(["eos_token", "pad_token"])] = None
    for name in rng.sample(["additional_special_tokens", "extra_special_tokens"], rng.randrange(3)):
        said[name] = [role(rng, s) for s in rng.sample(special, rng.randrange(3))]
    if rng.random() < 0.15:
        said["extra_special_tokens"] = {name: rng.choice(special) for name in rng.sample(["image_token", "boi_token", "other"], rng.randrange(3))}
    return said


def decoder_of(rng, ids):
    return {str(i): {"content": s, **({"special": rng.random() < 0.7} if rng.random() < 0.8 else {})} for s, i in rng.sample(sorted(ids.items()), len(ids))}


def write_config(rng, place, special, ids, **config):
    """Writes the configuration files next to the vocabulary."""
    config = {**config, **roles_of(rng, special)}
    decoder = rng.random() < 0.5
    if decoder:
        config["added_tokens_decoder"] = decoder_of(rng, ids)
    files = {"tokenizer_config": config}
    if rng.random() < 0.7:
        files["special_tokens_map"] = {k: v for k, v in roles_of(rng, special).items() if k not in ("additional_special_tokens", "extra_special_tokens")}
    if ids and rng.random() < 0.7:
        files["added_tokens"] = ids
    for name, content in files.items():
        with open(f"{place}/{name}.json", "w", encoding="utf-8") as f:
            json.dump(content, f, ensure_ascii=rng.random() < 0.5)


def roles_in(place, *args):
    """([(id, token) of eos, of pad], standard error) by bpe-model; (None, error) if it fails."""
    code, out, err = lib.run(["bpe-model", "--info", *args, place])
    if code:
        return None, err
    lines = [line.split(" ", 2) for line in out.decode().splitlines()]
    return [next(((int(x[1]), x[2]) for x in lines if x[0] == f"{which}:"), (None, None)) for which in ("eos", "pad")], err


def same_directory(tag, place, texts, *args):
    """Tests that the directory is read as by AutoTokenizer, or refused. Returns whether it was read."""
    ours, err = roles_in(place, *args)
    if ours is None:
        ok(any(why in err for why in ("has the id", "is not in added_tokens_decoder", "is not a special token",
                                      "add_prefix_space: not supported")), f"{tag}: is refused", err)
        return False
    peer = AutoTokenizer.from_pretrained(place)
    theirs = [(peer.eos_token_id, peer.eos_token), (peer.pad_token_id, peer.pad_token)]
    ok(ours == theirs, f"{tag}: same eos and pad as transformers", f"{ours}, not {theirs}")
    same_ids(f"{tag}: and the same ids", place, texts, lambda t: peer.encode(t, add_special_tokens=False), *args)
    return True


def check_pair(tag, rng, tmp, texts):
    special = ["<|endoftext|>", "</s>", "<pad>", "<s>", "<|é|>", "[X]", " <sp>"]
    t = train(rng, texts, rng.sample(special, rng.randrange(4)))
    place = f"{tmp}/pair"
    os.mkdir(place)
    t.model.save(place)
    n = t.get_vocab_size()
    new = [s for s in rng.sample(special, rng.randrange(5)) if t.token_to_id(s) is None]
    ids = {s: n + i for i, s in enumerate(new)}
    ids.update({s: t.token_to_id(s) for s in rng.sample(special, 2) if t.token_to_id(s) is not None})
    write_config(rng, place, special, ids, tokenizer_class=rng.choice(["GPT2Tokenizer", "GPT2TokenizerFast", "Qwen2Tokenizer"]),
                 **({"add_prefix_space": rng.random() < 0.5} if rng.random() < 0.3 else {}))
    texts = texts + ["".join(rng.choice([*WORDS, *special, " "]) for _ in range(40)).replace("\0", "") for _ in range(20)]
    return same_directory(tag, place, texts)


def check_ranks(tag, rng, tmp, texts):
    special = ["[BOS]", "[EOS]", "[PAD]", "<|im_end|>", "<|é|>"]
    place = f"{tmp}/ranks"
    os.mkdir(place)
    ranks = [base64.b64decode(t["token_bytes"]) for t in tekken_of(rng, texts)["vocab"]]
    with open(f"{place}/{rng.choice(['tiktoken', 'tokenizer'])}.model", "w", encoding="utf-8") as f:
        f.writelines(f"{base64.b64encode(t).decode()} {i}\n" for i, t in enumerate(ranks))
    at = rng.sample(range(len(ranks), len(ranks) + 10), len(special))
    with open(f"{place}/tokenizer_config.json", "w", encoding="utf-8") as f:
        json.dump({"added_tokens_decoder": decoder_of(rng, dict(zip(special, at))), "eos_token": "[EOS]", "pad_token": "[PAD]",
                   "tokenizer_class": "TokenizersBackend"}, f)
    reserved = [f"<|reserved_token_{i}|>" for i in range(len(ranks), len(ranks) + 10)]
    texts = texts + ["".join(rng.choice([*WORDS, *special, *reserved, " "]) for _ in range(40)).replace("\0", "") for _ in range(20)]
    return same_directory(tag, place, texts, "-p", "llama3")


def check_round(number):
    rng = random.Random(f"{SEED}/{number}")
    texts = texts_of(rng, 30)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "tekken.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(tekken_of(rng, texts), f, indent=rng.choice([None, 1]))
        same_tekken(f"round {number}", path, texts)
        check_directory(f"round {number}, directory", rng, tmp, texts)
        READ.append(check_pair(f"round {number}, pair", rng, tmp, texts))
        READ.append(check_ranks(f"round {number}, ranks", rng, tmp, texts))


def main():
    print(f"# mistral_common {mistral_common.__version__}, transformers {transformers.__version__}")
    logging.disable(logging.WARNING)
    lib.rounds(ROUNDS, check_round)
    ok(sum(READ) > len(READ) / 2, "most directories are read", f"{sum(READ)} of {len(READ)}")
    for path in sorted(glob.glob(os.path.join(os.path.dirname(mistral_common.__file__), "data", "tekken_*.json"))):
        same_tekken(os.path.basename(path), path, texts_of(random.Random(SEED), 1000))
    sys.exit(lib.done())


main()
