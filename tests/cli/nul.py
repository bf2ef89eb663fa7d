#!/usr/bin/env python3
"""nul.py SEED - documents that end with NUL (-0) or FE (--fe) give the same counts and ids as the same documents in JSON Lines, which
the json module writes, and in separate files."""
import gzip
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # pylint: disable=wrong-import-position

PARTS = ["the cat", " sat", "\n", "\n\n", "  ", "é", "日本", "😀", lib.EOT, "<|end", "oftext|>", "'s", "123", "\t", "\r\n", "ab\nCd", '"', "\\"]


def document(rng):
    kind = rng.randrange(10)
    n = 0 if kind < 2 else rng.randrange(1, 8) if kind < 8 else rng.randrange(200, 3000)
    return "".join(rng.choice(PARTS) for _ in range(n))


def words(*args, data=b""):
    counts = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", *args, data=data)))
    return [line for line in lib.must("bpe-view", data=counts).split(b"\n") if not line.startswith(b"#")]


def ids(*args, data=b""):
    return lib.must("bpe-encode", "-m", "model.json", "-f", "text", *args, data=data)


def one(number):
    rng = random.Random(f"{seed} {number}")
    docs = [document(rng) for _ in range(rng.choice([0, 1, 2, 20, 200]))]
    end = b"\0" if not docs or not docs[-1] or rng.randrange(2) else b""
    data = b"\0".join(d.encode() for d in docs) + (end if docs else b"")
    lib.write("in.nul", data)
    lib.write("in.nul.gz", gzip.compress(data))
    lib.write("in.jsonl", "".join(json.dumps({"text": d}) + "\n" for d in docs))
    names = []
    for i, d in enumerate(docs[:20]):
        names.append(f"doc.{i}")
        lib.write(names[-1], d)
    pattern = rng.choice([[], ["-p", "cl100k"], ["-p", "o200k"], ["-p", "bytes"], ["-p", "deepseek-v3"], ["-e", r"\p{L}+|\s"]])
    want = words("--jsonl", *pattern, "in.jsonl")
    block = ["-b", str(rng.choice([1, 3, 50, 1000]))]
    fe = b"\xfe".join(d.encode() for d in docs) + (b"\xfe" if docs and end else b"")
    lib.write("in.fe", fe)
    ways = {"FE": ["--fe", *block, "in.fe"], "FE by value": ["--fe", "--inline", *block, "in.fe"], "by reference": ["-0", "in.nul"], "in pieces": ["-0", *block, "in.nul"], "by value": ["-0", "--inline", "in.nul"],
            "in pieces by value": ["-0", "--inline", *block, "in.nul"], "compressed": ["--null", *block, "in.nul.gz"]}
    bad = [how for how, args in ways.items() if words(*pattern, *args) != want]
    bad += ["standard input"] if words(*pattern, "-0", data=data) != want else []
    if 0 < len(docs) <= 20 and words(*pattern, *names) != want:
        bad.append("files")
    eot = "--eot=" + rng.choice(["none", "before", "after"])
    if ids("-0", eot, "in.nul.gz") != ids("--jsonl", eot, "in.jsonl") or ids("-0", eot, data=data) != ids("--jsonl", eot, "in.jsonl") or \
            ids("--fe", eot, data=fe) != ids("--jsonl", eot, "in.jsonl"):
        bad.append("ids of text")
    chunks = lib.must("bpe-chunk", "-m", "model.json", "-0", *block, "in.nul")
    if ids(eot, data=chunks) != ids("--jsonl", eot, "in.jsonl"):
        bad.append("ids of chunks")
    lib.ok(not bad, f"round {number}: {len(docs)} documents, {len(data)} bytes, {' '.join(pattern)}", ", ".join(bad))


seed = lib.seed(sys.argv[1] if len(sys.argv) > 1 else None)
lib.write("text", lib.text(5, 50000))
sums = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "text")))
lib.write("model.json", lib.must("bpe-merge", "-v", "500", data=sums))
lib.rounds(25, one)
sys.exit(lib.done())
