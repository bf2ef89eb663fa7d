"""shard_slow.py - the oracle of bpe-shard, slow and obvious, from the sources to the directory, without any package.

    documents = [d for s in sources for d in documents_of(model, s, eot)]
    shards = cut(documents, plan, facts)
    differences("shards", shards, plan, facts)      # what is wrong with a directory, in words

It follows bpe-shard(1) and the descriptions of the formats, keeps everything in memory, and has the limits of encode_slow.py.
"""
import collections
import csv
import gzip
import hashlib
import io
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import encode_slow  # noqa: E402
import xxh3  # noqa: E402

EOT = b"<|endoftext|>"
# data: the decompressed bytes. form: "" (plain text), "jsonl", "nul"; field: the field with the text; key: the field of --id, or None.
Source = collections.namedtuple("Source", "name number data form field key", defaults=("text", None))
Document = collections.namedtuple("Document", "source number offset end line id ids")
Plan = collections.namedtuple("Plan", "format n dtype name test fraction shuffle seed last docs sha256",
                              defaults=("npy", 100_000_000, "auto", None, 0, 0.0, False, 0, "short", False, False))
Part = collections.namedtuple("Part", "document token ids first goes_on")  # the part of a document that is in one shard
Shard = collections.namedtuple("Shard", "split number parts padding")


# ---- Documents and their positions -----------------------------------------------------------------------------------

def pieces(data):
    """(begin, end, end including the separator) of each text between separators."""
    at = 0
    for m in re.finditer(re.escape(EOT), data):
        yield at, m.start(), m.end()
        at = m.end()
    if at < len(data):
        yield at, len(data), len(data)


def split_text(model, text, eot):
    """(ids, begin, end) of each document in a text, which separators end."""
    for begin, end, after in pieces(text):
        ids, ends = encode_slow.encode(model, text[begin:after], eot, EOT if eot != "none" else None)
        if ends:
            assert ends == [len(ids)]
            yield ids, begin, after


def plain(model, s, eot):
    for n, (ids, begin, end) in enumerate(split_text(model, s.data, eot), 1):
        yield Document(s.name, s.number, begin, end, n, "", ids)


def one_text(model, text, eot):
    """The ids of each document in a text, which has at least one, even if it is empty."""
    found = [ids for ids, _, _ in split_text(model, text, eot)]
    separator = dict((t, i) for t, i, _ in model.special)[EOT]
    return found or [[] if eot == "none" else [separator]]


def jsonl(model, s, eot):
    at = 0
    for number, line in enumerate(s.data.split(b"\n"), 1):
        if line.strip():
            fields = json.loads(line)
            text = fields
            for name in s.field.split("."):
                text = text[name]
            key = fields.get(s.key, "") if s.key else ""
            found = one_text(model, text.encode(), eot)
            for i, ids in enumerate(found):  # each text but the last counts as one byte of the line
                end = at + i + 1 if i + 1 < len(found) else min(at + len(line) + 1, len(s.data))
                yield Document(s.name, s.number, at + i, end, number, key if isinstance(key, str) else json.dumps(key), ids)
        at += len(line) + 1


def nul(model, s, eot):
    at, n = 0, 0
    for text in (s.data + b"\0" * (not s.data.endswith(b"\0"))).split(b"\0")[:-1] if s.data else []:
        found = list(split_text(model, text, eot)) or [(one_text(model, text, eot)[0], 0, len(text))]
        for ids, begin, end in found:
            n += 1
            last = end == len(text)
            yield Document(s.name, s.number, at + begin, min(at + end + last, len(s.data)), n, "", ids)
        at += len(text) + 1


FORMS = {"": plain, "jsonl": jsonl, "nul": nul}


def documents_of(model, source, eot="none"):
    return list(FORMS[source.form](model, source, eot))


# ---- Order, splits, shards -------------------------------------------------------------------------------------------

def hash_of(d, seed):
    return xxh3.hash64(d.source.encode() + b"\0" + struct.pack("<Q", d.offset), seed)


def is_test(d, plan):
    return hash_of(d, plan.seed ^ 0x9E3779B97F4A7C15) < int(plan.fraction * 2.0 ** 64)


WHOLE = {"megatron", "mds"}


def fill(documents, plan):
    """(shards as lists of parts, number of ids in the last one)"""
    shards, have = [[]], 0
    for d in documents:
        at = 0
        while True:
            if plan.n and have >= plan.n and at < len(d.ids):  # documents without ids still go to the full shard
                shards.append([])
                have = 0
            take = len(d.ids) - at if plan.format in WHOLE or not plan.n else min(len(d.ids) - at, plan.n - have)
            shards[-1].append(Part(d, have, d.ids[at:at + take], at == 0, at + take < len(d.ids)))
            at, have = at + take, have + take
            if at == len(d.ids):
                break
    if not have:  # every shard has ids
        shards.pop()
        have = plan.n
    return shards, have


def last_of(shards, have, plan, pad):
    """(parts, padding) of each shard, with the last one short, padded or dropped."""
    padding = [[]] * len(shards)
    if shards and plan.n and have < plan.n and plan.last != "short":
        if plan.last == "dropped":
            return [(s, []) for s in shards[:-1]]
        padding[-1] = [pad] * (plan.n - have)
    return list(zip(shards, padding))


def without_lone_separators(documents, facts):
    """Megatron's preprocess_data adds no separator to a document without ids."""
    alone = [facts["separator"]]
    return [d._replace(ids=[]) if d.ids == alone and facts["eot"] == "after" else d for d in documents]


def cut(documents, plan, facts):
    """All shards, those of the test split first."""
    pad = facts["separator"] or 0
    if plan.format == "megatron":
        documents = without_lone_separators(documents, facts)
    if plan.shuffle:
        documents = sorted(documents, key=lambda d: (hash_of(d, plan.seed), d.number, d.offset))
    if plan.fraction:
        sets = [("test", [d for d in documents if is_test(d, plan)]), ("train", [d for d in documents if not is_test(d, plan)])]
        return [Shard(split, i, *s) for split, ds in sets for i, s in enumerate(last_of(*fill(ds, plan), plan, pad))]
    shards = last_of(*fill(documents, plan), plan, pad)
    return ([Shard("test", i, *s) for i, s in enumerate(shards[:plan.test])] +
            [Shard("train", i, *s) for i, s in enumerate(shards[plan.test:])])


# ---- Files -----------------------------------------------------------------------------------------------------------

def width_of(plan, vocabulary):
    if plan.dtype != "auto":
        return plan.dtype
    if plan.format == "megatron":
        return "u16" if vocabulary < 65500 else "i32"
    return "u16" if vocabulary <= 65536 else "u32"


TYPE = {"u16": ("H", 2, "uint16"), "u32": ("I", 4, "uint32"), "i32": ("i", 4, "int32")}


def ids_of(shard):
    return [i for p in shard.parts for i in p.ids] + shard.padding


def name_of(shard, plan):
    """The name of a shard without its suffix."""
    word = shard.split if plan.test or plan.fraction else ""
    if plan.format == "datatrove":
        return (word + "/" if word else "") + (plan.name + "_" if plan.name else "") + "%05d_%sshuffled" % (
            shard.number, "" if plan.shuffle else "un")
    if plan.format == "mds":
        return (word + "/" if word else "") + "shard.%05d" % shard.number
    if plan.format == "llmc":
        word = shard.split
    if plan.format in ("raw", "llmc") and word == "test":
        word = "val"
    if plan.format == "raw" and plan.n == 0 and not plan.name:
        return word or "train"
    return (plan.name or "tokens") + ("_" + word if word else "") + ("_%06d" % shard.number if plan.n else "")


def npy(ids, dtype):
    letter, size, _ = TYPE[dtype]
    kind = {"H": "u", "I": "u", "i": "i"}[letter]
    head = "{'descr': '<%s%d', 'fortran_order': False, 'shape': (%d,), }" % (kind, size, len(ids))
    return b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head.encode().ljust(117) + b"\n" + pack(ids, dtype)


def pack(ids, dtype):
    return struct.pack("<%d%s" % (len(ids), TYPE[dtype][0]), *ids)


def csv_of(shard):
    out = io.StringIO(newline="")
    rows = csv.writer(out)  # as in dolma's memmap_writer.py, rows end with CRLF
    for p in shard.parts:
        rows.writerow([p.token, p.token + len(p.ids), p.document.id or p.document.offset, p.document.source, p.document.line])
    return out.getvalue().encode()


def megatron_index(lengths, dtype):
    """The .idx file: a sequence for each document with ids, and for each document the number of sequences up to its end."""
    some, documents, at, starts = [n for n in lengths if n], [0], 0, []
    for n in lengths:
        documents.append(documents[-1] + bool(n))
    for n in some:
        starts.append(at * TYPE[dtype][1])
        at += n
    return (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8 if dtype == "u16" else 4, len(some), len(documents)) +
            struct.pack("<%di" % len(some), *some) + struct.pack("<%dq" % len(some), *starts) +
            struct.pack("<%dq" % len(documents), *documents))


def files_of(shard, plan, facts):
    """[(name, bytes), ...], the file with the ids first. A .csv.gz is uncompressed."""
    stem, dtype, ids = name_of(shard, plan), width_of(plan, facts["vocabulary"]), ids_of(shard)
    lengths = [len(p.ids) for p in shard.parts]
    if plan.format == "npy":
        files = [(stem + ".npy", npy(ids, dtype))]
    elif plan.format in ("raw", "dolma"):
        files = [(stem + (".npy" if plan.format == "dolma" else ".bin"), pack(ids, dtype))]
    elif plan.format == "llmc":
        magic = (20240520, 1) if dtype == "u16" else (20240801, 7)
        files = [(stem + ".bin", struct.pack("<256i", *magic, len(ids), *[0] * 253) + pack(ids, dtype))]
    elif plan.format == "megatron":
        stem += "_text_document"
        files = [(stem + ".bin", pack(ids, dtype)), (stem + ".idx", megatron_index(lengths, dtype))]
    else:
        raise ValueError("not known: " + plan.format)
    if plan.docs or plan.format == "dolma":
        files.append((os.path.splitext(files[0][0])[0] + ".csv.gz", csv_of(shard)))
    return files


# ---- The manifest ----------------------------------------------------------------------------------------------------

def edge(part):
    d = part.document
    return {"source": d.source, "offset": d.offset, "end": None if part.goes_on else d.end, **({"id": d.id} if d.id else {}),
            "line": d.line, "token": part.token, "tokens": len(part.ids), "continued": not part.first}


def ranges(shard):
    out = []
    for p in shard.parts:
        end = None if p.goes_on else p.document.end
        if out and out[-1][0] == p.document.source:
            out[-1][2] = end
        else:
            out.append([p.document.source, p.document.offset, end])
    return out


def entry(shard, plan, files):
    """The entry of a shard in the manifest, without checksums."""
    out = {"name": files[0][0], "split": shard.split, "number": shard.number, "tokens": len(ids_of(shard)),
           "documents": sum(p.first for p in shard.parts), "bytes": len(files[0][1])}
    if shard.parts:
        out.update(first=edge(shard.parts[0]), last=edge(shard.parts[-1]))
    if not plan.shuffle:
        out["ranges"] = ranges(shard)
    return out


def checksums(data, sha256):
    out = {"xxh128": "%032x" % xxh3.hash128(data)}
    if sha256:
        out["sha256"] = hashlib.sha256(data).hexdigest()
    return out


def chained(manifest):
    """The checksum of a manifest, chained over the checksums of all files of its shards."""
    c = bytes(16)
    for s in manifest["shards"]:
        for f in [s, *s.get("files", [])]:
            c = xxh3.hash128(c + bytes.fromhex(f["xxh128"]) + f["name"].encode()).to_bytes(16, "big")
    return c.hex()


def totals(shards):
    out = {}
    for split in ("train", "test"):
        of = [s for s in shards if s.split == split]
        out[split] = {"shards": len(of), "tokens": sum(len(ids_of(s)) for s in of),
                      "documents": sum(p.first for s in of for p in s.parts)}
    return out


def differences(directory, shards, plan, facts):
    """What is wrong with a finished directory, in words. facts: vocabulary, separator (an id or None), and other properties of the model
    in the manifest."""
    bad, manifest, wanted = [], json.loads(read(directory, "manifest.json")), {"manifest.json"}

    def equal(what, got, want):
        if got != want:
            bad.append("%s: %.300s instead of %.300s" % (what, got, want))
    equal("number of shards", len(manifest["shards"]), len(shards))
    for shard, said in zip(shards, manifest["shards"]):
        files = files_of(shard, plan, facts)
        want = entry(shard, plan, files)
        for key in sorted(set(want) | set(said) - {"xxh128", "sha256", "files"}):
            equal(files[0][0] + " " + key, said.get(key), want.get(key))
        equal(files[0][0] + " files", [said["name"], *[f["name"] for f in said.get("files", [])]], [name for name, _ in files])
        for (name, data), f in zip(files, [said, *said.get("files", [])]):
            wanted.add(name)
            got = read(directory, name)
            equal(name + " bytes", f["bytes"], len(got))
            for key, value in checksums(got, plan.sha256).items():
                equal(name + " " + key, f.get(key), value)
            if name.endswith(".gz"):
                equal(name + " time", got[4:8], bytes(4))
                got = gzip.decompress(got)
            if got != data:
                at = next((i for i, (a, b) in enumerate(zip(got, data)) if a != b), min(len(got), len(data)))
                bad.append("%s: %d instead of %d bytes, or different from byte %d on: %r instead of %r" % (
                    name, len(got), len(data), at, got[at:at + 40], data[at:at + 40]))
    equal("checksum", manifest["checksum"], chained(manifest))
    equal("totals", {k: v for k, v in manifest["totals"].items() if v["shards"]}, {k: v for k, v in totals(shards).items() if v["shards"]})
    want = {"version": 1, "format": plan.format, "dtype": TYPE[width_of(plan, facts["vocabulary"])][2], "shard_tokens": plan.n,
            "documents": "whole" if plan.format in WHOLE else "continue", "order": "shuffled" if plan.shuffle else "corpus",
            "last": plan.last, "complete": True}
    for key, value in want.items():
        equal(key, manifest.get(key), value)
    equal("test_shards", manifest.get("test_shards", 0), plan.test)
    equal("test_fraction", manifest.get("test_fraction", 0), plan.fraction)
    if plan.shuffle or plan.fraction:
        equal("seed", manifest.get("seed"), plan.seed)
    for key, value in facts.items():
        equal("model " + key, manifest["model"].get(key), value)
    there = {os.path.relpath(os.path.join(at, f), directory) for at, _, names in os.walk(directory) for f in names}
    equal("files", sorted(there), sorted(wanted | {f["name"] for f in manifest.get("files", [])}))
    return bad


def read(directory, name):
    with open(os.path.join(directory, name), "rb") as f:
        return f.read()
