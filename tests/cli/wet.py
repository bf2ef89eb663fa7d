#!/usr/bin/env python3
"""wet.py SEED - compares WET files, written here from the specification of WARC (ISO 28500), with the same texts in JSON Lines.
Errors in the framing are reported with their offset.
"""
import gzip
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # pylint: disable=wrong-import-position

PARTS = ["the cat", " sat", "\n", "\r\n", "\r\n\r\nWARC/1.0\r\n", "é", "日本", "😀", lib.EOT, "'s", "123", "\0", "WARC-Type: conversion\r\n", "ab\nCd"]


def record(rng, kind, block, end=b"\r\n"):
    """A record with its fields in any order, their names in any case."""
    fields = [b"WARC-Type: " + kind, b"Content-Length:" + rng.choice([b" ", b"", b"\t "]) + str(len(block)).encode(),
              b"WARC-Target-URI: http://example.org/?a:b", b"WARC-Date: 2026-01-01T00:00:00Z", b"Content-Type: text/plain",
              b"X-Folded: one" + end + b" Content-Length: 7"]
    rng.shuffle(fields)
    fields = [re.sub(rb"^[^:]+", lambda name: rng.choice([bytes.lower, bytes.upper, bytes])(name[0]), f) for f in fields]
    return rng.choice([b"WARC/1.0", b"WARC/1.1"]) + end + end.join(fields) + end * 2 + block + end * 2


def document(rng):
    n = rng.choice([0, 1, 3, 10, 10, 10, 3000])
    return "".join(rng.choice(PARTS) for _ in range(n))


def words(*args, data=b""):
    counts = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", *args, data=data)))
    return [line for line in lib.must("bpe-view", data=counts).split(b"\n") if not line.startswith(b"#")]


def ids(*args, data=b""):
    return lib.must("bpe-encode", "-m", "model.json", "-f", "text", "--eot=after", *args, data=data)


def one(number):
    rng = random.Random(f"{seed} {number}")
    docs, records = [], [record(rng, b"warcinfo", b"Software-Info: none\r\n\r\n")]
    end = rng.choice([b"\r\n", b"\r\n", b"\n"])
    for _ in range(rng.choice([0, 1, 5, 50, 200])):
        text = document(rng)
        kind = rng.choice([b"conversion"] * 4 + [b"metadata", b"response"])
        docs += [text] if kind == b"conversion" else []
        records.append(record(rng, kind, text.encode(), end))
    data = b"".join(records)
    lib.write("in.wet", data)
    lib.write("in.wet.gz", b"".join(map(gzip.compress, records)))
    lib.write("in.jsonl", "".join(json.dumps({"text": d}) + "\n" for d in docs))
    pattern = rng.choice([[], ["-p", "cl100k"], ["-p", "bytes"], ["-e", r"\p{L}+|\s"]])
    block = ["-b", str(rng.choice([1, 300, 1000, 5000]))]
    want, want_ids = words("--jsonl", *pattern, "in.jsonl"), ids("--jsonl", "in.jsonl")
    ways = [["in.wet"], [*block, "in.wet"], ["--inline", "in.wet"], ["--inline", *block, "in.wet"], ["in.wet.gz"], [*block, "in.wet.gz"],
            ["in.wet.gz", "in.wet.gz"]]
    bad = []
    for way in ways:
        got = words("--wet", *pattern, *way)
        twice = [b"%d\t%s" % (2 * int(n), w) for n, w in (line.split(b"\t", 1) for line in want if line)] + [b""]
        if got != (want if way.count("in.wet.gz") < 2 else sorted(twice, key=twice.index)):
            bad.append(" ".join(way))
    if words("--wet", *block, *pattern, data=data) != want:
        bad.append("standard input")
    for source in (["in.wet"], ["in.wet.gz"]):
        if ids("--wet", *source) != want_ids or ids(data=lib.must("bpe-chunk", "-m", "model.json", "--wet", *block, *source)) != want_ids:
            bad.append(f"ids of {source[0]}")
    lib.ok(not bad, f"round {number}: {len(docs)} documents in {len(records)} records, {len(data)} bytes", ", ".join(bad))


def count(data, *how):
    """(exit status, message) of bpe-count on this text, in a file named "in"."""
    lib.write("in", data)
    code, _, err = lib.run(["bpe-count"], lib.must("bpe-chunk", "--wet", *how, "in"))
    return code, err.strip()


def cut_off():
    """A file that is cut off anywhere except between records is an error. With sanitizers, which start slowly: a quarter of the places."""
    rng = random.Random(seed)
    records = [record(rng, b"conversion", b"The cat.\n"), record(rng, b"metadata", b"x"), record(rng, b"conversion", b"The dog.")]
    data, borders = b"".join(records), {0}
    for r in records:
        borders.add(max(borders) + len(r))
    bad = []
    for n in rng.sample(range(len(data)), len(data) // 4) if lib.sanitized() else range(len(data)):
        for how in ([], ["--inline", "-b", "1"])[:2 - n % 3 % 2]:
            code, err = count(data[:n], *how)
            if code != (0 if n in borders else 65) or (code and not re.fullmatch(r"bpe-count: in: byte \d+: .*", err)):
                bad.append(f"{n} {how}: exit {code}: {err}")
    lib.ok(not bad, "cut off at each byte", "\n".join(bad))


def wrong(name, data, message, *how):
    got = [count(data, *args, *how) for args in ([], ["--inline"], ["--inline", "-b", "20"])]
    want = (65, f"bpe-count: in: byte {message}")
    lib.ok(all(g == want for g in got), name, f"{got}, not {want}")


def a_record(*lines, block=b"abc", end=b"\r\n\r\n"):
    return b"\r\n".join([b"WARC/1.0", *lines]) + b"\r\n\r\n" + block + end


seed = lib.seed(sys.argv[1] if len(sys.argv) > 1 else None)
lib.write("text", lib.text(5, 50000))
sums = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "text")))
lib.write("model.json", lib.must("bpe-merge", "-v", "500", data=sums))
lib.rounds(12, one)
cut_off()
TYPE, LENGTH = b"WARC-Type: conversion", b"Content-Length: 3"
good = a_record(TYPE, LENGTH)
lib.ok(count(good * 3) == (0, ""), "a small file")
lib.ok(count(good + b"\r\n\r\n" + good) == (0, ""), "more empty lines between records")
n = len(good)
wrong("text that is not WARC", b"The cat sat.\n", '0: "The cat sat." where a WARC record should begin (WARC/1.0)')
wrong("an empty line first", b"\nThe cat sat.\n", "0: an empty line where a WARC record should begin (WARC/1.0)")
wrong("text after a record", good + b"The cat", f'{n}: "The cat" where a WARC record should begin (WARC/1.0)')
wrong("a block longer than Content-Length", good + a_record(TYPE, LENGTH, block=b"abcdef") + good,
      f'{2 * n - 4}: "def" after the block of a WARC record, '
      "where two line ends should be: Content-Length is wrong")
wrong("only one line end after a block", good + a_record(TYPE, LENGTH, end=b"\r\n") + good,
      f'{2 * n - 2}: "WARC/1.0" after the block of a WARC record, '
      "where two line ends should be: Content-Length is wrong")
wrong("the file ends after a block", good + good[:-4], f"{2 * n - 4}: cut off after the block of a WARC record")
wrong("  after one line end", good + good[:-1], f"{2 * n - 2}: cut off after the block of a WARC record")
wrong("  in the first word", good + good[:3], f"{n}: cut off in the header of a WARC record")
wrong("no length", good + a_record(TYPE), f"{n}: a WARC record without Content-Length")
wrong("no type", good + a_record(LENGTH), f"{n}: a WARC record without WARC-Type")
wrong("a length that is not a number", a_record(TYPE, b"Content-Length: 3x"),
      '0: a WARC record with Content-Length "3x", which is not a number of bytes')
wrong("a negative length", a_record(TYPE, b"Content-Length: -3"),
      '0: a WARC record with Content-Length "-3", which is not a number of bytes')
wrong("a huge length", a_record(TYPE, b"Content-Length: " + b"9" * 30),
      f'0: a WARC record with Content-Length "{"9" * 30}", which is not a number of bytes')
wrong("two lengths", a_record(TYPE, LENGTH, b"Content-Length: 4"), "0: a WARC record with two values of Content-Length")
wrong("a segmented record", a_record(TYPE, LENGTH, b"WARC-Segment-Number: 1"), "0: a segmented WARC record, which is not supported")
wrong("a line that is not a field", a_record(TYPE, LENGTH, b"nonsense"),
      '0: a WARC record with the line "nonsense" in its header, which is not a field')
wrong("an endless header", good + a_record(TYPE, b"X: " + b"x" * 70000, LENGTH), f"{n}: a WARC record whose header has more than 65536 bytes")
wrong("a missing huge block", good + a_record(TYPE, b"Content-Length: 123456789012345678"),
      f"{n}: cut off in a WARC record: 123456789012345671 bytes of its block are missing")
wrong("invalid UTF-8", good + a_record(TYPE, LENGTH, block=b"a\xe9c"), f"{2 * n - 6}: invalid UTF-8 (0xE9); see --invalid")
sys.exit(lib.done())
