#!/usr/bin/env python3
"""superwords.t - bpe train --super learns the merges of a slow, obvious trainer (superwords_slow.py), from random texts and first stages, in
as many rounds as a random budget makes: documents and lines, with unused merges and without them.

    SEED     random seed (printed); TEXTS: number of texts (12)
"""
import json
import os
import random
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import superwords_slow as slow  # noqa: E402

RNG = random.Random(lib.seed())
TEXTS = int(os.environ.get("TEXTS") or 12)
PATTERNS = ["gpt2", "cl100k", "o200k", "qwen2", "deepseek-v3", "bytes"]
PARTS = [" ", " ", " ", " ", " ", "\n", "\n\n", ": ", ":", ", ", ". ", "...\n", "  ", "   ", "!!", " (", "--/\n", "/", "\r\n", "7", "2024", " 1234567",
         "\t", lib.EOT, ".\n", "  \n", "’s ", "\u00a0", "\u3000"]


def random_text(size):
    """Words of few letters, with what the pattern treats in special ways between them."""
    letters = RNG.choice(["ab", "abc", "aeiou", "aé", "日本語", "aAb", "aб", "ab\u0301"])
    words = ["".join(RNG.choice(letters) for _ in range(RNG.randint(1, RNG.choice([1, 3, 8])))) for _ in range(RNG.randint(2, 12))]
    parts = RNG.sample(PARTS, RNG.randint(1, len(PARTS))) + [" "] * RNG.randint(0, 30)
    text, n = [], 0
    while n < size:
        text.append(RNG.choice(words) + RNG.choice(parts))
        n += len(text[-1])
    return "".join(text)


def one_text(number):
    text = random_text(RNG.randint(50, 4000)).encode()
    lib.write("text", text)
    lib.write("first.txt", random_text(3000).encode() if RNG.random() < 0.5 else text)
    pattern, first, new = RNG.choice(PATTERNS), RNG.randint(258, 340), RNG.randint(1, 60)
    lines, drop = RNG.random() < 0.5, RNG.random() < 0.3
    frequency = RNG.choice([1, 1, 2, 3])
    lib.must("bpe", "train", "-v", str(first), "-p", pattern, "-o", "first.json", "first.txt")
    model = json.loads(lib.read("first.json"))["model"]
    inherited = [tuple(lib.unspell(t) for t in pair) for pair in model["merges"]]
    first = 257 + len(inherited)
    words = Counter(w for p in slow.pretokens_of(slow.documents_of(text, lines), slow.STAGE2) for w in p)
    merges, _, skipped = slow.superbpe(words, inherited, first + new, drop=drop, min_frequency=frequency)
    option = f"--super={first}{',lines' * lines}{',drop' * drop}"
    budget = RNG.choice([1, 10, 100, 1000, 100000])
    command = ["bpe", "train", "-v", str(first + new), option, "--init=first.json", "-o", "got.json", "text", f"--live={budget}",
               f"--min-frequency={frequency}", "-j", str(RNG.randint(1, 3))]
    code, _, err = lib.run(command)
    name = f"text {number}: {' '.join(command)} ({pattern}, {len(text)} bytes, {len(skipped)} unused)"
    if not lib.ok(code == 0, name, err):
        return
    got = [tuple(lib.unspell(t) for t in pair) for pair in json.loads(lib.read("got.json"))["model"]["merges"]]
    differ = next((i for i, (a, b) in enumerate(zip(got, merges)) if a != b), min(len(got), len(merges)))
    lib.ok(got == merges, f"  its {len(merges) - len(inherited)} new merges",
           f"merge {differ} of {len(got)}, wanted {len(merges)}: {got[differ:differ + 1]} {merges[differ:differ + 1]}")


lib.own_directory(in_memory=True)
lib.rounds(TEXTS, one_text)
sys.exit(lib.done())
