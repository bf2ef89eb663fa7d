#!/usr/bin/env python3
"""formats.t [SECTION...] - shards of every format, and conversion between formats."""
import array
import json
import os
import random
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shard_line as line  # noqa: E402
from shard_line import lib, shard_slow, tree, tree_difference  # noqa: E402
import shard_read  # noqa: E402

FORMATS = ["npy", "raw", "llmc", "megatron", "datatrove", "dolma", "mds"]
WHOLE = {"megatron", "mds"}
FAULT = lib.BUILD + "/tests/fault/fault.so"
rng = random.Random()
number = 0


def fresh(what="d"):
    global number
    number += 1
    return f"{what}{number}"


def make(eot, *options, directory=None):
    """Makes a directory of shards of the corpus."""
    directory = directory or fresh()
    code, _, err = line.shard(directory, streams[eot], *options)
    if code or err:
        lib.ok(False, f"bpe-shard {' '.join(options)}", f"exit {code}: {err}")
    return directory


def convert(old, *options, directory=None, env=None):
    directory = directory or fresh()
    return directory, *lib.run(["bpe-shard", "--convert", "-o", directory, *options, old], env=env)


def manifest(directory):
    return json.loads(lib.read(directory + "/manifest.json"))


def wanted(eot, form):
    """The documents that shards of this format must have."""
    out = [shard_read.Document(d.ids, d.source, d.id or str(d.offset), d.line) for d in documents[eot]]
    if form == "megatron" and eot == "after":
        out = [d._replace(ids=[] if d.ids == [separator] else d.ids) for d in out]
    return [d for d in out if d.ids] if form == "mds" else out


def same_documents(directory, expected, table, what):
    """Tests that all splits together, test first, have these documents."""
    try:
        found = [d for split in ("test", "train") for d in shard_read.read(directory).get(split, [])]
    except (shard_read.Bad, KeyError, ValueError, struct.error) as e:
        return lib.ok(False, what, f"{directory}: {type(e).__name__} {e}")
    if not table:
        found, expected = [d.ids for d in found], [d.ids for d in expected]
    at = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), None)
    return lib.ok(found == expected, what, f"{directory}: {len(found)} and {len(expected)} documents; number {at}: " +
                  (f"{found[at]!s:.300} and {expected[at]!s:.300}" if at is not None else ""))


# ---- The formats ----------------------------------------------------------------------------------------------

def section_readers():
    """An independent reader of each format finds the documents of the corpus."""
    for form in FORMATS:
        for eot, n, table in (("after", 700, False), ("after", 0, True), ("before", 1500, True), ("before", 64, False), ("none", 900, True)):
            directory = make(eot, "-f", form, "-n", str(n), *["--docs"] * table)
            indexed = table or eot != "none" or form in WHOLE | {"datatrove", "dolma"}
            if indexed:
                same_documents(directory, wanted(eot, form), table or form == "dolma", f"{form}, -n {n}, --eot={eot}{', --docs' * table}")
        directory = make("after", "-f", form, "-n", "800", "--test", "2", "--docs", *["--pad-last"] * (form not in WHOLE))
        expected = wanted("after", form)
        if form not in WHOLE:  # the last test shard cuts a document
            end = 1600
            for i, d in enumerate(expected):
                if len(d.ids) > end > 0:
                    expected[i:i + 1] = [d._replace(ids=d.ids[:end]), d._replace(ids=d.ids[end:])]
                    break
                end -= len(d.ids)
        same_documents(directory, expected, True, f"{form}, --test, {'' if form in WHOLE else '--pad-last'}")


def section_types():
    """Types of 32 bits: the same ids."""
    for form, name, dtype in (("npy", "u32", "uint32"), ("npy", "i32", "int32"), ("raw", "u32", "uint32"), ("llmc", "u32", "uint32"),
                              ("megatron", "i32", "int32"), ("datatrove", "u32", "uint32"), ("dolma", "u32", "uint32"), ("mds", "i32", "int32")):
        directory = make("after", "-f", form, "-d", name, "-n", "999")
        lib.ok(manifest(directory)["dtype"] == dtype, f"{form} with {dtype}")
        same_documents(directory, wanted("after", form), False, "  has the same documents")
        back, code, _, err = convert(directory, "-f", "megatron", "-n", "0")
        lib.ok(code == 0 and not tree_difference(files(back), files(make("after", "-f", "megatron", "-n", "0"))), "  also when converted back to 16 bits", err)


# ---- Megatron ------------------------------------------------------------------------------------------------------------------

class IndexedDatasetBuilder:
    """Writes the same bytes as megatron/core/datasets/indexed_dataset.py, with all lists in memory."""

    def __init__(self, path, code):
        self.path, self.code, self.lengths, self.documents = path, code, [], [0]
        self.data = open(path + ".bin", "wb")

    def add_document(self, ids, lengths):
        self.data.write(array.array(self.code, ids).tobytes())
        self.lengths += lengths
        self.documents.append(len(self.lengths))

    def finalize(self):
        self.data.close()
        size, starts, at = array.array(self.code).itemsize, [], 0
        for n in self.lengths:
            starts.append(at)
            at += n * size
        with open(self.path + ".idx", "wb") as f:
            f.write(b"MMIDIDX\0\0" + struct.pack("<Q", 1) + struct.pack("<B", {"H": 8, "i": 4}[self.code]))
            f.write(struct.pack("<QQ", len(self.lengths), len(self.documents)))
            f.write(array.array("i", self.lengths).tobytes() + array.array("q", starts).tobytes() + array.array("q", self.documents).tobytes())


def section_megatron():
    """One pair of files equals the output of the loop in preprocess_data --append-eod."""
    for vocabulary, code, options in ((400, "H", []), (65500, "i", ["-d", "i32"])):
        builder = IndexedDatasetBuilder(f"peer-{vocabulary}", code)
        for d in documents["none"]:
            ids = d.ids + [separator] * bool(d.ids)
            builder.add_document(ids, [len(d.ids) + 1] if d.ids else [])
        builder.finalize()
        directory = make("after", "-f", "megatron", "-n", "0", *options)
        for end in (".bin", ".idx"):
            lib.ok(lib.read(f"peer-{vocabulary}{end}") == lib.read(f"{directory}/tokens_text_document{end}"),
                   f"megatron: {end} for {'16' if code == 'H' else '32'} bits equals that of preprocess_data")
    lib.ok(any(not d.ids for d in documents["none"]), "  including empty documents")


# ---- --convert ------------------------------------------------------------------------------------------------------------------

def files(directory):
    """The files except the manifest, which does not record where texts end after a conversion."""
    return {name: data for name, data in tree(directory).items() if name != "manifest.json"}


def shape(directory):
    """The parts of the manifest that a conversion must keep."""
    m = manifest(directory)
    shards = [{k: v for k, v in s.items() if k not in ("first", "last", "ranges")} for s in m.pop("shards")]
    return m, shards


def section_convert():
    """From each format to each, with other shard sizes: the directory that bpe-shard makes directly."""
    for table in (False, True):
        docs = ["--docs"] * table
        made = {f: make("before", "-f", f, "-n", "700", *docs, "--test-fraction", "0.2", "--seed", "5") for f in FORMATS}
        direct = {f: make("before", "-f", f, "-n", "1100", *docs, "--test-fraction", "0.2", "--seed", "5") for f in FORMATS}
        for old in FORMATS:
            for new in FORMATS:
                if new == "dolma" and old != "dolma" and not table:
                    continue  # dolma's table needs the sources of documents
                directory, code, _, err = convert(made[old], "-f", new, "-n", "1100", *docs)
                difference = tree_difference(files(directory), files(direct[new])) if code == 0 and not err else f"exit {code}: {err}"
                lib.ok(not difference and shape(directory) == shape(direct[new]), f"{old} to {new}{', --docs' * table}",
                       difference or f"{shape(directory)}\n{shape(direct[new])}")
                shutil.rmtree(directory, True)
    directory, code, _, err = convert(made["npy"], "-f", "dolma", "-n", "700")
    lib.ok(code == 0 and not tree_difference(files(directory), files(made["dolma"])), "dolma has a table even without --docs", err)


def section_check():
    """--check works on converted directories, and compares them with the corpus if they have the sources of documents."""
    old = make("after", "-n", "700", "--docs", "--test", "3")
    right = lib.read(sources[0])
    for form in FORMATS:
        directory, _, _, _ = convert(old, "-f", form, "-n", "500", "--docs")
        command = ["bpe-shard", "--check", directory, "-m", "m.json", *sources]
        code, out, err = lib.run(command)
        anew = [row for row in out.decode().splitlines() if "encoded again" in row]
        lib.ok(code == 0 and anew and not anew[0].startswith("0 "), f"{form}: --check", err or out.decode())
        lib.write(sources[0], right.upper())
        code, _, err = lib.run(command)
        lib.write(sources[0], right)
        lib.ok(code == 65 and sources[0] in err, "  a changed corpus is found", f"exit {code}: {err}")


def section_what_is_kept():
    """Conversion keeps shuffled order, splits of --test, and padded or dropped last shards."""
    plain = make("after", "-n", "700", "--shuffle=documents", "--seed", "3", "--docs")
    directory, code, _, err = convert(plain, "-n", "333", "-f", "raw", "--docs", "--name", "other")
    direct = make("after", "-n", "333", "-f", "raw", "--shuffle=documents", "--seed", "3", "--docs", "--name", "other")
    lib.ok(code == 0 and not tree_difference(files(directory), files(direct)) and shape(directory) == shape(direct),
           "the order of --shuffle", err or tree_difference(files(directory), files(direct)))
    for last in ("--pad-last", "--drop-last"):
        padded = make("after", "-n", "700", last, "--docs", "--test", "3")
        before = shard_read.read(padded)
        cut = next(s for s in manifest(padded)["shards"] if s["split"] == "train")["first"]["continued"]
        for form in FORMATS:
            directory, code, _, err = convert(padded, "-f", form, "-n", "450")
            what = f"{form}: test and train documents stay separate ({last})"
            if lib.ok(code == 0 and not err, what, err):
                after = shard_read.read(directory)
                kept = {s: [d.ids for d in before[s]] for s in before}
                if cut and form in WHOLE:
                    kept["test"][-1] = kept["test"][-1] + kept["train"].pop(0)
                if form == "megatron":
                    kept = {s: [[] if ids == [separator] else ids for ids in kept[s]] for s in kept}
                for s in kept:  # documents without ids at the end may belong to no shard
                    while len(kept[s]) > len(after[s]) and not kept[s][-1]:
                        kept[s].pop()
                lib.ok(all(kept[s] == [d.ids for d in after[s]] for s in kept), "  with the same documents",
                       {s: (len(kept[s]), len(after[s])) for s in kept})
                m = manifest(directory)
                lib.ok(m["test_shards"] == sum(s["split"] == "test" for s in m["shards"]), "  and the number of test shards is right")
    directory, code, _, err = convert(make("after", "-f", "mds", "-n", "900"), "-f", "dolma")
    lib.ok(code == 0 and {(d.source, d.id, d.line) for d in shard_read.read(directory)["train"]} == {("", "", 0)},
           "without a table, the sources of documents are unknown", err)


def section_refusals():
    """Conversions that are refused, with the reason."""
    plain, after = make("none", "-n", "700"), make("after", "-n", "700")
    def refuses(code, text, what, *arguments):
        directory, got, out, err = convert(*arguments)
        lib.ok(got == code and text in err and err.count("\n") == 1 and not out, what, f"exit {got}: {err}")
        return directory
    refuses(65, "unknown where documents end", "ids without separators, without a table", plain, "-f", "mds")
    refuses(66, "not a directory of shards", "an empty directory", ".")
    refuses(66, "not a directory of shards", "a missing directory", "there-is-none")
    refuses(64, "--convert keeps", "--test", after, "--test", "1")
    refuses(64, "one directory", "two directories", after, after)
    refuses(64, "u16 or i32", "a type that the format does not have", after, "-f", "megatron", "-d", "u32")
    refuses(64, "names", "--name for mds", after, "-f", "mds", "--name", "x")
    refuses(64, "4 GiB", "mds with too many ids", after, "-f", "mds", "-n", "2G", "-d", "u32")
    ended = fresh()
    code, _, err = line.shard(ended, streams["after"][:len(streams["after"]) // 2], "-n", "700")
    lib.ok(code in (65, 75), "a directory that is not complete", err)
    if os.path.exists(ended + "/manifest.json"):
        refuses(75, "not complete", "shards that are not complete", ended)
    directory, _, _, _ = convert(after, "-f", "mds")
    code, _, err = lib.run(["bpe-shard", "--convert", "-o", directory, "-f", "mds", after])
    lib.ok(code == 73 and "has shards" in err, "a directory that is complete", err)
    code, _, err = lib.run(["bpe-shard", "--convert", "--resume", "-o", directory, "-f", "mds", after])
    lib.ok(code == 0 and "already complete" in err, "  with --resume, it succeeds", err)
    code, _, err = lib.run(["bpe-shard", "--convert", "--resume", "-o", directory, "-f", "mds", "-n", "70", after])
    lib.ok(code == 73 and "made with another value of -n" in err, "  but not with another option", err)
    code, _, err = lib.run(["bpe-shard", "--convert", "--resume", "-o", after + "/.", after])
    lib.ok(code == 64 and "cannot be converted into itself" in err, "a directory into itself", err)


# ---- Deaths --------------------------------------------------------------------------------------------------------------------

def section_kills():
    """bpe-shard is killed at any change of a file, and run again: the same directory."""
    if b"__asan_init" in subprocess.run(["nm", "-D", os.path.join(os.environ["BUILD"], "bpe-shard")], capture_output=True).stdout:
        lib.skip("deaths", "fault.so does not work with sanitizers")
        return
    old = make("after", "-n", "300", "--docs", "--test", "2")
    for form, n, docs in (("npy", "170", []), ("mds", "250", ["--docs"]), ("datatrove", "5000", [])):
        options = ["-f", form, "-n", n, "-S", "2K", *docs]
        expected, code, _, err = convert(old, *options)
        want, deaths, at = tree(expected), 0, 1
        bad = []
        while code == 0 and at < 4000:
            directory, kind = fresh("k"), rng.choice(["-1", "-2"])
            env = dict(os.environ, LD_PRELOAD=FAULT, FAULT_CALL="change", FAULT_AT=str(at), FAULT_ERROR=kind)
            _, died, _, _ = convert(old, *options, directory=directory, env=env)
            if died == 0:
                break
            deaths += 1
            if rng.random() < 0.3:  # kill it again
                env["FAULT_AT"] = str(rng.randrange(1, 60))
                convert(old, *options, directory=directory, env=env)
            _, again, _, said = convert(old, *options, *["--resume"] * (kind == "-2"), directory=directory)
            if again == 73 and "has shards" in said:  # it had completed everything except removing .work
                _, again, _, said = convert(old, *options, "--resume", directory=directory)
            difference = tree_difference(tree(directory), want) if again == 0 else f"exit {again}: {said}"
            if difference:
                bad.append(f"death {at} ({kind}): {difference}")
            shutil.rmtree(directory)
            at += rng.randrange(1, 250) if at > 16 else 1
        lib.ok(deaths > 15 and not bad, f"{form}: {deaths} deaths", err + "\n".join(bad[:5]))
    env = dict(os.environ, LD_PRELOAD=FAULT, FAULT_CALL="change", FAULT_AT="60", FAULT_ERROR="-1")
    directory, died, _, _ = convert(old, "-n", "170", "-S", "2K", env=env)
    for what, arguments in (("another plan", ["-n", "171"]), ("another directory", ["-n", "170"])):
        source = old if what == "another plan" else make("after", "-n", "301", "--docs", "--test", "2")
        _, code, _, err = convert(source, *arguments, "-S", "2K", directory=directory)
        lib.ok(died < 0 and code == 73 and "another directory" in err, f"an unfinished conversion is not resumed with {what}",
               f"exit {code}: {err}")
    code, _, err = line.shard(directory, streams["after"], "-n", "170", "--resume")
    lib.ok(code in (64, 73), "an unfinished conversion is not resumed with records", f"exit {code}: {err}")


# ---- Damage --------------------------------------------------------------------------------------------------------------------

def section_damage():
    """A flipped bit or a cut in any file is found. (cli/shard_hostile.t has more cases.)"""
    for form in FORMATS:
        whole = make("after", "-f", form, "-n", "900", *["--docs"] * (form in ("npy", "dolma", "datatrove")))
        names = rng.sample(sorted(files(whole)), 5)
        bad, tried = [], 0
        for name in names:
            data = lib.read(f"{whole}/{name}")
            for _ in range(8):
                broken = bytearray(data)
                at = rng.randrange(min(len(data), 200) if rng.random() < 0.5 else len(data))
                if rng.random() < 0.8:
                    broken[at] ^= 1 << rng.randrange(8)
                else:
                    del broken[at:]
                lib.write(f"{whole}/{name}", bytes(broken))
                directory, code, _, err = convert(whole, "-f", "raw", "-n", "700", "-d", "u16")
                tried += 1
                if code != 65 or f"{whole}/{name}: " not in err:
                    bad.append(f"{name} at {at}: exit {code}: {err}")
                shutil.rmtree(directory, True)
            lib.write(f"{whole}/{name}", data)
        lib.ok(not bad, f"{form}: {tried} damaged files", "\n".join(bad[:5]))


SECTIONS = [section_readers, section_types, section_megatron, section_convert, section_check, section_what_is_kept, section_refusals, section_kills,
            section_damage]

lib.own_directory(in_memory=True)
seed = lib.seed()
rng.seed(seed)
maker = line.Maker(seed)
texts = maker.documents(60000, 1500)
texts[3:3] = ["", "", "x"]
texts.append("the end")
lib.write("train.txt", line.LETTERS * 20 + lib.EOT.join(texts))
model = line.train("m.json", "train.txt")
separator = {t: i for t, i, _ in model.special}[lib.EOT.encode()]
rows = [json.dumps({"text": t, "key": f"k{i},\"\n" if i % 5 == 0 else None}) for i, t in enumerate(texts)]
data = ["".join(r + "\n" for r in rows[:len(rows) // 2]), "".join(r + "\n" for r in rows[len(rows) // 2:])]
for i, text in enumerate(data):
    lib.write(f"in put,{i}.jsonl", text)
sources = [f"in put,{i}.jsonl" for i in range(2)]
documents, streams = {}, {}
for eot in ("none", "before", "after"):
    documents[eot] = [d for i, name in enumerate(sources)
                      for d in shard_slow.documents_of(model, shard_slow.Source(name, i, data[i].encode(), "jsonl", "text", None), eot)]
    streams[eot] = lib.must("bpe-encode", "-m", "m.json", *[f"--eot={eot}"] * (eot != "none"), data=lib.must("bpe-chunk", "--jsonl", "-m", "m.json", *sources))
for section in SECTIONS:
    if not sys.argv[1:] or section.__name__[8:] in sys.argv[1:]:
        print("#", section.__doc__, flush=True)
        section()
sys.exit(lib.done())
