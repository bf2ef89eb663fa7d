#!/usr/bin/env python3
"""train.py words        converts counts from bpe-view to `count TAB hex` lines, for learn_slow
train.py vetoes FILE  prints the lines of a file for --veto as veto=HEX, for learn_slow
train.py merges JSON  prints the merges of a tokenizer.json as `lefthex righthex` lines
train.py stats TSV    prints the output of bpe-merge --stats as `vocabulary lefthex righthex count ratio` lines
train.py steps JSON   prints what these should be for a tokenizer.json and the counts from bpe-view: carries out one merge after another"""
import json
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import read, spell, unescape, unspell  # noqa: E402


def words():
    for line in sys.stdin.buffer:
        count, word = line.rstrip(b"\n").split(b"\t", 1)
        yield int(count), unescape(word)


def merges(model):
    return [[unspell(token) for token in (pair.split(" ") if isinstance(pair, str) else pair)] for pair in model["model"]["merges"]]


def steps(model):
    texts = [(count, [bytes([b]) for b in word]) for count, word in words()]
    size = sum(count * len(tokens) for count, tokens in texts)
    vocabulary = {spell(bytes([b])) for b in range(256)} | {t["content"] for t in model["added_tokens"]}
    for left, right in merges(model):
        n = 0
        for count, tokens in texts:
            n += count * sum(pair == (left, right) for pair in zip(tokens, tokens[1:]))
            for i in range(len(tokens)):
                if tokens[i:i + 2] == [left, right]:
                    tokens[i:i + 2] = [left + right]
        vocabulary.add(spell(left + right))
        ratio = int(Fraction(size, sum(count * len(tokens) for count, tokens in texts)) * 10**6 + Fraction(1, 2))
        yield len(vocabulary), left.hex(), right.hex(), n, f"{ratio // 10**6}.{ratio % 10**6:06}"


if sys.argv[1] == "words":
    for count, word in words():
        print(f"{count}\t{word.hex()}")
elif sys.argv[1] == "merges":
    for left, right in merges(json.loads(read(sys.argv[2]))):
        print(left.hex(), right.hex())
elif sys.argv[1] == "vetoes":
    for line in read(sys.argv[2]).removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = line.removesuffix(b"\r")
        if line:
            print("veto=" + (json.loads(line).encode() if line.startswith(b'"') else line).hex())
elif sys.argv[1] == "steps":
    for step in steps(json.loads(read(sys.argv[2]))):
        print(*step)
else:
    for line in read(sys.argv[2]).splitlines():
        size, left, right, count, ratio = line.split(b"\t")
        print(size.decode(), unescape(left).hex(), unescape(right).hex(), count.decode(), ratio.decode())
