#!/usr/bin/env python3
"""special.py SEED CASES - compares the counts of texts with random special tokens with Python's."""
import random
import re
import sys

from filters import count, differ, split, tally

ALPHABETS = ["a", "ab", "a\n", "ab\n", "<|>", "a\n é", "ab\n'1. é"]
GPT2 = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[a-zé]+| ?[0-9]+| ?[^\sa-zé0-9]+|\s+(?!\S)|\s+")


def main():
    seed, cases = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    bad = 0
    for case in range(cases):
        alphabet = rng.choice(ALPHABETS)

        def text(low, high):
            return "".join(rng.choice(alphabet) for _ in range(rng.randint(low, high)))
        tokens = [text(1, 4) for _ in range(rng.choice([0, 1, 1, 2, 3, 6]))]
        if tokens and rng.random() < 0.3:
            tokens.append(tokens[0] + text(1, 2))  # a prefix of another
        if tokens and rng.random() < 0.2:
            tokens = [rng.choice(["aa", "\n\n", "\na", "a\na", "\n", "a", "a\n"])] + tokens
        data = "".join(rng.choice(tokens) if tokens and rng.random() < 0.2 else text(0, 6) for _ in range(rng.randint(0, 30)))
        data = data.encode()
        raw = [t.encode() for t in tokens]
        options = [x for t in tokens for x in ("-s", t)] or ["--no-special"]
        docs = split(data, raw)
        pattern = rng.choice(["bytes", "gpt2"])
        want = tally(docs if pattern == "bytes" else [w.encode() for d in docs for w in GPT2.findall(d.decode())])
        how, block = rng.choice(["file", "inline", "stdin"]), rng.choice([1, 2, 3, 5, 8, 13, 100])
        code, got, err = count(["-p", pattern, "-b", str(block)] + options, data, how, rng.choice([1, 1, 3]))
        if code:
            print(f"# exit {code}: {err}")
        bad += differ(got, want, f"case {case}: -p {pattern} -b {block} {options} {how} on {data!r}")
    print(f"# seed {seed}: {cases} cases, {bad} bad")
    return bad != 0


sys.exit(main())
