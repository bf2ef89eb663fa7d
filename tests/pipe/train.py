#!/usr/bin/env python3
"""train.py words        converts counts from bpe-view to `count TAB hex` lines, for learn_slow
train.py merges JSON  prints the merges of a tokenizer.json as `lefthex righthex` lines"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import read, unescape, unspell  # noqa: E402

if sys.argv[1] == "words":
    for line in sys.stdin.buffer:
        count, word = line.rstrip(b"\n").split(b"\t", 1)
        print(f"{count.decode()}\t{unescape(word).hex()}")
else:
    for pair in json.loads(read(sys.argv[2]))["model"]["merges"]:
        left, right = pair.split(" ") if isinstance(pair, str) else pair
        print(unspell(left).hex(), unspell(right).hex())
