#!/usr/bin/env python3
"""invalid.py SEED CASES - compares --invalid=replace and skip with Python's errors="replace" and "ignore".

Special tokens are found in the raw bytes; each document between them is cleaned separately.
"""
import json
import random
import sys

from filters import count, differ, split, tally  # adds the path of lib
from lib import sanitized

END = b"<|endoftext|>"
LEADS = [0x00, 0x0A, 0x20, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xDF, 0xE0, 0xE1, 0xE9, 0xEC, 0xED, 0xEE, 0xEF,
         0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFC, 0xFE, 0xFF]
BITS = [b"a", b"\n", b"\na", b" ", b"\xc3\xa9", b"\n\xc3\xa9", b"\xe8\xaa\x9e", b"\xf0\x9f\x99\x82", b"\xff", b"\x80", b"\xc3", b"\xe8\xaa", b"\xf0\x9f\x99",
        b"\xf0\x9f", b"\xf0", b"\xe8", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe0\x9f\xbf", END, END, b"<|endof", b"\xc3\n", b"\n\x80", b"\xa9"]


def cleaned(data, policy):
    return [d.decode(errors={"replace": "replace", "skip": "ignore"}[policy]) for d in split(data, [END])]


def is_text(data):
    """Whether a file that begins with these bytes is read as text: the first two may be the mark of UTF-16 or of a compressed file."""
    return data[:2] not in (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x1f\x9d")


def check(data, policy, options, how, jobs, about):
    """With -p bytes, the pretokens must be the cleaned documents. With other patterns, they must equal those of the cleaned documents as
    JSON Lines. Returns the number of differences."""
    docs = cleaned(data, policy)
    bad = 0
    code, got, err = count(["-p", "bytes", "--invalid=" + policy] + options, data, how, jobs)
    if code:
        print(f"# exit {code}: {err}")
    bad += differ(got, tally(d.encode() for d in docs), f"{about}: -p bytes --invalid={policy} {options} {how} {jobs} jobs on {data[:200]!r}")
    for pattern in [["-p", "gpt2"], ["-p", "cl100k"], ["-e", r"\s+|\p{L}+|[^\s\p{L}]+"]]:
        lines = "".join(json.dumps({"text": d}) + "\n" for d in docs)
        want = count(pattern + ["--jsonl", "--no-special"], lines.encode(), "stdin")[1]
        code, got, err = count(pattern + ["--invalid=" + policy] + options, data, how, jobs)
        if code:
            print(f"# exit {code}: {err}")
        bad += differ(got, want, f"{about}: {pattern} --invalid={policy} {options} {how} {jobs} jobs on {data[:200]!r}")
    return bad


def edge_cases():
    """Sequences of 1 to 4 bytes, at the limits of what UTF-8 allows for each byte. Each becomes a document."""
    two = [bytes([a, b]) for a in range(0x7F, 0x100) for b in range(0x70, 0x100)]
    three = [bytes([a, b, c]) for a in LEADS for b in LEADS for c in LEADS]
    tails = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC3, 0xFF]
    four = [bytes([a, b, c, d]) for a in (0xC3, 0xE8, 0xED, 0xF0, 0xF1, 0xF4, 0xF5) for b in tails for c in tails for d in tails]
    return [bytes([a]) for a in range(256)] + two + three + four


def main():
    seed, cases = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    bad = 0
    sequences = edge_cases()
    data = END.join(sequences)
    between = END.join(b"x" + s + b"y" for s in sequences)
    for policy in [rng.choice(["replace", "skip"])] if sanitized() else ["replace", "skip"]:
        bad += check(data, policy, [], "file", 1, "edge cases")
        bad += check(data, policy, ["-b", "16"], "inline", 3, "edge cases")
        bad += check(between, policy, ["-b", "1K"], "stdin", 2, "edge cases within text")
        # One document that spans several windows of the reader and the scanner.
        long = (b"\n".join(b"ab " + s + b" cd\nef" for s in sequences) + b"\n")
        bad += check(long, policy, [], "file", 1, "one long document")
        bad += check(long, policy, ["-b", "100"], "file", 1, "one long document")
        bad += check(long, policy, ["-b", "100"], "inline", 3, "one long document")
    for case in range(cases):
        x = rng.random()
        if x < 0.3:
            data = bytes(rng.choice(LEADS) for _ in range(rng.randint(0, 60)))
        elif x < 0.9:
            data = b"".join(rng.choice(BITS) for _ in range(rng.randint(0, 40)))
        else:
            data = rng.randbytes(rng.randint(0, 3000)).replace(b"\x80", b"\na")
        if not is_text(data):
            data = b"\n" + data
        options = ["-b", str(rng.choice([1, 2, 3, 5, 8, 50]))]
        bad += check(data, rng.choice(["replace", "skip"]), options, rng.choice(["file", "inline", "stdin"]), rng.choice([1, 2, 3]), f"case {case}")
        if bad > 5:
            break
    print(f"# seed {seed}: {bad} bad")
    return bad != 0


sys.exit(main())
