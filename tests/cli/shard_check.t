#!/usr/bin/env python3
"""shard_check.t - bpe-shard --check on directories of all formats, with all kinds of damage, and on corpora that have changed."""
import gzip
import json
import os
import random
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipe"))
import shard_line as line  # noqa: E402
from shard_line import lib, records, tree  # noqa: E402

EOT = lib.EOT
FORMATS = ["npy", "raw", "llmc", "megatron", "datatrove", "dolma", "mds"]
lib.own_directory()
seed = lib.seed()
rng = random.Random(seed)


def check(directory, *more):
    return lib.run(["bpe-shard", "--check", directory, *more])


def make(directory, source, *options, chunk=(), encode=()):
    chunks = lib.must("bpe-chunk", "-m", "m.json", "-b", "8K", *chunk, source)
    ids = lib.must("bpe-encode", "-m", "m.json", *encode, data=chunks)
    shutil.rmtree(directory, ignore_errors=True)
    lib.must("bpe-shard", "-o", directory, "-n", "4000", *options, data=ids)
    return ids


def manifest(directory):
    with open(directory + "/manifest.json", encoding="utf-8") as f:
        return json.load(f)


def finds(directory, code, *said, more=(), what):
    """--check must exit with the code, print one line that contains all of `said`, and write no report."""
    got, out, err = check(directory, *more)
    good = got == code and err.count("\n") == 1 and err.startswith("bpe-shard: ") and not out and all(s in err for s in said)
    return lib.ok(good, what, f"exit {got}, wanted {code}; wanted in it: {said}\n{out.decode()}{err}")


def patched(directory, name, change, code, *said, more=(), what):
    """Like finds, while one file is changed."""
    path = f"{directory}/{name}"
    before = lib.read(path)
    lib.write(path, change(before))
    finds(directory, code, *said, more=more, what=what)
    lib.write(path, before)


def flips(directory, name, n):
    """Flips single bits of a file, at its ends and at random offsets. Returns those that --check misses."""
    path = f"{directory}/{name}"
    data = lib.read(path)
    places = {0, len(data) - 1, *(rng.randrange(len(data)) for _ in range(n))}
    missed = []
    for at in sorted(places):
        changed = bytearray(data)
        changed[at] ^= 1 << rng.randrange(8)
        lib.write(path, bytes(changed))
        code, out, err = check(directory)
        if code != 65 or out or path not in err:
            missed.append(f"byte {at}: exit {code}: {err}")
    lib.write(path, data)
    return missed


# ---- Damage, in all formats ----

def damage(name):
    d = "d-" + name
    make(d, "a.txt", "-f", name, "--docs", *["--sha256"] * (name in ("npy", "mds")))
    code, out, err = check(d)
    m = manifest(d)
    tokens = sum(s["tokens"] for s in m["shards"])
    want = f"{len(m['shards'])} shards, {tokens} tokens: all match the manifest\nchecksum {m['checksum']}\n"
    lib.ok(code == 0 and out.decode() == want and not err, f"{name}: --check passes", f"{code} {out} {err}")
    missed = []
    shards = m["shards"]
    files = [f for s in (shards[0], rng.choice(shards[1:])) for f in (s["name"], *(x["name"] for x in s.get("files", [])))]
    files += [f["name"] for f in m.get("files", [])]
    for f in files:
        missed += flips(d, f, 12)
    lib.ok(not missed, f"{name}: a flipped bit in any file is found, and the file is named ({len(files)} files)", "\n".join(missed[:5]))
    f = rng.choice(files)
    patched(d, f, lambda b: b[:-1], 65, f"{d}/{f}", "bytes", what=f"{name}: a truncated file: {f}")
    patched(d, f, lambda b: b + b"x", 65, f"{d}/{f}", "bytes", what=f"{name}: a file with extra bytes")
    os.rename(f"{d}/{f}", "away")
    finds(d, 66, f"{d}/{f}", "missing", what=f"{name}: a missing file")
    os.rename("away", f"{d}/{f}")
    other = os.path.dirname(f) + "/" * ("/" in f) + re.sub(r"0+([^0]*)$", r"77\1", os.path.basename(shards[0]["name"]))
    shutil.copy(f"{d}/{shards[0]['name']}", f"{d}/{other}")
    finds(d, 65, f"{d}/{other}", "not in manifest.json", what=f"{name}: a file like a shard that is not in the manifest")
    os.remove(f"{d}/{other}")
    lib.ok(check(d)[0] == 0, f"{name}: --check passes again")


def headers():
    """Where the format itself shows the error, the message gives the offset."""
    patched("d-npy", "tokens_000001.npy", lambda b: b.replace(b"'<u2'", b"'<i2'"), 65, "tokens_000001.npy: byte 22:",
            what="npy: the offset in the header")
    patched("d-llmc", "tokens_train_000001.bin", lambda b: b[:8] + b"\1" + b[9:], 65, "tokens_train_000001.bin: byte 8:",
            what="llmc: the offset in the header")
    patched("d-megatron", "tokens_000001_text_document.idx", lambda b: b[:34] + b"\xff" + b[35:], 65,
            "tokens_000001_text_document.idx: ", what="megatron: the index")


def manifests():
    """All facts about shards in the manifest are checked, in a directory that `damage` made."""
    d = "d-npy"
    text = lib.read(d + "/manifest.json").decode()
    shard = manifest(d)["shards"][1]
    cases = [("the number of ids", f'"tokens": {shard["tokens"]}', '"tokens": 3999', ""),
             ("the number of documents", f'"documents": {shard["documents"]}', f'"documents": {shard["documents"] + 1}', ""),
             ("the size of a file", f'"bytes": {shard["bytes"]}', f'"bytes": {shard["bytes"] + 2}', ""),
             ("a checksum", shard["xxh128"], "0" * 32, ""),
             ("a SHA-256", shard["sha256"], "0" * 64, ""),
             ("a name", shard["name"], "tokens_000007.npy", "tokens_000001.npy"),
             ("the number of a shard", '"number": 1', '"number": 2', "number"),
             ("the split", '"split": "train"', '"split": "test"', "split"),
             ("the type", '"uint16"', '"uint32"', ""),
             ("the vocabulary", '"vocabulary": 400', '"vocabulary": 30', "which is not a token"),
             ("the chained checksum", manifest(d)["checksum"], "f" * 32, "checksum"),
             ("the ids in a shard", '"shard_tokens": 4000', '"shard_tokens": 4001', "4001"),
             ("the format", '"format": "npy"', '"format": "raw"', ""),
             ("the total", '"totals": {"train":{"shards":', '"totals": {"train":{"shards":1', "byte"),
             ("invalid JSON", '"complete": true', '"complete": true,,', "manifest.json")]
    for what, old, new, said in cases:
        old, new = (s.replace(": ", ":") if old not in text else s for s in (old, new))
        if old not in text:
            lib.ok(False, f"manifest: {what}", f"the manifest does not contain {old}")
            continue
        patched(d, "manifest.json", lambda b, o=old, n=new: b.decode().replace(o, n, 1).encode(), 65, said, what=f"manifest: {what} changed")
    shards = manifest(d)["shards"]
    lines = text.split("\n")
    first = next(i for i, s in enumerate(lines) if '"tokens_000000.npy"' in s)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    patched(d, "manifest.json", lambda b: "\n".join(lines).encode(), 65, "manifest.json", what="manifest: the order of shards")
    del lines[first]
    patched(d, "manifest.json", lambda b: "\n".join(lines).encode(), 65, "manifest.json", what="manifest: a missing shard")
    lib.ok(len(shards) > 3, "there are more than three shards")


def tables():
    """A changed table of documents is found."""
    d = "d-npy"
    name = "tokens_000001.csv.gz"
    rows = gzip.decompress(lib.read(f"{d}/{name}")).decode().split("\n")
    rows[0] = re.sub(r"^(\d+),(\d+),", lambda m: f"{m[1]},{int(m[2]) + 1},", rows[0])
    patched(d, name, lambda b: gzip.compress("\n".join(rows).encode(), mtime=0), 65, f"{d}/{name}", what="a table with another number in it")


# ---- Directories that are not complete ----

def incomplete(ids):
    shutil.rmtree("part", ignore_errors=True)
    finds("part", 66, "part: cannot open: No such file", what="a missing directory")
    os.mkdir("part")
    finds("part", 66, "manifest.json", what="a directory without a manifest")
    lib.write("long.txt", lib.read("a.txt") * 8)
    chunks = records.split(lib.must("bpe-chunk", "--inline", "-m", "m.json", "long.txt"))
    some = line.encode("m.json", chunks[:len(chunks) // 2] + [r for r in chunks if line.is_promise(r)])
    code, _, _ = lib.run(["bpe-shard", "-o", "part", "-n", "4000"], some)
    lib.ok(code == 75 and os.path.exists("part/.work"), "input that is not complete", code)
    finds("part", 75, "--resume", what="the shards match the manifest, and the message names --resume")
    some = [f for f in tree("part") if f.endswith(".npy") and not f.startswith(".work")]
    if lib.ok(len(some) > 1, "there are shards", some):
        os.remove("part/" + some[0])
        finds("part", 66, some[0], what="a shard that has disappeared")
    shutil.rmtree("empty", ignore_errors=True)
    lib.run(["bpe-shard", "-o", "empty", "--missing=todo"], ids[:len(ids) // 9])
    finds("empty", 75, "--resume", what="a directory without a complete shard")


# ---- The model, and documents of the corpus ----

FORMS = [("text", "a.txt", [], []),
         ("text, separators after", "a.txt", [], ["--eot=after"]),
         ("JSON Lines", "a.jsonl", ["--jsonl"], []),
         ("JSON Lines, separators before", "a.jsonl", ["--jsonl"], ["--eot=before"]),
         ("JSON Lines, --id", "b.jsonl", ["--jsonl=a.b", "--id=id", "--invalid=replace", "--on-error=skip"], ["--eot=before"]),
         ("WARC", "a.wet", ["--wet"], ["--eot=before"]),
         ("JSON Lines of zstd", "a.jsonl.zst", ["--jsonl"], ["--eot=before"]),
         ("NUL", "a.nul", ["-0"], ["--eot=before"]),
         ("special tokens as text", "a.jsonl", ["--jsonl", "--no-special"], ["--special=text"])]


def compared(out):
    found = re.search(rb"^(\d+) documents encoded again: the same ids$", out, re.M)
    return int(found[1]) if found else -1


def documents():
    for what, source, chunk, encode in FORMS:
        for options in ([], ["--docs"], ["--docs", "--shuffle=documents", "--seed=3"], ["-f", "megatron", "--docs", "--test=2"],
                        ["--docs", "--test-fraction=0.3", "--pad-last"]):
            make("x", source, *options, chunk=chunk, encode=encode)
            code, out, err = check("x", "-m", "m.json", source)
            edges = len(manifest("x")["shards"]) - 1
            few = edges // 2 if not options or source == "a.wet" else 3 * edges
            name = f"{what} {' '.join(options)}: documents are encoded again"
            if options and source == "a.txt" and "--shuffle=documents" in options:
                few = edges // 2
            lib.ok(code == 0 and compared(out) >= few, f"{name} ({compared(out)})", f"{code} {out} {err}")


def changed():
    """Another corpus than that of the shards."""
    make("x", "a.jsonl", "--docs", chunk=["--jsonl"])
    rows = lib.read("a.jsonl").split(b"\n")
    first = manifest("x")["shards"][0]["first"]
    os.makedirs("elsewhere", exist_ok=True)
    lib.write("elsewhere/a.jsonl", b"\n".join(rows))
    code, out, err = check("x", "-m", "m.json", "elsewhere/a.jsonl")
    lib.ok(code == 0 and compared(out) > 3, "a moved file is recognized by its name", f"{code} {out} {err}")
    row = json.loads(rows[0])
    row["text"] = "other " + row["text"]
    lib.write("elsewhere/a.jsonl", b"\n".join([json.dumps(row).encode(), *rows[1:]]))
    finds("x", 65, f"elsewhere/a.jsonl: byte {first['offset']}:", "tokens_000000.npy", more=["-m", "m.json", "elsewhere/a.jsonl"],
          what="a document that has changed: its offset, and the shard")
    lib.write("elsewhere/a.jsonl", b"\n".join(rows[:len(rows) // 2]) + b"\n")
    finds("x", 65, "elsewhere/a.jsonl", "ends", more=["-m", "m.json", "elsewhere/a.jsonl"], what="a truncated corpus")
    finds("x", 66, "b.txt", more=["-m", "m.json", "b.txt"], what="a file that is not a source")
    finds("x", 64, "-m", more=["a.jsonl"], what="a file without a model")
    finds("x", 65, "other.json", "is model", more=["-m", "other.json"], what="another model")
    code, out, err = check("x", "-m", "m.json")
    lib.ok(code == 0 and compared(out) < 0, "only the model: no document is encoded", f"{code} {out} {err}")


def listed():
    code, out, err = lib.run(["bpe-shard", "--list", "d-megatron"])
    m = manifest("d-megatron")
    lines = out.decode().splitlines()
    rows = [(s["name"], str(s["tokens"]), str(s["documents"]), str(s["bytes"] + sum(f["bytes"] for f in s["files"]))) for s in m["shards"]]
    lib.ok(code == 0 and not err and [tuple(r.split()[:4]) for r in lines[1:len(rows) + 1]] == rows, "--list: a line for each shard", out.decode() + err)
    total = f"train: {len(rows)} shards, {sum(s['tokens'] for s in m['shards'])} tokens, {sum(s['documents'] for s in m['shards'])} documents,"
    lib.ok(any(x.startswith(total) for x in lines) and lines[-1] == "complete", "--list: totals, and the word complete", out.decode())
    code, out, err = lib.run(["bpe-shard", "--list", "elsewhere"])
    lib.ok(code == 66 and not out and "manifest.json" in err, "--list: no manifest", err)
    for args in (["--list", "x", "-o", "y"], ["--check", "x", "--list", "x"], ["--list", "x", "a.txt"], ["--check", "x", "--resume"], ["-m", "m.json", "-o", "y"]):
        code, out, err = lib.run(["bpe-shard", *args])
        lib.ok(code == 64 and not out and err.count("\n") == 1, " ".join(["bpe-shard", *args]) + " makes no sense", err)


def main():
    maker = line.Maker(seed)
    texts = [d + "." for d in maker.documents(120000)]
    lib.write("a.txt", EOT.join(texts))
    lib.write("a.jsonl", "".join(json.dumps({"text": d + (EOT + "after" if i % 9 == 0 else "")}) + "\n" for i, d in enumerate(texts)))
    lib.write("a.jsonl.zst", lib.zstd_frame(lib.read("a.jsonl")))
    lib.write("b.jsonl", "".join("no JSON\n" * (i % 50 == 1) + json.dumps({"id": i if i % 2 else f'"{i}",', "a": {"b": d + "\ud800"}}) + "\n"
                                 for i, d in enumerate(texts)))
    lib.write("a.nul", "\0".join(texts))
    lib.write("a.wet", b"".join(b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(d.encode()), d.encode())
                                for d in texts))
    lib.write("b.txt", maker.document(3000))
    line.train("m.json", "a.txt")
    line.train("other.json", "b.txt")
    ids = make("d", "a.txt")
    for name in FORMATS:
        damage(name)
    headers()
    manifests()
    tables()
    incomplete(ids)
    documents()
    changed()
    listed()
    return lib.done()


sys.exit(main())
