#!/usr/bin/env python3
"""describe.t - bpe describe of random texts with one or several random models prints the lines of describe_slow.py.

Each text is given as a plain file, as gzip, through a pipe, as JSON Lines and NUL-terminated, and as a sum if all models split it in
the same way. The models are trained on the text, with three patterns and different vocabulary sizes and special tokens. Some have
superwords, which bpe-model --info describes, too.

    SEED     random seed (printed); TEXTS: number of texts (12)
"""
import gzip
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import describe_slow  # noqa: E402
import encode_slow  # noqa: E402
import lib  # noqa: E402

RNG = random.Random(lib.seed())
TEXTS = int(os.environ.get("TEXTS") or 12)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCéü語誩"
OTHERS = [" ", "\n", "\t", "  \n", "'s", "'ll", "7", "2024", "!", "\\", "\"", "\x7f", "\x01", "🩩", "\r\n", "\u007f\\n"]
INFO = ["superwords", "first-stage", "several-words", "mean-words", "most-words", "longest-superword"]
SPECIAL = ["<|endoftext|>", "<pad>", "b c"]


def make_text():
    letters = RNG.sample(LETTERS, RNG.choice([2, 5, len(LETTERS)]))
    words = ["".join(RNG.choices(letters, k=RNG.choice([1, 2, 3, 5, 9, 14, 40] + [1200] * (RNG.random() < 0.01)))) for _ in range(RNG.choice([1, 30, 600]))]
    parts = RNG.choices(words, k=RNG.choice([0, 1, 20, 200, 2000]))
    return "".join(" " * (RNG.random() < 0.7) + part + (RNG.choice(OTHERS + SPECIAL) if RNG.random() < 0.2 else "") for part in parts)


def make_model(name, pattern, special, text):
    """A model trained on the text or its first half."""
    lib.write("train.txt", text.decode()[:RNG.choice([len(text), len(text) // 2])])
    options = [word for token in special for word in ("-s", token)] or ["--no-special"]
    if pattern == "superbpe" and len(text) > 200:
        first = 256 + len(special) + RNG.choice([0, 1, 20, 100])
        lib.must("bpe", "train", f"--super={first}", *options, "-v", str(first + RNG.choice([1, 20, 200])), "-o", name, "train.txt")
        return
    chunks = lib.must("bpe-chunk", "-p", pattern, *options, "train.txt")
    total = lib.must("bpe-sum", data=lib.must("bpe-count", data=chunks))
    size = 256 + len(special) + RNG.choice([0, 1, 20, 200])
    lib.write(name, lib.must("bpe-merge", "-v", str(size), data=total))


def sums_of(data, pattern, special):
    """Writes two sums: sum, of the text, and none, of an empty text."""
    options = ["-p", pattern] + ([word for token in special for word in ("-s", token)] or ["--no-special"])
    for name, part in ("sum", data), ("none", b""):
        lib.write("part.txt", part)
        lib.write(name, lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-b", "1000", *options, "part.txt"))))


def compare(bad, what, names, want, files, data=b""):
    code, out, err = lib.run(["bpe", "describe", *(word for name in names for word in ("-m", name)), *files], data=data)
    out = out.decode()
    if code or err or out != want:
        at = lib.first_difference(out, want)
        bad.append(f"{what}, {len(names)} models: exit {code} {err}\n got {out[max(at - 40, 0):at + 60]!r}\nwant {want[max(at - 40, 0):at + 60]!r}")


def check_info(bad, name):
    """Compares what bpe-model --info says of superwords."""
    info = dict(line.split(": ", 1) for line in lib.must("bpe-model", "--info", name).decode().splitlines())
    want = describe_slow.superwords_info(encode_slow.load(name))
    got = {key: info[key] for key in INFO if key in info}
    if got != want:
        bad.append(f"--info of {name}: {got}, not {want}")


def check(i):
    has_superwords = i % 3 == 0
    text = "".join(make_text() for _ in range(20))[:RNG.randint(300, 1500)] if has_superwords else make_text()
    data, bad, names, rules = text.encode(), [], [], []
    for k in range(RNG.choice([1, 1, 2, 4])):
        names.append(f"{k}.json")
        pattern = "superbpe" if has_superwords and k == 0 else RNG.choice(["gpt2", "superbpe", "bytes"] if len(data) < 3000 else ["gpt2"])
        rules.append((pattern, RNG.sample(SPECIAL, RNG.randrange(3))) if k == 0 or RNG.random() < 0.5 else rules[0])
        make_model(names[k], *rules[k], data)
    want = describe_slow.describe(names, [data], len(data))
    for name in names:
        check_info(bad, name)
    lib.write("text", data)
    compare(bad, "text", names, want, ["text"])
    compare(bad, "a pipe", names, want, [], data)
    packed = gzip.compress(data)
    lib.write("text.gz", packed)
    compare(bad, "gzip", names, describe_slow.describe(names, [data] * 2, 2 * len(data), len(packed) + len(data)), ["text", "text.gz"])
    documents = data.split(b"\n\n") if data else []
    lines = b"".join(json.dumps({"text": d.decode()}).encode() + b"\n" for d in documents)
    lib.write("lines", lines)
    compare(bad, "JSON Lines", names, describe_slow.describe(names, documents, len(lines)), ["--jsonl", "lines"])
    nul = b"".join(d + b"\0" for d in documents)
    compare(bad, "NUL bytes", names, describe_slow.describe(names, documents, len(nul)), ["-0", "-"], nul)
    if all(r == rules[0] for r in rules):
        sums_of(data, *rules[0])
        compare(bad, "a sum", names, want, ["sum"])
        compare(bad, "a sum from a pipe and an empty sum", names, want, ["-", "none"], lib.read("sum"))
    lib.ok(not bad, f"text {i}: {len(data)} bytes, {' '.join(pattern + '+' + str(len(special)) for pattern, special in rules)}", "\n".join(bad))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        lib.rounds(TEXTS, check)
    return lib.done()


sys.exit(main())
