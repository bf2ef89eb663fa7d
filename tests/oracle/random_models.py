"""random_models.py - random models for the oracles: merges in any order, all splits of each token, ranks, or superwords; tokens that no
merge produces; and unused ids. Words have a leading space, so that each is a pretoken of gpt2. Models with superwords have the pattern
superbpe; mostly, their merges of words come first, and no two merges produce the same token.
"""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from encode_slow import SUPERBPE_REGEX, Model  # noqa: E402

KINDS = ["merges", "splits", "ranks", "superwords"]


def make_tokens(rng, letters, n, spaces=False, distinct=False):
    """(tokens, pairs): tokens in the order in which the pairs produce them, followed by some that no pair produces."""
    tokens, pairs = [bytes([b]) for b in range(256)], []
    usual = [b" "] + [bytes([b]) for b in letters]
    for k in range(n):
        left, right = rng.choice(usual), rng.choice(usual[1:])
        superword = spaces and k >= n // 2
        if right[:1] == b" " and not superword or len(left + right) > 40 or (left, right) in pairs or distinct and left + right in tokens:
            continue
        pairs.append((left, right))
        if left + right not in tokens:
            tokens.append(left + right)
            usual.append(left + right)
    for _ in range(rng.randrange(8)):
        token = rng.choice([b" ", b""]) + bytes(rng.choices(letters, k=rng.randint(2, 7)))
        if token not in tokens:
            tokens.append(token)
    return tokens, pairs


def in_some_order(rng, items):
    """The items in their order, with some swapped, reversed, or shuffled."""
    way = rng.randrange(4)
    if way == 1:
        for _ in range(1 + len(items) // 8):
            i, k = rng.randrange(len(items)), rng.randrange(len(items))
            items[i], items[k] = items[k], items[i]
    return items[::-1] if way == 2 else rng.sample(items, len(items)) if way == 3 else items


def make_model(rng, kind, letters, wide, sizes=(20, 60, 300)):
    """(model, its merges as pairs of bytes); none for ranks."""
    superwords = kind == "superwords"
    regular = superwords and rng.random() < 0.8
    tokens, pairs = make_tokens(rng, letters, rng.choice(sizes), superwords, regular)
    if kind == "splits":
        there = set(tokens)
        pairs = [(t[:i], t[i:]) for t in tokens for i in range(1, len(t)) if t[:i] in there and t[i:] in there]
    if kind == "ranks":
        tokens = in_some_order(rng, tokens)
    ids = rng.sample(range(65537 + 2000 if wide else len(tokens) + 20), len(tokens))
    token = dict(zip(tokens, sorted(ids) if kind == "ranks" else ids))
    if wide:
        token[rng.choice(tokens)] = 70000
    merges = pairs if regular else in_some_order(rng, pairs) if pairs and kind != "ranks" else []
    merge = None if kind == "ranks" else {(token[l], token[r]): (rank, token[l + r]) for rank, (l, r) in enumerate(merges)}
    return Model(token, merge, [], "superbpe" if superwords else "gpt2", kind == "ranks" or not regular and rng.random() < 0.5), merges


def write(model, merges, path):
    """Writes the model, as .tiktoken if it has no merges. Returns the options for bpe-encode."""
    if model.merge is None:
        lib.write(path, b"".join(b"%s %d\n" % (base64.b64encode(t), i) for t, i in sorted(model.token.items(), key=lambda x: x[1])))
        return ["-m", path, "-p", "gpt2"]
    pre = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    if model.pattern == "superbpe":
        split = {"type": "Split", "pattern": {"Regex": SUPERBPE_REGEX}, "behavior": "Isolated", "invert": False}
        pre = {"type": "Sequence", "pretokenizers": [split, {**pre, "use_regex": False}]}
    of = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": model.whole_first,
          "vocab": {lib.spell(t): i for t, i in model.token.items()}, "merges": [[lib.spell(l), lib.spell(r)] for l, r in merges]}
    lib.write(path, json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": pre, "model": of}))
    return ["-m", path]


def make_word(rng, letters, tokens):
    """A word, mostly short: random letters, a run of one or two letters, or a sequence of tokens."""
    n, kind = rng.randint(1, rng.choice([6, 10, 14, 22, 30, 64, 200] + [600] * (rng.random() < 0.05))), rng.randrange(4)
    if kind == 0:
        word = bytes(rng.choices(letters, k=rng.randint(1, 2))) * n
    elif kind == 1:
        word = b"".join(rng.choices(tokens, k=n))
    else:
        word = bytes(rng.choices(letters, k=n))
    return b" " + word[:n]
