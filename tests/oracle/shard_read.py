#!/usr/bin/env python3
"""shard_read.py - reads shards with plain Python readers, each written from the description of its format. The manifest lists the shards
and the documents that continue in the next shard.

    for split, documents in read(directory).items(): each document has ids, source, id, line (None without a table)

As a program: shard_read.py DIR, one line of JSON for each document.
"""
import array
import ast
import collections
import csv
import gzip
import io
import json
import os
import struct
import sys

Document = collections.namedtuple("Document", "ids source id line")
CODES = {"uint16": "H", "uint32": "I", "int32": "i"}


class Bad(Exception):
    """The files do not follow the format."""


def need(good, what):
    if not good:
        raise Bad(what)


def content(directory, name):
    with open(os.path.join(directory, name), "rb") as f:
        return f.read()


def numbers(data, code):
    out = array.array(code)
    need(len(data) % out.itemsize == 0, "the last number is incomplete")
    out.frombytes(data)
    return out.tolist()


# ---- Formats: (ids, ends of documents or None) of a shard -----------------------------------------------------------------------

def read_npy(directory, name, _):
    data = content(directory, name)
    need(data[:8] == b"\x93NUMPY\1\0", "not an .npy file of version 1.0")
    size, = struct.unpack("<H", data[8:10])
    need((10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n", "the header is not aligned")
    head = ast.literal_eval(data[10:10 + size].decode())
    need(head["fortran_order"] is False and len(head["shape"]) == 1, "not a one-dimensional array")
    ids = numbers(data[10 + size:], {"<u2": "H", "<u4": "I", "<i4": "i"}[head["descr"]])
    need(len(ids) == head["shape"][0], "the number of ids differs from the header")
    return ids, None


def read_raw(directory, name, dtype):
    return numbers(content(directory, name), CODES[dtype]), None


def read_llmc(directory, name, _):
    data = content(directory, name)
    head = struct.unpack("<256i", data[:1024])
    code = {(20240520, 1): "H", (20240801, 7): "I"}[head[:2]]
    ids = numbers(data[1024:], code)
    need(len(ids) == head[2] > 0 and not any(head[3:]), "the header is wrong")
    return ids, None


def read_megatron(directory, name, _):
    index = content(directory, name[:-len(".bin")] + ".idx")
    need(index[:9] == b"MMIDIDX\0\0", "not an index")
    version, code, n, bounds = struct.unpack("<QBQQ", index[9:34])
    need(version == 1 and len(index) == 34 + 12 * n + 8 * bounds, "the length of the index is wrong")
    lengths = numbers(index[34:34 + 4 * n], "i")
    starts = numbers(index[34 + 4 * n:34 + 12 * n], "q")
    documents = numbers(index[34 + 12 * n:], "q")
    letter = {8: "H", 4: "i"}[code]
    ids = numbers(content(directory, name), letter)
    at, ends = 0, [0]
    for length, start in zip(lengths, starts):
        need(start == at * struct.calcsize(letter), "the offset of a sequence is wrong")
        at += length
        ends.append(at)
    need(at == len(ids) and documents[0] == 0 and documents[-1] == n and documents == sorted(documents), "the index is inconsistent")
    return ids, [ends[d] for d in documents[1:]]


def read_datatrove(directory, name, dtype):
    ids = numbers(content(directory, name), CODES[dtype])
    ends = numbers(content(directory, name + ".index"), "Q")
    tokenizer, count, _ = content(directory, name + ".metadata").decode().split("\n")
    need(tokenizer.split("|")[1] == str(struct.calcsize(CODES[dtype])) and int(count) == len(ids), "the metadata is wrong")
    need(ends == sorted(ends) and (ends or [0])[-1] <= len(ids), "the ends are not in order")
    return ids, ends


def read_dolma(directory, name, dtype):
    return numbers(content(directory, name), CODES[dtype]), [end for _, end, *_ in rows(directory, name)]


def read_mds(directory, name, _):
    index = json.loads(content(directory, os.path.join(os.path.dirname(name), "index.json")))
    entry, = [s for s in index["shards"] if s["raw_data"]["basename"] == os.path.basename(name)]
    data = content(directory, name)
    need(index["version"] == entry["version"] == 2 and entry["format"] == "mds", "wrong version or format")
    need(entry["raw_data"]["bytes"] == len(data), "the size differs from the index")
    n, = struct.unpack("<I", data[:4])
    need(n == entry["samples"], "the number of samples differs from the index")
    offsets = struct.unpack("<%dI" % (n + 1), data[4:8 + 4 * n])
    config = json.loads(data[8 + 4 * n:offsets[0]])
    need(all(entry[k] == v for k, v in config.items()) and offsets[-1] == len(data), "the head of the file is wrong")
    need(config["column_names"] == ["tokens"] and config["column_sizes"] == [None], "wrong columns")
    code = CODES[config["column_encodings"][0].partition("ndarray:")[2]]
    ids, ends = [], []
    for begin, end in zip(offsets, offsets[1:]):
        size, shape = struct.unpack("<IB", data[begin:begin + 5])
        need(begin + 4 + size == end and shape >> 2 == 1, "not a one-dimensional array")
        width = 1 << (shape & 3)
        length = int.from_bytes(data[begin + 5:begin + 5 + width], "little")
        values = numbers(data[begin + 5 + width:end], code)
        need(len(values) == length > 0, "the number of ids differs from the shape")
        ids += values
        ends.append(len(ids))
    return ids, ends


READERS = {"npy": read_npy, "raw": read_raw, "llmc": read_llmc, "megatron": read_megatron, "datatrove": read_datatrove,
           "dolma": read_dolma, "mds": read_mds}


# ---- Documents ------------------------------------------------------------------------------------------------------------------

def rows(directory, name):
    """The table of documents: (start, end, id, source, line)."""
    stem = name[:-len(os.path.splitext(name)[1])] if not name.endswith(".ds") else name[:-3]
    text = gzip.decompress(content(directory, stem + ".csv.gz")).decode("utf-8", "surrogateescape")
    out = [(int(start), int(end), key, source, int(line)) for start, end, key, source, line in csv.reader(io.StringIO(text, newline=""))]
    for before, after in zip([(0, 0)] + out, out):
        need(before[1] == after[0] <= after[1], "a document does not begin where the previous one ends")
    return out


def ends_by_separator(ids, separator, eot):
    if eot == "before":
        return [i for i, v in enumerate(ids) if v == separator and i] + [len(ids)] * bool(ids)
    out = [i + 1 for i, v in enumerate(ids) if v == separator]
    return out + [len(ids)] * (bool(ids) and (not out or out[-1] < len(ids)))


def parts(directory, manifest, shard):
    """[Document, ...] of a shard, without padding."""
    name, model = shard["name"], manifest["model"]
    ids, ends = READERS[manifest["format"]](directory, name, manifest["dtype"])
    need(len(ids) == shard["tokens"], "the number of ids differs from the manifest")
    if manifest["last"] == "padded":
        end = shard["last"]["token"] + shard["last"]["tokens"]
        need(set(ids[end:]) <= {model["separator"] or 0}, "the padding has other ids than the separator")
        ids = ids[:end]
    table = rows(directory, name) if manifest["docs"] else None
    if ends is None:
        ends = [end for _, end, *_ in table] if table is not None else ends_by_separator(ids, model["separator"], model["eot"])
    need(table is None or ends == [end for _, end, *_ in table], "the table of documents differs from the index")
    need((ends or [0])[-1] == len(ids), "some ids belong to no document")
    more = [(source, key, line) for _, _, key, source, line in table] if table is not None else [(None, None, None)] * len(ends)
    return [Document(ids[begin:end], *m) for begin, end, m in zip([0] + ends, ends, more)]


def read(directory):
    """{split: [Document, ...]} of all shards in the manifest."""
    manifest = json.loads(content(directory, "manifest.json"))
    out = {}
    for shard in manifest["shards"]:
        found = parts(directory, manifest, shard)
        documents = out.setdefault(shard["split"], [])
        if found and shard.get("first", {}).get("continued") and documents:
            need(manifest["documents"] == "continue", "a document is incomplete")
            need(documents[-1][1:] == found[0][1:], "the rest of a document belongs to another one")
            documents[-1] = documents[-1]._replace(ids=documents[-1].ids + found[0].ids)
            found = found[1:]
        documents += found
    return out


if __name__ == "__main__":
    for which, all_of_it in read(sys.argv[1]).items():
        for d in all_of_it:
            print(json.dumps({"split": which, **d._asdict()}))
