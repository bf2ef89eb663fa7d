#!/usr/bin/env python3
"""show_peers.py - bpe show --offsets gives the ids and the offsets of Hugging Face tokenizers, for models of each form (bench/linear.py).

Hugging Face's offsets are in characters, so ours are widened to whole characters. Two differences are meant: a prefix that is not in
the text is empty here, and there it has the first character; and a token that a normalizer made of several characters has all of them
here, and there only the first.

    show_peers.py [TEXTS [SEED]]      needs tokenizers and BUILD; prints TAP
"""
import json
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
import linear  # noqa: E402

TEXTS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
PARTS = ["a", "b", "ab", "c", "aaaa", " ", "  ", "\n", "1", "22", "<", "é", "e\u0301", "a\u0323", "\u0301", "語", "한", "\u1112\u1161\u11ab", "\u2581",
         "Å", "\u212b", ".", "!", "\U0001f980", "<mask>", "<end>", "<both>", "<w>", lib.EOT]


def whole(data, begin, end):
    """The characters that these bytes belong to."""
    while 0 < begin < len(data) and data[begin] & 0xC0 == 0x80:
        begin -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return begin, end


def is_meant(ours, theirs):
    return ours == theirs or ours[0] == ours[1] == theirs[0] or (ours[0] <= theirs[0] and theirs[1] <= ours[1])


def compare(tokenizer, text):
    """What differs, or an empty string."""
    lib.write("t", text)
    code, out, err = lib.run(["bpe", "show", "--offsets", "-m", "m.json", "t"])
    if code:
        return err
    got = [tuple(map(int, line.split())) for line in out.decode().splitlines()]
    want = tokenizer.encode(text, add_special_tokens=False)
    if [g[0] for g in got] != want.ids:
        return f"{text!r}: {got} is not {want.ids}"
    byte = [0]
    for c in text:
        byte.append(byte[-1] + len(c.encode()))
    for (number, *ours), (begin, end) in zip(got, want.offsets):
        if not is_meant(whole(text.encode(), *ours), (byte[begin], byte[end])):
            return f"{text!r}: token {number} at {ours}, not {byte[begin], byte[end]}"
    return ""


def main():
    rng = random.Random(lib.seed(sys.argv[2] if len(sys.argv) > 2 else None))
    lib.own_directory()
    for name, form in linear.FORMS.items():
        lib.write("m.json", json.dumps(form))
        tokenizer = Tokenizer.from_file("m.json")
        texts = ["".join(rng.choices(PARTS, k=rng.choice([1, 3, 10, 40]))) for _ in range(TEXTS)]
        bad = next(filter(None, (compare(tokenizer, text) for text in texts)), "")
        lib.ok(not bad, f"{name}: the offsets of {len(texts)} texts", bad)
    return lib.done()


sys.exit(main())
