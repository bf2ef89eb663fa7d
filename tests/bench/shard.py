#!/usr/bin/env python3
"""shard.py [--quick] - make bench-shard: times bpe-shard and bpe shard, compared with others; see bench.py.

Ours: from start to end, when the directory of shards is complete and synced. Theirs: the call that tokenizes and writes. All
write to memory (/dev/shm) if it has enough space."""
import glob
import os
import re
import shutil
import tempfile

import encode
from harness import HERE, Failure, memory_of_session, run, run_peer, shell
from measure import Row, Suite, at_least, at_most, beside, main

IDS, A_DOCUMENT = 500_000_000, 600  # of the records on which bpe-shard is measured separately
PEER_SECONDS = 300

ROWS = [
    Row("shard-alone", "bpe-shard, npy, one core", "GB/cpu s", "gb_cpu npy ids", [at_least(1)]),
    Row("shard-alone", "the same, wall time", "GB/s", "gb npy ids", []),
    Row("shard-alone", "shuffled", "GB/cpu s", "gb_cpu shuffled ids", [at_least(0.5)]),
    Row("shard-alone", "the same, wall time", "GB/s", "gb shuffled ids", []),
    Row("shard-alone", "megatron", "GB/cpu s", "gb_cpu megatron ids", []),
    Row("shard-alone", "with --docs", "GB/cpu s", "gb_cpu docs ids", []),
    Row("shard-part", "bpe-shard's share of CPU time, en.jsonl", "%", "percent part en.jsonl", [at_most(10)]),
    Row("shard-part", "en.txt", "%", "percent part en", [at_most(10)]),
    Row("shard-part", "en.txt, -n 10M: most shards are full", "%", "percent part_full en", [at_most(10)]),
    Row("shard-line", "bpe shard -j 2, en.jsonl", "s", "wall shard en.jsonl",
        [at_most(1 / 1.2, "wall megatron2 en.jsonl")]),
    Row("shard-line", "the same, MB of text", "MB/s", "speed shard en.jsonl", [at_least(10, "speed datatrove2 four.jsonl")]),
    Row("shard-line", "into megatron's format", "s", "wall shard_megatron en.jsonl", [at_most(1 / 1.2, "wall megatron2 en.jsonl")]),
    Row("shard-line", "20 .jsonl.zst", "s", "wall shard parts.jsonl.zst", []),
    Row("shard-line", "without shards: bpe encode -j 2", "s", "wall two-own en.jsonl", [beside("wall shard en.jsonl")]),
    Row("shard-line", "all processes (PSS)", "MB", "pss peak_shard en.jsonl", [at_most(0.2, "rss_mb megatron2 en.jsonl")]),
    Row("shard-flat", "more memory, 20 GB vs. 200 MB of ids", "MB", "rss_mb flow 20G - rss_mb flow 200M", [at_most(16)]),
    Row("shard-flat", "total for 20 GB", "MB", "rss_mb flow 20G", []),
    Row("shard-flat", "more memory, shuffled, 2 GB vs. 200 MB", "MB", "rss_mb flow_shuffled 2G - rss_mb flow_shuffled 200M", [at_most(300)]),
    Row("shard-documents", "10^8 documents of one id", "MB", "rss_mb documents 1", [at_most(300)]),
    Row("shard-documents", "without ids", "MB", "rss_mb documents 0", [at_most(300)]),
    Row("shard-documents", "of one id, megatron, one pair", "MB", "rss_mb documents_megatron 1", [at_most(300)]),
    Row("shard-documents", "of one id, shuffled", "MB", "rss_mb documents_shuffled 1", [at_most(600)]),
    Row("shard-documents", "of one id", "s of cpu", "cpu documents 1", []),
]
QUICK_LEAVES_OUT = re.compile(r" (20G|2G|1|0)\b|datatrove")
SIZES = {"200M": 100_000_000, "2G": 1_000_000_000, "20G": 10_000_000_000}  # ids of two bytes


class Texts(encode.Texts):
    """The texts of encode.py, and token records, which are in memory if it has enough space."""

    def __init__(self, scratch):
        super().__init__(scratch)
        self.memory = scratch
        if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 6e9:
            self.keeper = tempfile.TemporaryDirectory(prefix="bpe-bench-", dir="/dev/shm")
            self.memory = self.keeper.name

    def made(self, name):
        if name != "four.jsonl":
            return super().made(name)
        files = [os.path.join(self.memory, "four", os.path.basename(f)) for f in self.files("parts.jsonl")[:4]]
        os.makedirs(os.path.dirname(files[0]))  # datatrove reads a whole directory
        for copy, f in zip(files, self.files("parts.jsonl")):
            shutil.copyfile(f, copy)
        return files

    def ids(self):
        path = os.path.join(self.memory, "ids")
        run("token_make", str(IDS), str(A_DOCUMENT), output=path)
        return path

    def size(self, name):
        if name == "four.jsonl":  # its share of the text, which is 10 MB per file
            return super().size("parts.jsonl") * sum(map(os.path.getsize, self.files(name))) / sum(map(os.path.getsize, self.files("parts.jsonl")))
        return 1 if name in SIZES or name in ("0", "1") else super().size(name)

    def out(self):
        """The name of an output directory, which does not exist."""
        path = os.path.join(self.memory, "shards")
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(path + ".log", ignore_errors=True)
        return path


def total(directory):
    """The bytes of the files with ids in a directory."""
    return sum(os.path.getsize(f) for end in ("npy", "bin") for f in glob.glob(f"{directory}/*.{end}"))


# ---- Subjects ------------------------------------------------------------------------------------------------------

def alone(*options):
    """bpe-shard on one core, from a file of records."""
    def work(t, name):
        out = t.out()
        took = run("taskset", "-c", str(max(os.sched_getaffinity(0))), "bpe-shard", "-o", out, *options, t.path(name))
        if total(out) < 2 * IDS:
            raise Failure("ids are missing in the shards")
        shutil.rmtree(out)
        return dict(took, gb=2e-9 * IDS / took["wall"], gb_cpu=2e-9 * IDS / took["cpu"])
    return work


def part(tokens):
    """The pipeline without bpe, and the share of its CPU time that bpe-shard takes. tokens: per shard. The last shard, which is
    short, is read again for its checksum, because its header is only known at the end."""
    def work(t, name):
        out = t.out()
        script = ('bpe-chunk -m "$2" "${@:5}" | split -n r/2 --filter="bpe-encode -m \\"$2\\" --eot=after" | '
                  '{ TIMEFORMAT="%U %S"; time bpe-shard -o "$1" -n "$4"; } 2>"$3"')
        took = shell(script, out, t.own(name), t.tmp("shard.time"), tokens, *t.input(name))
        with open(t.tmp("shard.time")) as f:
            cpu = sum(map(float, f.read().split()[-2:]))
        shutil.rmtree(out)
        return dict(took, percent=100 * cpu / took["cpu"], shard=cpu)
    return work


def line_command(t, name, *options):
    return "bpe", "shard", "-j", "2", "-m", t.own(name), "--eot=after", "-o", t.out(), *options, *t.input(name)


def line(*options):
    def work(t, name):
        took = run(*line_command(t, name, *options))
        t.out()
        return took
    return work


def peak_line(t, name):
    most = [0]

    def watch(process):
        most[0] = max(most[0], memory_of_session(process.pid)[0])
    took = run(*line_command(t, name), watch=watch)
    t.out()
    return dict(took, pss=most[0] / 1e6)


def peer(which):
    def work(t, name):
        return run_peer(t, "shard", which, t.own(name), "2", t.out(), *t.files(name), seconds=PEER_SECONDS)
    return work


def flow(*options):
    """From a generator; shards are deleted as soon as they appear."""
    def work(t, name):
        out = t.out()

        def watch(_):
            for path in glob.glob(out + "/tokens*"):
                os.unlink(path)
        took = shell('token_make "$2" 600 | bpe-shard -o "$1" "${@:3}"', out, str(SIZES[name]), *options, watch=watch)
        t.out()
        return took
    return work


def documents(*options):
    """Very many documents, of one id or none."""
    def work(t, name):
        took = shell('token_make 100000000 "$2" | bpe-shard -o "$1" "${@:3}"', t.out(), name, *options)
        t.out()
        return took
    return work


SUBJECTS = dict(encode.SUBJECTS, **{
    "npy": alone(), "shuffled": alone("--shuffle=documents"), "megatron": alone("-f", "megatron"), "docs": alone("--docs"),
    "part": part("100M"), "part_full": part("10M"), "shard": line(), "shard_megatron": line("-f", "megatron", "-n", "0"), "peak_shard": peak_line,
    "datatrove2": peer("datatrove"), "megatron2": peer("megatron"),
    "flow": flow(), "flow_shuffled": flow("--shuffle=documents"),
    "documents": documents(), "documents_megatron": documents("-f", "megatron", "-n", "0"),
    "documents_shuffled": documents("--shuffle=documents"),
})

if __name__ == "__main__":
    peers = ["datatrove==0.10.1", "tokenizers==0.23.3", "gigatoken==0.10.0", "orjson", "numpy"]
    main(Suite(ROWS, SUBJECTS, Texts, peers, ("datatrove", "megatron2"), QUICK_LEAVES_OUT, "bench-shard"))
