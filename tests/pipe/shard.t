#!/usr/bin/env python3
"""shard.t [SECTION...] - compares the pipeline that ends in bpe-shard with oracle/shard_slow.py."""
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shard_line as line  # noqa: E402
from shard_line import lib, records, shard_slow, tree, tree_difference  # noqa: E402

Plan, Source = shard_slow.Plan, shard_slow.Source
EOT = lib.EOT
rng = random.Random()
number = 0


class Corpus:
    """Sources in one input format, as files and for the oracle; and the chunks of a run."""

    def __init__(self, label, form, options, sources, files, field="text", key=None):
        self.label, self.options, self.files = label, options, files
        self.sources = [Source(name, i, data, form, field, key) for i, (name, data) in enumerate(sources)]
        self.found = {}

    def chunks(self, *options):
        return records.split(lib.must("bpe-chunk", *self.options, *options, "-m", "m.json", *self.files))

    def documents(self, eot="none"):
        if eot not in self.found:
            self.found[eot] = [d for s in self.sources for d in shard_slow.documents_of(oracle, s, eot)]
        return self.found[eot]


def corpora(maker):
    """Every input format, in files of several sizes."""
    texts = [EOT.join(maker.documents(size)) + end for size, end in ((60000, EOT), (90000, ""), (15000, "\n" + EOT + EOT), (0, ""))]
    texts.append(maker.document(12000))  # one long document
    plain = []
    for i, text in enumerate(texts):
        lib.write(f"p{i}.txt", text)
        plain.append((f"p{i}.txt", text.encode()))
    yield Corpus("text", "", ["-b", "8K"], plain, [n for n, _ in plain])
    lines = []
    for i, size in enumerate((60000, 30000)):
        rows = [json.dumps({"id": f"{i}-{k},\"x\"" if k % 3 else k, "text": d + (EOT + "after" if k % 17 == 0 else "")}, ensure_ascii=bool(k % 2))
                for k, d in enumerate(maker.documents(size))]
        data = "\n".join(rows[:5] + ["", "  "] + rows[5:]) + ("\n" if i else "")
        lib.write(f"l{i}.jsonl", data)
        lines.append((f"l{i}.jsonl", data.encode()))
    yield Corpus("JSON Lines", "jsonl", ["-b", "8K", "--jsonl"], lines, [n for n, _ in lines])
    if b"--id" in lib.must("bpe-chunk", "--help"):
        yield Corpus("JSON Lines, --id", "jsonl", ["-b", "8K", "--jsonl", "--id=id"], lines, [n for n, _ in lines], key="id")
    data = "\0".join(maker.documents(60000)).encode()
    lib.write("n.nul", data)
    yield Corpus("documents that end with NUL", "nul", ["-b", "8K", "--null"], [("n.nul", data)], ["n.nul"])
    packed = [line.compress(n, way) for (n, _), way in zip(plain, ("zstd", "gzip", "zstd", "gzip", "zstd"))]
    yield Corpus("several compressed files", "", [], [(f, d) for f, (_, d) in zip(packed, plain)], packed)
    packed = [line.compress(n, "zstd") for n, _ in lines]
    yield Corpus("compressed JSON Lines", "jsonl", ["--jsonl"], [(f, d) for f, (_, d) in zip(packed, lines)], packed)
    whole = b"".join(d for _, d in plain) * 3
    parts = [whole[i:i + 20000] for i in range(0, len(whole), 20000)]
    lib.write("f.txt.zst", lib.pzstd(parts))
    yield Corpus("frames", "", ["-b", "8K"], [("f.txt.zst", whole)], ["f.txt.zst"])
    lib.write("f.txt.gz", lib.bgzf(parts))
    yield Corpus("text by value", "", ["-b", "8K", "--inline"], plain, [n for n, _ in plain])


# XXH3-128 of n bytes 0, 7, 14 ... modulo 251, from libxxhash 0.8.1.
SUMS = {
    0: "99aa06d3014798d86001c324468d497f",
    3: "656e81c56e41fe02c3489259e968ad9e",
    8: "e4b9dd0b66ff3c50ebabbd0695002ff6",
    16: "ddf6c1254d70f76794eaa17b20756f46",
    100: "fc8da0d97205f51d6c45cd2f745cc3a7",
    200: "5451071ed36ad47079ad90815b45bbd9",
    5000: "5ecbf80121973a82ce29a19460ee1bfc",
}


def section_checksums():
    """The oracle's hash equals that of records and that of libxxhash."""
    stream = lib.must("bpe-chunk", "-b", "3K", "train.txt") + lib.must("bpe-chunk", "--inline", "-b", "3K", "train.txt")
    good = 0
    for record in records.split(stream):
        seed_of = (record[1] << 40) + (record[2] << 32) + int(record[3:11], 16)
        good += "%016x" % shard_slow.xxh3.hash64(record[27:-1], seed_of) == record[11:27].decode()
    lib.ok(good == len(records.split(stream)) >= 4, "the checksums of records")
    for n, want in SUMS.items():
        data = bytes(i * 7 % 251 for i in range(n))
        lib.ok("%032x" % shard_slow.xxh3.hash128(data) == want, f"128 bits of {n} bytes")


def fresh():
    global number
    number += 1
    return f"d{number}"


def options_of(plan):
    """The options for a plan."""
    out = ["-n", str(plan.n), "-f", plan.format]
    out += ["--test", str(plan.test)] * bool(plan.test) + ["--test-fraction", repr(plan.fraction)] * bool(plan.fraction)
    out += ["--shuffle=documents"] * plan.shuffle + ["--seed", str(plan.seed)] * bool(plan.seed)
    out += {"short": [], "dropped": ["--drop-last"], "padded": ["--pad-last"]}[plan.last]
    out += ["--docs"] * plan.docs + ["--sha256"] * plan.sha256 + (["-d", plan.dtype] if plan.dtype != "auto" else [])
    return out + (["--name", plan.name] if plan.name else [])


def made(stream, plan, *options, what, directory=None):
    """Makes a directory with bpe-shard. Returns its name, or None on failure."""
    directory = directory or fresh()
    code, out, err = line.shard(directory, stream, *options_of(plan), *options)
    if not lib.ok(code == 0 and not err, f"{what}: succeeds, without a message", f"exit {code}: {err}"):
        return None
    if b"--check" in lib.must("bpe-shard", "--help"):
        code, _, err = lib.run(["bpe-shard", "--check", directory])
        lib.ok(code == 0 and not err, "  bpe-shard --check passes", f"exit {code}: {err}")
    said = [json.loads(row) for row in out.decode().splitlines()]
    with open(directory + "/manifest.json", encoding="utf-8") as f:
        listed = json.load(f)["shards"]
    lib.ok(sorted(s["name"] for s in said) == sorted(s["name"] for s in listed) and all(s in listed for s in said),
           "  a line of JSON for each shard, as in the manifest", said[:3])
    return directory


def judged(directory, corpus, plan, facts, what, eot="none"):
    shards = shard_slow.cut(corpus.documents(eot), plan, facts)
    bad = shard_slow.differences(directory, shards, plan, facts)
    names = hashlib.sha256(b"".join(os.fsencode(s.name) + b"\0" for s in corpus.sources)).hexdigest()
    sources = {"count": len(corpus.sources), "bytes": sum(len(s.data) for s in corpus.sources), "names": names}
    with open(directory + "/manifest.json", encoding="utf-8") as f:
        said = json.load(f).get("sources")
    bad += [f"sources: {said} instead of {sources}"] * (said != sources)
    return lib.ok(not bad, f"{what}: equals the oracle ({len(shards)} shards)", "\n".join(bad[:8]))


def streams(corpus):
    """Streams that give the same shards: (label, stream, options)."""
    chunks = corpus.chunks()
    one = [line.encode("m.json", chunks)]
    four = line.fan_out("m.json", chunks, 4)
    yield "one process", b"".join(one), []
    yield "four processes, the last one first", b"".join(reversed(four)), []
    mixed = [r for part in line.fan_out("m.json", chunks, 4) for r in records.split(part)]
    rng.shuffle(mixed)
    yield "four processes, records shuffled", b"".join(mixed), []
    yield "batches repeated", b"".join(four[:2] + one + four), []
    lost = records.split(four[0])
    lost = [r for r in lost if records.kind(r) != "K"][:max(1, len(lost) // 2)]
    yield "a process died, its work was done again", b"".join(lost + four[1:] + line.fan_out("m.json", chunks, 4)[:1]), []
    more = corpus.chunks("-b", "3K")  # another run: other cuts
    yield "other cuts", b"".join(line.fan_out("m.json", more, 3)), []
    yield "other cuts, little memory", b"".join(reversed(line.fan_out("m.json", more, 3))), ["-S", "64K"]


def section_forms():
    """Each input format and fan-out."""
    for corpus in corpora(line.Maker(seed)):
        plan, trees = Plan(n=7000, docs=True), {}
        facts = None
        for label, stream, options in streams(corpus):
            what = f"{corpus.label}, {label}"
            facts = facts or line.facts("m.json", stream, oracle, "none")
            directory = made(stream, plan, *options, what=what)
            if directory:
                trees[label] = tree(directory)
                if len(trees) == 1:
                    judged(directory, corpus, plan, facts, what)
        labels = list(trees)
        for label in labels[1:]:
            different = tree_difference(trees[labels[0]], trees[label])
            lib.ok(different is None, f"{corpus.label}: {label}: the same directory as {labels[0]}", different)


PLANS = [
    ("npy, small shards", Plan(n=100)), ("npy, all in one", Plan(n=0)), ("npy, one id each", Plan(n=3001, last="dropped")),
    ("npy, padded", Plan(n=3001, last="padded")), ("npy, u32, a name", Plan(n=5000, dtype="u32", name="web")),
    ("npy, i32, SHA-256", Plan(n=5000, dtype="i32", sha256=True)),
    ("npy, --test", Plan(n=2000, test=3, docs=True)), ("npy, --test larger than the number of shards", Plan(n=20000, test=50)),
    ("npy, --test-fraction", Plan(n=2000, fraction=0.25, docs=True)), ("npy, --test-fraction, a seed", Plan(n=2000, fraction=0.1, seed=7)),
    ("raw", Plan("raw", n=4000)), ("raw, one file", Plan("raw", n=0)), ("raw, train.bin and val.bin", Plan("raw", n=0, fraction=0.1)),
    ("raw, --test", Plan("raw", n=4000, test=2, last="padded")),
    ("llmc", Plan("llmc", n=4000, test=1)), ("llmc, u32", Plan("llmc", n=4000, dtype="u32")),
    ("dolma", Plan("dolma", n=4000)), ("dolma, one file", Plan("dolma", n=0)),
    ("megatron", Plan("megatron", n=4000)), ("megatron, one pair", Plan("megatron", n=0)),
    ("megatron, i32, --docs", Plan("megatron", n=4000, dtype="i32", docs=True)), ("megatron, --drop-last", Plan("megatron", n=4000, last="dropped")),
    ("shuffled", Plan(n=4000, shuffle=True, docs=True)), ("shuffled, a seed", Plan(n=4000, shuffle=True, seed=123456789)),
    ("shuffled, --test", Plan(n=4000, shuffle=True, test=2)), ("shuffled, --test-fraction", Plan(n=4000, shuffle=True, fraction=0.2)),
    ("shuffled, megatron", Plan("megatron", n=4000, shuffle=True)), ("shuffled, raw, padded", Plan("raw", n=999, shuffle=True, last="padded")),
]


def plain_corpus():
    """A corpus with many records."""
    return next(c for c in corpora(line.Maker(seed)) if c.label == "text by value")


def section_plans():
    """Each way to cut shards, for one input format."""
    corpus = plain_corpus()
    stream = line.encode("m.json", corpus.chunks())
    facts = line.facts("m.json", stream, oracle, "none")
    for label, plan in PLANS:
        directory = made(stream, plan, what=label)
        if directory:
            judged(directory, corpus, plan, facts, label)


def lines_corpus(label, texts):
    rows = "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()
    lib.write(label + ".jsonl", rows)
    return Corpus(label, "jsonl", ["--jsonl", "-b", "500"], [(label + ".jsonl", rows)], [label + ".jsonl"])


def section_edges():
    """Shards that are exactly full, documents without ids, documents larger than many shards, no ids."""
    maker = line.Maker(seed + 4)
    text = maker.document(100)
    cases = [("full", ["", text, "", text, "", ""]), ("empty", ["", "", ""]), ("one", [text]), ("long", [text * 30, "", text, ""])]
    for label, texts in cases:
        corpus = lines_corpus(label, texts)
        total = sum(len(d.ids) for d in corpus.documents())
        one = max(map(len, (d.ids for d in corpus.documents())))
        stream = line.encode("m.json", corpus.chunks())
        facts = line.facts("m.json", stream, oracle, "none")
        for n in sorted({0, 1, one, max(1, one - 1), one + 1, max(1, total), total + 1}):
            if total and n and total // n > 300:
                continue
            for form in "npy", "megatron", "llmc", "dolma":
                for last in ("short", "dropped") if n else ("short",):
                    plan = Plan(form, n=n, last=last, docs=True, shuffle=rng.random() < 0.3, test=rng.choice([0, 0, 1]) if n else 0)
                    what = f"{label} ({total} ids), {' '.join(options_of(plan))}"
                    directory = made(stream, plan, what=what)
                    if directory:
                        judged(directory, corpus, plan, facts, what)


def section_random():
    """Random plans and input formats."""
    every = list(corpora(line.Maker(seed + 5)))
    for _ in range(12):
        corpus, form = rng.choice(every), rng.choice(["npy", "raw", "llmc", "dolma", "megatron"])
        eot, n = rng.choice(["none", "before", "after"]), rng.choice([0, rng.randrange(500, 5000), rng.randrange(5000, 200000)])
        split = rng.choice([{}, {}, {"fraction": rng.choice([0.001, 0.1, 0.5, 0.999])}, {"test": rng.randrange(1, 9)} if n else {}])
        last = rng.choice(["short", "short", "dropped", "padded"] if n and form != "megatron" else ["short", "dropped"] if n else ["short"])
        plan = Plan(form, n=n, last=last, docs=rng.random() < 0.5, shuffle=rng.random() < 0.5, seed=rng.choice([0, 1, rng.getrandbits(64)]),
                    sha256=rng.random() < 0.2, name=rng.choice([None, "x"]), **split)
        stream = line.encode("m.json", corpus.chunks(), "--eot=" + eot)
        what = f"{corpus.label}, --eot={eot} {' '.join(options_of(plan))}"
        directory = made(stream, plan, "-S", rng.choice(["1K", "1M", "1G"]), what=what)
        if directory:
            judged(directory, corpus, plan, line.facts("m.json", stream, oracle, eot), what, eot)


def section_eot():
    for eot in "none", "before", "after":
        for corpus in list(corpora(line.Maker(seed + 1)))[:4]:
            stream = line.encode("m.json", corpus.chunks(), "--eot=" + eot)
            facts = line.facts("m.json", stream, oracle, eot)
            for plan in Plan(n=3000, docs=True), Plan(n=3000, shuffle=True, docs=True), Plan("megatron", n=500):
                what = f"{corpus.label}, --eot={eot}, {plan.format}{', shuffled' * plan.shuffle}"
                directory = made(stream, plan, what=what)
                if directory:
                    judged(directory, corpus, plan, facts, what, eot)


def split_of(directory):
    """The documents of each split, from the tables, as sets of (source, offset)."""
    import csv
    import gzip
    out = {"test": set(), "train": set()}
    with open(directory + "/manifest.json", encoding="utf-8") as f:
        for s in json.load(f)["shards"]:
            for name in [f["name"] for f in s["files"] if f["name"].endswith(".csv.gz")]:
                with gzip.open(os.path.join(directory, name), "rt", newline="") as table:
                    out[s["split"]] |= {(row[3], int(row[2])) for row in csv.reader(table)}
    return out


def section_split():
    """Test documents stay test documents, whatever else changes."""
    corpus = plain_corpus()
    fewer = Corpus("fewer", "", corpus.options, [(s.name, s.data) for s in corpus.sources[1:]], corpus.files[1:])
    stream, part = line.encode("m.json", corpus.chunks()), line.encode("m.json", fewer.chunks("-b", "5K"))
    base = split_of(made(stream, Plan(n=2000, fraction=0.3, docs=True), what="a split") or ".")
    lib.ok(base["test"] and base["train"] and not base["test"] & base["train"], "train and test are disjoint")
    for label, data, plan in (("another -n", stream, Plan(n=700, fraction=0.3, docs=True)), ("dolma", stream, Plan("dolma", n=900, fraction=0.3)),
                              ("shuffled", stream, Plan(n=2000, fraction=0.3, docs=True, shuffle=True)),
                              ("without a file", part, Plan(n=2000, fraction=0.3, docs=True))):
        directory = made(data, plan, what=label)
        if directory:
            got = split_of(directory)
            there = got["test"] | got["train"]
            lib.ok(got["test"] == base["test"] & there and got["train"] == base["train"] & there, f"{label}: the same test documents")
    other = split_of(made(stream, Plan(n=2000, fraction=0.3, docs=True, seed=1), what="another seed") or ".")
    lib.ok(other["test"] != base["test"], "another seed: other test documents")


def run_again(stream, directory, plan, *options):
    return line.shard(directory, stream, *options_of(plan), "--resume", *options)


def section_missing():
    """Missing ranges are reported and listed, and their ids complete the directory."""
    for corpus in corpora(line.Maker(seed + 2)):
        for plan in Plan(n=5000, docs=True), Plan(n=5000, shuffle=True):
            what = f"{corpus.label}{', shuffled' * plan.shuffle}"
            chunks = corpus.chunks(*(["--inline"] if not re.search("compressed|frames", corpus.label) else []))
            batches = line.fan_out("m.json", chunks, 5)
            batches = batches if len(batches) > 1 else line.batches(batches[0])
            if len(batches) < 2:
                continue
            want = made(b"".join(batches), plan, what=what)
            if not want:
                continue
            promises = [r for b in batches for r in records.split(b) if is_promise(r)]
            for promised in True, False:
                how = f"{what}, {'with' if promised else 'without'} promise"
                gone = rng.randrange(1, len(batches)) if len(batches) > 1 else 0
                left = [r for i, b in enumerate(batches) if i != gone for r in records.split(b) if promised or not is_promise(r)]
                left += promises * promised
                directory = fresh()
                code, out, err = line.shard(directory, b"".join(left), *options_of(plan), "--missing", "todo")
                named = re.match(r"bpe-shard: .*byte", err) or not left
                lib.ok(code == 75 and err.count("\n") == 1 and named, f"{how}: exit 75, with a message", f"exit {code}: {err}")
                before = {n: d for n, d in tree(directory).items() if not n.startswith((".work", "manifest"))}
                code, out, err = run_again(b"", directory, plan, "--missing", "todo")
                lib.ok(code == 75, "  without more input, still exit 75", f"exit {code}: {err}")
                rest = lib.run(["bpe-chunk", "--only", "todo", *rng.choice([[], ["-b", "2K"]]), *corpus.files])
                if not lib.ok(rest[0] == 0, "  bpe-chunk --only accepts the list", rest[2]):
                    continue
                again = line.encode("m.json", records.split(rest[1]))
                if not promised:
                    again += b"".join(promises)
                code, out, err = run_again(again, directory, plan, "--missing", "todo")
                lib.ok(code == 0, f"{how}: complete with the rest", f"exit {code}: {err}")
                after = tree(directory)
                lib.ok(all(after.get(n) == d for n, d in before.items()), "  existing shards have not changed")
                different = tree_difference(tree(want), after)
                lib.ok(different is None, "  the same directory", different)
                lib.ok(lib.read("todo") == b"", "  and nothing is missing")


def is_promise(record):
    return line.is_promise(record)


def section_again():
    """A directory belongs to one run and one plan."""
    corpus = plain_corpus()
    stream = line.encode("m.json", corpus.chunks())
    plan = Plan(n=5000)
    directory = made(stream, plan, what="a directory")
    before = tree(directory)
    code, _, err = line.shard(directory, stream, *options_of(plan))
    lib.ok(code == 73 and err.count("\n") == 1 and "--resume" in err, "the same command without --resume: exit 73", f"exit {code}: {err}")
    code, out, err = run_again(stream, directory, plan)
    lib.ok(code == 0 and not out and "complete" in err, "  with --resume: complete already", f"exit {code}: {err}")
    for label, other in (("-n", plan._replace(n=6000)), ("--shuffle", plan._replace(shuffle=True)), ("--docs", plan._replace(docs=True)),
                         ("-f", plan._replace(format="raw")), ("--test", plan._replace(test=1))):
        code, _, err = run_again(stream, directory, other)
        lib.ok(code == 64 and label in err and err.count("\n") == 1, f"--resume with another {label}: exit 64", f"exit {code}: {err}")
    lib.ok(tree(directory) == before, "  none of these changed the directory")
    half = fresh()
    batches = line.fan_out("m.json", corpus.chunks(), 4)
    whole = made(b"".join(batches), plan, what="another run")
    lib.ok(not whole or tree_difference(before, tree(whole)) is None, "  gives the same directory")
    code, _, err = line.shard(half, b"".join(batches[:2]), *options_of(plan))
    lib.ok(code == 75, "half of a run: exit 75", f"exit {code}: {err}")
    other = line.encode("m.json", corpus.chunks())
    code, _, err = run_again(other, half, plan)
    lib.ok(code == 65 and err.count("\n") == 1, "the other half from another run: exit 65", f"exit {code}: {err}")
    code, _, err = line.shard(half, b"".join(batches), *options_of(plan))
    lib.ok(code == 73 and err.count("\n") == 1, "an unfinished directory without --resume: exit 73", f"exit {code}: {err}")
    code, _, err = run_again(line.encode("m.json", corpus.chunks(), "--eot=after"), half, plan)
    lib.ok(code == 65 and err.count("\n") == 1, "ids with another --eot: exit 65", f"exit {code}: {err}")
    code, _, err = run_again(b"".join(batches[2:]), half, plan)
    lib.ok(code == 0 and tree_difference(before, tree(half)) is None, "the other half of the same run completes it", f"exit {code}: {err}")


def refused(result, *codes):
    code, _, err = result
    return code in codes and err.count("\n") == 1 and err.startswith("bpe-shard: ")


def section_damage():
    """Damage is refused, or does not matter, but never gives other shards."""
    corpus = plain_corpus()
    batches = line.fan_out("m.json", corpus.chunks(), 4)
    stream, plan = b"".join(batches[::-1]), Plan(n=9000, docs=True)
    want = made(stream, plan, what="a directory")
    if not want:
        return
    want, bad = tree(want), []
    for _ in range(60):
        data, way = bytearray(stream), rng.randrange(3)
        at = rng.randrange(len(data))
        if way == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del data[at:]
        else:
            del data[at:at + rng.randrange(1, 5000)]
        directory = fresh()
        result = line.shard(directory, bytes(data), *options_of(plan))
        if not refused(result, 65, 75) and not (result[0] == 0 and tree(directory) == want):
            bad.append(f"way {way} at {at}: exit {result[0]}: {result[2]}")
        result = run_again(stream, directory, plan)
        if result[0] or tree(directory) != want:
            bad.append(f"way {way} at {at}, then the whole stream: exit {result[0]}: {result[2]}")
    lib.ok(not bad, "a damaged stream is refused, and the whole one completes the directory", "\n".join(bad[:6]))
    bad, half = [], fresh()
    line.shard(half, b"".join(batches[1:3]), *options_of(plan), "-S", "16K")
    kept = tree(half)
    names = [n for n in kept if re.search("journal|segment", n) and kept[n]]
    lib.ok(any("segment" in n for n in names) and any("journal" in n for n in names), "half of the ids are kept in a journal and segments", sorted(kept))
    for _ in range(80):
        name = rng.choice(names)
        data = bytearray(kept[name])
        at = rng.randrange(len(data))
        if rng.random() < 0.7:
            data[at] ^= 1 << rng.randrange(8)
        else:
            del data[at:]
        directory = fresh()
        for n, content in kept.items():
            path = os.path.join(directory, n)
            os.makedirs(path if n.endswith("/") else os.path.dirname(path), exist_ok=True)
            if not n.endswith("/"):
                lib.write(path, bytes(data) if n == name else content)
        result = run_again(stream, directory, plan)
        if not refused(result, 65, 74, 75) and not (result[0] == 0 and tree(directory) == want):
            bad.append(f"{name} at {at} of {len(kept[name])}: exit {result[0]}: {result[2]} {tree_difference(want, tree(directory))}")
    lib.ok(not bad, "a damaged journal or segment is refused, or repaired", "\n".join(bad[:6]))


def section_lock():
    """Only one process at a time works in a directory."""
    corpus = plain_corpus()
    stream, directory = line.encode("m.json", corpus.chunks()), fresh()
    first = subprocess.Popen(["bpe-shard", "-o", directory, "-n", "9000"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    first.stdin.write(stream[:1000])
    first.stdin.flush()
    while not os.path.exists(directory + "/.work/lock"):
        time.sleep(0.01)
    begun = time.monotonic()
    for options in [], ["--resume"]:
        result = line.shard(directory, stream, "-n", "9000", *options)
        lib.ok(refused(result, 73), f"a second process in the same directory{' with --resume' * bool(options)}: exit 73", result)
    lib.ok(time.monotonic() - begun < 10, "  ends soon")
    first.stdin.write(stream[1000:])
    first.stdin.close()
    lib.ok(first.wait() == 0, "the first process is not disturbed")
    bad = [d for d in shard_slow.differences(directory, shard_slow.cut(corpus.documents(), Plan(n=9000), line.facts("m.json", stream, oracle, "none")),
                                             Plan(n=9000), line.facts("m.json", stream, oracle, "none"))]
    lib.ok(not bad, "  and its directory is right", bad[:5])


SECTIONS = [section_checksums, section_forms, section_plans, section_edges, section_random, section_eot, section_split, section_missing, section_again, section_damage,
            section_lock]
lib.own_directory(in_memory=True)
seed = lib.seed()
rng.seed(seed)
# The vocabulary is learned from text with every character.
lib.write("train.txt", line.LETTERS * 20 + EOT.join(line.Maker(seed).documents(100000)))
oracle = line.train("m.json", "train.txt")
wanted = sys.argv[1:]
for section in SECTIONS:
    if not wanted or section.__name__[8:] in wanted:
        section()
sys.exit(lib.done())
