#!/usr/bin/env python3
"""added_peers.py - added tokens with flags have the same ids as in Hugging Face tokenizers.

Compares the sample of tests/cli/added.py, every code point next to a token, and random tokens and texts; texts also in chunks.

    added_peers.py    needs tokenizers and BUILD; prints TAP. STRINGS: number of random texts; SEED
"""
import json
import os
import random
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE + "/../cli"]
import added  # noqa: E402
import lib  # noqa: E402
from added import L, N, R, W  # noqa: E402
from lib import ok  # noqa: E402

try:
    import tokenizers
except ImportError as why:
    lib.skip_all(why)

STRINGS = int(os.environ.get("STRINGS") or 100000)
CHARS = [" ", " ", "\n", "a", "b", "_", "<", ">", "\u00e9", "\u00a0", "\u2003", "\u0301", "1", "\u24d0", "\u200d", "\t", "\r", "\u65e5", "\u0323",
         "\u0958", "\u1100\u1161", "\u11a8"]
TEXTS = 200  # per model


def peer(top):
    t = tokenizers.Tokenizer.from_str(json.dumps(top))
    return lambda text: t.encode(text, add_special_tokens=False).ids


def sample():
    bad = [(text, want) for tokens, texts, *normalizer in added.SAMPLE for top in [added.model(tokens, *normalizer)] for text, want in texts
           if added.shown(peer(top)(text), top) != want]
    ok(not bad, "the sample of tests/cli/added.py", repr(bad[:2]))


def ours(path, texts):
    """The ids of all texts, concatenated."""
    lines = "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()
    code, raw, err = lib.run(["bpe-encode", "-m", path, "--jsonl", "-f", "raw", "-d", "u16"], lines)
    return memoryview(raw).cast("H").tolist() if code == 0 else err


def code_points():
    top = added.model({"x>": [L, W], "<x": [R, W], "<y": [L], "y>": [R]})
    lib.write("m.json", json.dumps(top).encode())
    texts = [f"a{chr(c)}x>{chr(c)}<x{chr(c)}y>{chr(c)}<y" for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    ids = peer(top)
    ok(ours("m.json", texts) == [i for t in texts for i in ids(t)], "every code point next to tokens: white space and word characters")


def random_text(rng, low, high):
    return "".join(rng.choice(CHARS if rng.random() < 0.5 else CHARS[:8]) for _ in range(rng.randint(low, high)))


def random_case(rng):
    """(tokens with flags, normalizer, texts). If any token has rstrip, none with lstrip begins with white space; no two tokens have the
    same normal form."""
    tokens = {random_text(rng, 1, 4): [f for f in (L, R, W, N) if rng.random() < 0.4] for _ in range(rng.randint(1, 5))}
    tokens = {unicodedata.normalize("NFC", t): (t, f) for t, f in tokens.items()}
    tokens = dict(tokens.values())
    tokens = {t: f for t, f in tokens.items() if t not in lib.BYTE or t.isascii()}  # \u00e9 spells a byte in tokenizer.json
    if any(R in f for f in tokens.values()):
        tokens = {t: [x for x in f if x != L or not t[0].isspace()] for t, f in tokens.items()}
    names = list(tokens) or ["a"]
    return tokens, rng.choice([None, added.NFC]), ["".join(rng.choice(names) if rng.random() < 0.3 else random_text(rng, 1, 3) for _ in range(rng.randint(0, 12))) for _ in range(TEXTS)]


def random_tokens(seed):
    bad, n = [], 0
    for case in range(STRINGS // TEXTS):
        rng = random.Random(f"{seed}/{case}")
        tokens, normalizer, texts = random_case(rng)
        top = added.model(tokens, normalizer)
        lib.write("m.json", json.dumps(top).encode())
        ids = peer(top)
        want = [i for t in texts for i in ids(t)]
        got = ours("m.json", texts)
        n += len(texts)
        if got != want:
            bad.append((tokens, normalizer, texts, got, want))
        whole = "".join(texts)
        how = rng.choice([["--inline"], []])
        if added.encoded("m.json", whole, *how, "-b", rng.choice(["1", "3", "13", "100"])) != ids(whole):
            bad.append((tokens, normalizer, whole, "in pieces"))
    ok(not bad, f"random tokens: {n} texts (seed {seed})", repr(bad[:1])[:2000])


def main():
    print(f"# tokenizers {tokenizers.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        sample()
        code_points()
        random_tokens(lib.seed())
    return lib.done()


sys.exit(main())
