#!/usr/bin/env python3
"""edit_peers.py - what bpe-merge --init and bpe-model -v, --prune, --add-special and --set-eos write is what others would write, and Hugging
Face loads it.

Random models are trained with Hugging Face, continued (as bpe-continue does), cut (like training with a smaller vocabulary), extended (like
add_special_tokens), and pruned; and published vocabularies are cut, pruned and extended. Hugging Face must encode texts with the results as bpe-encode does, every token
that remains must be made from its own bytes if it was before, and ids in the post_processor must be those of the same tokens.

    edit_peers.py [ROUNDS [SEED]]      needs tokenizers, bpe-continue for some, and BUILD; prints TAP. NAMES: the vocabularies
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import vocabularies  # noqa: E402
from lib import ok  # noqa: E402

try:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
except ImportError as why:
    lib.skip_all(why)
try:
    from transformers import AutoTokenizer
except ImportError:
    AutoTokenizer = None

try:
    from bpe_continue import continue_training
except ImportError:
    continue_training = None

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 30
SEED = lib.seed(sys.argv[2] if len(sys.argv) > 2 else 20261129)
WORDS = ["the", " the", "low", " lower", "newest", "'ll", " é", "über", "語", "中文", "🙂", "\n", "\n\n  ", "  ", "1", "2024", "#!", "...", "\x00", "aaa", "<s>", "Ġ"]
SPECIAL = ["<s>", "</s>", "<|é|>", " <sp>", "the", "語<"]
NEW = ["<new>", "<|endoftext|>", "<pad>", "w "]


def model(*args):
    return lib.must("bpe-model", *args).decode()


def train(rng, docs, special, size):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train_from_iterator(docs, trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                    show_progress=False))
    return t


def facts(t):
    """What a model determines: vocabulary, merges, added tokens."""
    m = json.loads(t if isinstance(t, str) else t.to_str())
    return m["model"]["vocab"], m["model"]["merges"], m["added_tokens"]


def encodings(tokenizer, path, texts):
    """The texts that Hugging Face and bpe-encode encode to other ids."""
    return [text for text in texts if text and tokenizer.encode(text, add_special_tokens=False).ids !=
            list(map(int, lib.must("bpe-encode", "-m", path, "-f", "text", data=text.encode()).split()))]


def unmade(tokenizer):
    """The tokens of the vocabulary that Hugging Face does not make from their own bytes, without added tokens."""
    whole = json.loads(tokenizer.to_str())
    m, added = whole["model"], {token["content"] for token in whole["added_tokens"]}
    bare = models.BPE(vocab=m["vocab"], merges=[tuple(p) for p in m["merges"]])
    return {token for token in m["vocab"] if token not in added and [t.value for t in bare.tokenize(token)] != [token]}


def texts_of(rng, special):
    return ["".join(rng.choice(WORDS + special) for _ in range(rng.randrange(1, 60))) for _ in range(12)]


def sum_of(path, texts):
    lib.write("text.txt", "\n".join(texts))
    return lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", path, "text.txt")))


def continued(rng, name, special, size):
    """Training goes on as with bpe-continue, whose ties are by ids. It does not look for special tokens in the text, and it would make one that is
    spelled like one."""
    words = [w for w in WORDS if not any(w in s or s in w for s in special)]
    docs = ["".join(rng.choice(words) for _ in range(rng.randrange(1, 80))) for _ in range(30)]
    n = size + rng.randrange(1, 200)
    lib.write("sum", sum_of("t.json", docs))
    got = lib.must("bpe-merge", "--init=t.json", "--tie=id", "-v", str(n), "sum").decode()
    want = continue_training("t.json", texts=["\n".join(docs)], vocab_size=n, show_progress=False)
    ok(facts(got) == facts(want), f"{name}: training goes on as with bpe-continue, to {n} tokens")


def one_round(number):
    rng = random.Random(SEED + number)
    docs = ["".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 80))) for _ in range(60)]
    special = rng.sample(SPECIAL, rng.randrange(len(SPECIAL)))
    size = 256 + len(special) + rng.randrange(2, 250)
    t = train(rng, docs, special, size)
    size = t.get_vocab_size()
    t.save("t.json")
    if continue_training:
        continued(rng, f"round {number}", special, size)
    n = rng.randrange(256 + len(special), size + 1)
    cut = model("-v", str(n), "t.json")
    ok(facts(cut) == facts(train(rng, docs, special, n)), f"round {number}: cut from {size} to {n} tokens as if trained so")
    new = rng.sample(NEW, rng.randrange(1, len(NEW)))
    t.add_special_tokens(new)
    ok(facts(model(*(f"--add-special={s}" for s in new), "t.json")) == facts(t), f"round {number}: special tokens are added as by add_special_tokens")
    t.add_special_tokens(["<last>"])
    t.post_processor = processors.TemplateProcessing(single="<last> $A", special_tokens=[("<last>", t.token_to_id("<last>"))])
    t.save("t.json")
    lib.write("sum", sum_of("t.json", docs))
    gone = rng.randrange(size - 256 - len(special) + 1)
    lib.write("p.json", model(f"--prune={gone}", "--pad-to-multiple=16", "t.json", "sum"))
    pruned = Tokenizer.from_file("p.json")
    texts = texts_of(rng, special + new + ["<last>"])
    ok(not encodings(pruned, "p.json", texts), f"round {number}: pruned, Hugging Face encodes as bpe-encode does")
    ok(pruned.get_vocab_size() % 16 == 0 and unmade(pruned) <= unmade(t), "  and makes every token")
    ok(pruned.id_to_token(pruned.encode("the").ids[0]) == "<last>", "  and the post_processor adds the same token")


def directory():
    model("--add-special=<x>", "--set-eos=<x>", "--pad-to-multiple=64", "-f", "hf-dir", "-o", "d", "t.json")
    if not AutoTokenizer:
        lib.skip("AutoTokenizer", "transformers is not installed")
        return
    t = AutoTokenizer.from_pretrained("d")
    ok((t.eos_token, len(t) % 64) == ("<x>", 0), "AutoTokenizer knows eos_token, and the padded vocabulary", t)


def published(name, path):
    """Cuts, prunes and extends a published vocabulary."""
    rng = random.Random(SEED)
    texts = texts_of(rng, ["<x>"])
    before = json.loads(lib.read(path))
    characters = not any(step.get("type") == "ByteLevel" for step in [before["pre_tokenizer"] or {}, *(before["pre_tokenizer"] or {}).get("pretokenizers", [])])
    ways = {"cut": ["-v", "30000"]}
    if not characters:
        lib.write("sum", sum_of(path, texts))
        ways["pruned"] = ["--prune=20000"]
    for what, option in ways.items():
        lib.write("p.json", model(*option, "--add-special=<x>", path, *["sum"] * (what == "pruned")))
        t = Tokenizer.from_file("p.json")
        ok(not encodings(t, "p.json", texts), f"{name}, {what}: Hugging Face encodes as bpe-encode does")
        if not characters:
            ok(unmade(t) <= unmade(Tokenizer.from_file(path)), "  and makes every token")


lib.own_directory()
lib.rounds(ROUNDS, one_round)
directory()
for vocabulary in (os.environ.get("NAMES") or "llama3 qwen3").split():
    try:
        file = vocabularies.get(vocabulary)
    except vocabularies.Missing as missing:
        lib.skip(f"{vocabulary}'s vocabulary", missing)
        continue
    published(vocabulary, file)
sys.exit(lib.done())
