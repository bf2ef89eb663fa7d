#!/usr/bin/env python3
"""encode-models.t - bpe-encode with random tokenizer.json and .tiktoken models, at each level of vector instructions, produces the ids of
encode_slow.py.

Models have merges in any order, all splits of each token, or ranks; tokens that no merge produces; and unused ids. Texts consist of words
with a leading space, so that each word is a pretoken of gpt2; most words are repeated. They are given NUL-terminated and as JSON Lines.

    SEED     random seed (printed); MODELS: number of models (10)
"""
import base64
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from encode_slow import Model  # noqa: E402

RNG = random.Random(lib.seed())
MODELS = int(os.environ.get("MODELS") or 10)
KINDS = ["merges", "splits", "ranks"]
LEVELS = [level for level in ("none", "neon", "sse2", "avx2", "avx512") if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=level))[0] == 0]


def make_tokens(letters, n):
    """(tokens, pairs): tokens in the order in which the pairs produce them, followed by some that no pair produces."""
    tokens, pairs = [bytes([b]) for b in range(256)], []
    usual = [b" "] + [bytes([b]) for b in letters]
    for _ in range(n):
        left, right = RNG.choice(usual), RNG.choice(usual[1:])
        if right[:1] == b" " or len(left + right) > 40 or (left, right) in pairs:
            continue
        pairs.append((left, right))
        if left + right not in tokens:
            tokens.append(left + right)
            usual.append(left + right)
    for _ in range(RNG.randrange(8)):
        token = RNG.choice([b" ", b""]) + bytes(RNG.choices(letters, k=RNG.randint(2, 7)))
        if token not in tokens:
            tokens.append(token)
    return tokens, pairs


def in_some_order(items):
    """The items in their order, with some swapped, reversed, or shuffled."""
    way = RNG.randrange(4)
    if way == 1:
        for _ in range(1 + len(items) // 8):
            i, k = RNG.randrange(len(items)), RNG.randrange(len(items))
            items[i], items[k] = items[k], items[i]
    return items[::-1] if way == 2 else RNG.sample(items, len(items)) if way == 3 else items


def make_model(kind, letters, wide):
    tokens, pairs = make_tokens(letters, RNG.choice([20, 60, 300]))
    if kind == "splits":
        there = set(tokens)
        pairs = [(t[:i], t[i:]) for t in tokens for i in range(1, len(t)) if t[:i] in there and t[i:] in there]
    if kind == "ranks":
        tokens = in_some_order(tokens)
    ids = RNG.sample(range(65537 + 2000 if wide else len(tokens) + 20), len(tokens))
    token = dict(zip(tokens, sorted(ids) if kind == "ranks" else ids))
    if wide:
        token[RNG.choice(tokens)] = 70000
    merges = in_some_order(pairs) if pairs and kind != "ranks" else []
    merge = None if kind == "ranks" else {(token[l], token[r]): (rank, token[l + r]) for rank, (l, r) in enumerate(merges)}
    return Model(token, merge, [], "gpt2", kind == "ranks" or RNG.random() < 0.5), merges


def write(model, merges, path):
    """Writes the model, as .tiktoken if it has no merges. Returns the options for bpe-encode."""
    if model.merge is None:
        lib.write(path, b"".join(b"%s %d\n" % (base64.b64encode(t), i) for t, i in sorted(model.token.items(), key=lambda x: x[1])))
        return ["-m", path, "-p", "gpt2"]
    pre = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    of = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": model.whole_first,
          "vocab": {lib.spell(t): i for t, i in model.token.items()}, "merges": [[lib.spell(l), lib.spell(r)] for l, r in merges]}
    lib.write(path, json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": pre, "model": of}))
    return ["-m", path]


def make_word(letters, tokens):
    """A word, mostly short: random letters, a run of one or two letters, or a sequence of tokens."""
    n, kind = RNG.randint(1, RNG.choice([6, 10, 14, 22, 30, 64, 200] + [600] * (RNG.random() < 0.05))), RNG.randrange(4)
    if kind == 0:
        word = bytes(RNG.choices(letters, k=RNG.randint(1, 2))) * n
    elif kind == 1:
        word = b"".join(RNG.choices(tokens, k=n))
    else:
        word = bytes(RNG.choices(letters, k=n))
    return b" " + word[:n]


def check(i, tmp):
    kind, wide = KINDS[i % 3], i % 4 == 0
    letters = RNG.sample(range(97, 123), RNG.choice([1, 2, 3, 4, 26]))
    model, merges = make_model(kind, letters, wide)
    options = write(model, merges, f"{tmp}/{i}.{'tiktoken' if kind == 'ranks' else 'json'}")
    tokens = [t for t in model.token if t.isalpha() and t.isascii()]
    words = [make_word(letters, tokens) for _ in range(1500)]
    words += RNG.choices(words, k=2000) + RNG.choices(words[:100], k=2000)
    documents = [b"".join(words[k:k + 500]) for k in range(0, len(words), 500)]
    want = [[t for word in words[k:k + 500] for t in model.word(word)] for k in range(0, len(words), 500)]
    lib.write(f"{tmp}/text", b"".join(d + b"\0" for d in documents))
    lib.write(f"{tmp}/jsonl", b"".join(json.dumps({"text": d.decode()}).encode() + b"\n" for d in documents))
    bad = []
    for level in LEVELS:
        for form in ["-0", "text"], ["--jsonl", "jsonl"]:
            out = lib.must("env", f"BPE_SIMD={level}", "bpe-encode", *options, "-f", "text", form[0], f"{tmp}/{form[1]}")
            got = [list(map(int, line.split())) for line in out.decode().splitlines()]
            if got != want:
                d = next((d for d, (g, w) in enumerate(zip(got, want)) if g != w), 0)
                at = lib.first_difference(got[d], want[d])
                bad.append(f"{level}, {form[1]}: document {d}, id {at}: {got[d][at:at + 5]}, not {want[d][at:at + 5]}")
    lib.ok(not bad, f"model {i}: {kind}{', wide' * wide}, {len(model.token)} tokens, {len(merges)} merges", "\n".join(bad))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        lib.rounds(MODELS, lambda i: check(i, tmp))
    return lib.done()


sys.exit(main())
