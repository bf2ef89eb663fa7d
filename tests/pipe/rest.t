#!/usr/bin/env python3
"""rest.t - completes a run whose bpe-chunk died before it wrote its promise. `bpe-chunk --only`, with a list of ranges without an end,
writes everything that is missing, and the promise that the run would have had. The documents are those of the sources, each once.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import must, ok, run  # noqa: E402
from places import IN, encode, from_records, made_up_source, models, packed  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 100)
END = (1 << 64) - 1


def contents(stream):
    """The contents of all complete commits in a stream."""
    parts = {}
    for record in R.split(stream):
        if R.kind(record) == "K":
            c = R.Cursor(R.payload(record))
            batch, _, part, n_parts = c.id(), c.n(), c.n(), c.n()
            parts.setdefault((batch, n_parts), {})[part] = c.rest()
    return [b"".join(part[i] for i in range(n)) for (_, n), part in parts.items() if len(part) == n]


def known_sources(stream):
    """(rules, {number: (name, reading, access, size, mtime, ns)}) from the commits."""
    rules, found = None, {}
    for content in contents(stream):
        c = R.Cursor(content)
        c.n()
        rules = c.s()
        c.n(), c.bytes(8), c.n()
        for _ in range(c.n()):
            c.id(), c.n(), c.n(), c.s(), c.n(), c.n()
            for _ in range(c.n()):
                c.n(), c.n(), c.n()
        while c.at < len(content):
            name, _, value = c.s(), c.n(), R.Cursor(c.s())
            while name == b"sources" and value.at < len(value.data):
                number, *facts = value.n(), value.s(), value.s(), value.n(), value.n(), value.n(), value.n()
                found[number] = facts
    return rules, found


def missing(stream, run_id):
    """The list of missing ranges that bpe-shard would write: the rest of each source up to the last one seen, with no end where the
    size is unknown."""
    rules, known = known_sources(stream)
    done = {}
    for x in R.covered(stream)[0]:
        done.setdefault(x.source, []).append((x.begin, x.end))
    out, last = [], max(known)
    for number in range(last + 1):
        name, reading, access, size, mtime, ns = known.get(number, (b"", b"", 0, 0, 0, 0))
        end = size if number < last and access != 1 and size else END
        gaps, at = [], 0
        for a, b in sorted(done.get(number, [])) + [(end, end)]:
            if a > at:
                gaps.append((at, a))
            at = max(at, b)
        for a, b in gaps:
            out.append(("R", run_id + R.s(rules) + R.n(0) + R.n(1) + R.n(number) + R.s(name) + R.s(reading) + R.n(end) + R.n(mtime) +
                        R.n(ns) + R.n(access) + R.n(1) + R.n(a) + R.n(b - a)))
    return R.make(*out)


def one(number):
    rng = random.Random(f"{SEED}/{number}")
    how = {"form": rng.choice(["text", "text", "jsonl", "null", "wet"]), "model": rng.choice(["one", "one", "overlapping"]),
           "eot": rng.choice(["none", "before", "after"]), "special": "token", "invalid": "error", "id": ""}
    kind = rng.choice(["plain", "inline", "pipe", "compressed", "mixed", "mixed"])
    sources, names = [], []
    for i in range(rng.choice([1, 2, 2, 4]) if kind != "pipe" else 1):
        sources.append(made_up_source(rng, how))
        names.append(f"{number}.{i}")
        data = sources[-1]
        if kind == "compressed" or (kind == "mixed" and rng.random() < 0.5):
            ext, data = packed(rng, data)
            names[i] += "." + ext
        lib.write(names[i], data)
    block = ["-b", str(rng.choice([1, 5, 30, 200, 2000]))]
    inline = ["--inline"] if kind == "inline" else []
    options = ["-m", how["model"] + ".json", *block, *inline]
    options += {"text": [], "jsonl": ["--jsonl", "--on-error=skip"], "null": ["--null"], "wet": ["--wet"]}[how["form"]]
    files, given = (["-"], sources[0]) if kind == "pipe" else (names, b"")
    tag = f"round {number}: {kind} {options} {how}"
    code, chunks, err = run(["bpe-chunk", *options, *files], given)
    if not ok(code == 0, f"{tag}: chunks", err):
        return
    promises = [r for r in R.split(chunks) if R.kind(r) == "P"]
    parts = [r for r in R.split(chunks) if R.kind(r) in "CR"]
    some = [r for r in parts if rng.random() < rng.choice([0.1, 0.5, 1])]
    if not some:
        return
    before = encode(rng, b"".join(some), how)
    if contents(before):
        wanted = missing(before, R.payload(promises[-1])[:16])
        lib.write("list", wanted)
        more = rng.choice([block, [], ["-b", "100"]])
        code, again, err = run(["bpe-chunk", "--only=list", *more, *(inline if rng.random() < 0.5 else []), *files], given)
        if not ok(code == 0, f"{tag}: --only", err):
            return
        # With compressed files, files that have not arrived at all may now be sent in another way.
        if kind in ("plain", "inline", "pipe"):
            ok([r for r in R.split(again) if R.kind(r) == "P"] == promises, f"{tag}: the same promise")
        both = before + encode(rng, again, how)
        code, out, err = run(["bpe-view", "--check"], both)
        ok(code == 0, f"{tag}: complete", err)
        found, text = from_records(both, how["form"])
        for i, data in enumerate(sources):
            ok(found.get(i, []) == IN[how["form"]](data, how) and text.get(i, 0) == len(data), f"{tag}: source {i}")
    for name in names:
        os.remove(name)


def refusals():
    """Files that are not those of the run are refused."""
    for i in range(3):
        lib.write(f"f{i}", lib.text(i, 3000))
    chunks = R.split(must("bpe-chunk", "-m", "one.json", "-b", "500", "f0", "f1", "f2"))
    run_id = R.payload(chunks[0])[:16]
    inside = R.split(must("bpe-chunk", "-m", "one.json", "-b", "500", "--inline", "f0", "f1", "f2"))
    part = b"".join([r for r in inside if R.kind(r) == "C"][:12])
    lib.write("list", missing(must("bpe-encode", "-m", "one.json", data=part), R.run_of(R.split(part)[0])))
    lib.write("refs", missing(must("bpe-encode", "-m", "one.json", data=b"".join(chunks)), run_id))
    ok(run(["bpe-chunk", "--only=list", "f0", "f1", "f2"])[0] == 0, "the same files")
    for files, code, message in ((["f0"], 64, "list lists the rest of a run of 2 FILEs or more, which did not finish; give all of"),
                                 ([], 64, "list lists the rest of a run of 2 FILEs or more"),
                                 (["f1", "f0", "f2"], 64, "FILE number 1 is f1, but in the run of list it was f0; give all FILEs of that")):
        got = run(["bpe-chunk", "--only=list", *files])
        ok(got[0] == code and message in got[2], f"exit {code}: {message}", got)
    got = run(["bpe-encode", "-m", "one.json", "refs"])
    ok(got[0] == 65 and "f2: a range without an end, of a run that did not finish; pass the list through bpe-chunk --only" in got[2],
       "bpe-encode refuses a range without an end", got[2])
    ok(b"pieces=" in must("bpe-view", "refs") and b"+?\n" in must("bpe-view", "refs"), "bpe-view shows a range without an end",
       must("bpe-view", "refs"))
    lib.write("f2", lib.text(7, 3000))
    got = run(["bpe-chunk", "--only=refs", "f0", "f1", "f2"])
    ok(got[0] == 65 and "f2: changed since" in got[2], "a file that has changed", got)
    lib.write("f1", b"short")
    got = run(["bpe-chunk", "--only=list", "f0", "f1", "f2"])
    ok(got[0] == 65 and "f1" in got[2], "a file that is shorter now", got)


def main():
    global SEED
    SEED = lib.seed()
    models()
    lib.rounds(ROUNDS, one)
    refusals()
    return lib.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        sys.exit(main())
