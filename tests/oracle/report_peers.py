#!/usr/bin/env python3
"""report_peers.py - the figures of bpe report are those of others: tokens, texts and magikarp's categories by Hugging Face tokenizers,
for models of each form (bench/linear.py); Renyi efficiency by tokenization-scorer; the Gini coefficient by numpy.

    report_peers.py [DOCS]      needs tokenizers and BUILD; prints TAP
"""
import collections
import io
import contextlib
import itertools
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import lib  # noqa: E402

try:
    from tokenizers import Tokenizer
except ImportError as why:
    lib.skip_all(why)
try:
    import tokenization_scorer
except ImportError:
    tokenization_scorer = None
import linear  # noqa: E402

DOCS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
PARTS = ["a", "b", "ab", "c", "aaaa", " ", "  ", "\n", "1", "22", "é", "語", "한", "Å", ".", "!", "\U0001f980", "the", " of", "ing"]
lib.own_directory()
RNG = random.Random(lib.seed())


def docs(n):
    return ["".join(RNG.choice(PARTS) for _ in range(RNG.choice([1, 5, 60]))) for _ in range(n)]


def report(model, *sources, want=0):
    code, _, err = lib.run(["bpe", "report", "-o", "r.html", "--jsonl", "-m", model, *sources])
    return json.loads(lib.read("r.json")) if code == want else {"error": err}


def lines(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


def reach(tokenizer, special):
    """How many tokens are in each of magikarp's categories, by its method: decode, and encode again."""
    found = collections.Counter()
    for key, i in tokenizer.get_vocab(with_added_tokens=True).items():
        text = tokenizer.decode([i], skip_special_tokens=False)
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        found["special" if key in special else "undecodable" if "\ufffd" in text else "self" if ids == [i] else
              "single_token" if len(ids) == 1 else "multi_token"] += 1
    return found


def check(name, model):
    lib.write("m.json", json.dumps(model))
    tokenizer = Tokenizer.from_str(json.dumps(model))
    texts = docs(DOCS)
    lib.write("t.jsonl", lines(texts))
    got = report("m.json", "t=t.jsonl")
    if "error" in got:
        return got["error"]
    added = {t["content"] for t in model["added_tokens"]}
    if added & set(model["model"]["vocab"]):
        return []  # an id does not show whether the token was found in the text
    ids = [[i for i in e.ids if tokenizer.id_to_token(i) not in added] for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    counts = collections.Counter(itertools.chain(*ids))
    ratios = [len(i) / len(text.split()) for i, text in zip(ids, texts) if text.split()]
    cell = got["figures"][0]
    want = {"tokens": counts.total(), "types": len(counts), "texts": len(ratios), "tokens_per_word": sum(ratios) / len(ratios)}
    bad = [(k, cell[k], v) for k, v in want.items() if not math.isclose(cell[k], v, rel_tol=1e-9)]
    if tokenization_scorer and len(counts) > 1:
        with contextlib.redirect_stderr(io.StringIO()):
            score = tokenization_scorer.score([" ".join(map(str, i)) for i in ids], metric="renyi", power=2.5)
        bad += [("renyi", cell["renyi"], score)] if not math.isclose(cell["renyi"], score, rel_tol=1e-6) else []
    return bad


for form, model in linear.FORMS.items():
    bad = check(form, model)
    lib.ok(not bad, f"{form}: tokens, types, texts, tokens per word, Renyi efficiency", bad)

# Categories, for trained models: bytes; and characters, with a prefix.
lib.write("en.txt", lib.text(3, 300_000))
lib.must("bpe", "train", "-v", "2000", "-o", "gpt2.json", "en.txt")
lib.must("bpe", "train", "-v", "2000", "-p", "cl100k", "-o", "cl.json", "en.txt")
for path in "gpt2.json", "cl.json":
    top = json.loads(lib.read(path))
    for odd in "zq zq", "qqzz", " ,x ":
        top["model"]["vocab"][lib.spell(odd.encode())] = len(top["model"]["vocab"])
    lib.write("m.json", json.dumps(top))
    lib.write("t.jsonl", lines(["a"]))
    got = report("m.json", "t.jsonl")
    want = reach(Tokenizer.from_file("m.json"), {t["content"] for t in top["added_tokens"]})
    have = {k: n for k, n in got["models"][0]["encoded_again"].items() if n}
    lib.ok(have == dict(want), f"{path}: magikarp's categories", (have, want))

# Parallel texts.
try:
    import numpy
except ImportError:
    numpy = None
if numpy:
    for n in range(3):
        lib.write(f"p{n}.jsonl", lines(docs(20)))
    got = report("gpt2.json", "--parallel", *(f"p{n}.jsonl" for n in range(3)))
    cost = numpy.array([f["tokens"] for f in got["figures"][:3]], float)
    gini = numpy.abs(cost[:, None] - cost[None, :]).sum() / (2 * len(cost) ** 2 * cost.mean())
    lib.ok(math.isclose(got["models"][0]["gini"], gini), "the Gini coefficient", (got["models"][0]["gini"], gini))
else:
    lib.skip("the Gini coefficient", "numpy is not installed")
sys.exit(lib.done())
