#!/usr/bin/env python3
"""shard_peers.py - compares shards with those of the packages that read them (from PyPI): numpy, and the writers and readers of datatrove
and MosaicML Streaming. The same documents must give the same bytes, and the readers must find them.

datatrove and streaming import PyTorch (and streaming much more), but need only tensors here, which numpy arrays can replace. So a small
stand-in module named torch is enough, and only the parts of streaming that read and write shards are imported.
"""
import importlib.machinery
import json
import os
import random
import shutil
import sys
import tempfile
import types
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, ".."), os.path.join(HERE, "..", "pipe")]
import lib  # noqa: E402
import shard_line as line  # noqa: E402
import shard_read  # noqa: E402

import numpy as np  # noqa: E402


def module(name, **what):
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__dict__.update(what)
    sys.modules[name] = made
    return made


def stand_in_for_torch():
    def tensor(values, dtype=None):
        return np.array(values, dtype=dtype)
    data = module("torch.utils.data", Dataset=object, IterableDataset=object)
    utils = module("torch.utils", data=data, __path__=[])
    module("torch", utils=utils, __path__=[], tensor=tensor, as_tensor=tensor, long=np.int64, int=np.int32, int64=np.int64, Tensor=np.ndarray,
           ones=lambda n, dtype: np.ones(n, dtype), cat=np.concatenate, cumsum=lambda x, dim: np.cumsum(x, axis=dim))


def parts_of_streaming():
    """The packages of streaming without running their __init__.py; parts that do not concern the format are stubs."""
    top = importlib.machinery.PathFinder.find_spec("streaming").submodule_search_locations[0]
    for name in ("streaming", "streaming.base", "streaming.base.format", "streaming.base.format.base", "streaming.base.format.mds",
                 "streaming.base.storage"):
        module(name, __path__=[os.path.join(top, *name.split(".")[1:])])
    uploader = mock.Mock()
    uploader.get = lambda out, *_: mock.Mock(local=out, remote=None)
    module("streaming.base.util", bytes_to_int=int)
    module("streaming.base.compression", compress=None, get_compression_extension=None, is_compression=None)
    module("streaming.base.hashing", get_hash=None, is_hash=None)
    module("streaming.base.storage.upload", CloudUploader=uploader)


def one(form, *options):
    """(a directory of shards, its manifest, its documents as arrays)"""
    directory = tempfile.mkdtemp(dir=".")
    os.rmdir(directory)
    code, _, err = line.shard(directory, stream, "-f", form, *options)
    if code:
        raise SystemExit(f"not ok - bpe-shard -f {form}: {err}")
    with open(directory + "/manifest.json", encoding="utf-8") as f:
        manifest = json.load(f)
    dtype = np.dtype(manifest["dtype"])
    return directory, manifest, [np.array(d.ids, dtype) for d in shard_read.read(directory).get("train", [])]


def same(a, b, what):
    lib.ok(lib.read(a) == lib.read(b), what)


def test_numpy():
    expected = np.concatenate(one("datatrove", "-n", "0")[2])
    for form, options in (("npy", []), ("npy", ["-d", "u32"]), ("npy", ["-d", "i32"])):
        directory, manifest, documents = one(form, "-n", "5000", *options)
        arrays = [np.load(f"{directory}/{s['name']}", mmap_mode="r") for s in manifest["shards"]]
        lib.ok(all(a.dtype == manifest["dtype"] for a in arrays) and np.array_equal(np.concatenate(arrays), expected),
               f"npy: np.load, {manifest['dtype']}")
        np.save("again.npy", arrays[0])
        same("again.npy", f"{directory}/{manifest['shards'][0]['name']}", "  np.save writes the same file")
    for form, offset in (("raw", 0), ("dolma", 0), ("llmc", 1024)):
        directory, manifest, _ = one(form, "-n", "5000")
        arrays = [np.memmap(f"{directory}/{s['name']}", manifest["dtype"], "r", offset) for s in manifest["shards"]]
        lib.ok(np.array_equal(np.concatenate(arrays), expected), f"{form}: np.memmap")


def test_datatrove():
    from datatrove.pipeline.tokens.tokenizer import TokenizedFile
    from datatrove.utils.dataset import DatatroveFileDataset, DatatroveFolderDataset
    for n, dtype, size in (("0", "u16", 2), ("0", "u32", 4)):
        directory, manifest, documents = one("datatrove", "-n", n, "-d", dtype)
        name = "bpetools-" + manifest["model"]["fingerprint"]
        peer = TokenizedFile("peer-" + dtype, "00000_unshuffled.ds", tokenizer_name_or_path=name, save_final_metadata=True, token_size=size)
        for d in documents:
            peer.write(d.tolist(), None)
        peer.close()
        for end in ("", ".index", ".metadata"):
            same(f"peer-{dtype}/00000_unshuffled.ds{end}", f"{directory}/00000_unshuffled.ds{end}", f"datatrove: TokenizedFile, {dtype} .ds{end}")
        found = DatatroveFileDataset(f"{directory}/00000_unshuffled.ds", 63, token_size=size, return_positions=True)
        ids = np.concatenate(documents).astype(np.int64)
        starts = np.concatenate([np.arange(len(d)) for d in documents])
        good = len(found) == len(ids) // 64
        for i in range(len(found)):
            window = starts[64 * i:64 * i + 64] - np.minimum.accumulate(np.full(64, starts[64 * i]) * (np.cumsum(starts[64 * i:64 * i + 64] == 0) == 0))
            good &= bool(np.array_equal(found[i]["input_ids"], ids[64 * i:64 * i + 64]) and np.array_equal(found[i]["positions"], window))
        lib.ok(good, f"datatrove: DatatroveFileDataset reads ids and positions, {dtype}")
    directory, manifest, documents = one("datatrove", "-n", "5000")
    whole = DatatroveFolderDataset(directory, 49, token_size=2, return_positions=True)
    ids = np.concatenate(documents).astype(np.int64)
    found = np.concatenate([whole[i]["input_ids"] for i in range(len(whole))])
    lib.ok(np.array_equal(found, ids[:len(found)]) and len(ids) - len(found) < 50, "datatrove: DatatroveFolderDataset reads all shards")


def test_streaming():
    from streaming.base.format.mds.reader import MDSReader
    from streaming.base.format.mds.writer import MDSWriter
    for dtype, column in (("u16", "uint16"), ("u32", "uint32"), ("i32", "int32")):
        directory, _, documents = one("mds", "-n", "0", "-d", dtype)
        os.makedirs("mds-" + dtype)
        with MDSWriter(columns={"tokens": "ndarray:" + column}, out="mds-" + dtype, size_limit=None) as out:
            for d in documents:
                out.write({"tokens": d})
        for name in ("shard.00000.mds", "index.json"):
            same(f"mds-{dtype}/{name}", f"{directory}/{name}", f"streaming: MDSWriter, {column}: {name}")
    directory, _, documents = one("mds", "-n", "3000")
    with open(directory + "/index.json", encoding="utf-8") as f:
        readers = [MDSReader.from_json(directory, "", s) for s in json.load(f)["shards"]]
    found = [r.decode_sample(r.get_sample_data(i))["tokens"] for r in readers for i in range(r.samples)]
    lib.ok(len(readers) > 3 and len(found) == len(documents) and all(np.array_equal(a, b) for a, b in zip(found, documents)),
           "streaming: MDSReader reads all shards")


TESTS = {"numpy": test_numpy, "datatrove": test_datatrove, "streaming": test_streaming}

seed = lib.seed()
work = tempfile.mkdtemp(prefix="bpe-test-")
os.chdir(work)
try:
    random.seed(seed)
    maker = line.Maker(seed)
    texts = maker.documents(100000, 2000) + ["the end"]
    lib.write("train.txt", line.LETTERS * 20 + lib.EOT.join(texts))
    line.train("m.json", "train.txt")
    lib.write("in.jsonl", "".join(json.dumps({"text": t}) + "\n" for t in texts))
    stream = lib.must("bpe-encode", "-m", "m.json", "--eot=after", data=lib.must("bpe-chunk", "--jsonl", "-m", "m.json", "in.jsonl"))
    stand_in_for_torch()
    for package, test in TESTS.items():
        spec = importlib.machinery.PathFinder.find_spec(package)
        if spec is None:
            lib.ok(True, f"{package} # SKIP not installed")
            continue
        if package == "streaming":
            parts_of_streaming()
        test()
finally:
    os.chdir("/")
    shutil.rmtree(work)
sys.exit(lib.done())
