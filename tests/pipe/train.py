#!/usr/bin/env python3
"""train.py words        counts as bpe-view shows them -> `count TAB hex` lines, for learn_slow
train.py merges JSON  the merges of a tokenizer.json -> `lefthex righthex` lines"""
import json
import re
import sys

ESCAPES = {b"\\n": b"\n", b"\\r": b"\r", b"\\t": b"\t", b"\\\\": b"\\"}


def unescape(s):
    return re.sub(rb"\\x[0-9A-F]{2}|\\.", lambda m: ESCAPES.get(m[0]) or bytes([int(m[0][2:], 16)]), s)


def byte_of_char():
    keep = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in keep]
    return {**{chr(b): b for b in keep}, **{chr(256 + i): b for i, b in enumerate(rest)}}


if sys.argv[1] == "words":
    for line in sys.stdin.buffer:
        count, word = line.rstrip(b"\n").split(b"\t", 1)
        print(f"{count.decode()}\t{unescape(word).hex()}")
else:
    byte = byte_of_char()
    for pair in json.load(open(sys.argv[2], encoding="utf-8"))["model"]["merges"]:
        left, right = pair.split(" ") if isinstance(pair, str) else pair
        print(bytes(byte[c] for c in left).hex(), bytes(byte[c] for c in right).hex())
