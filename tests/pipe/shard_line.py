"""shard_line.py - for tests of shards: makes sources and a model, and runs bpe-chunk | bpe-encode with any fan-out."""
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "oracle"), HERE]
import encode_slow  # noqa: E402
import lib  # noqa: E402
import records  # noqa: E402
import shard_slow  # noqa: E402

EOT = lib.EOT
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHéü語"


def words(rng, n):
    return ["".join(rng.choices(LETTERS, k=min(rng.randrange(1, 9), rng.randrange(1, 9)))) for _ in range(n)]


class Maker:
    """Makes random documents from a vocabulary of words, with newlines at which text can be cut."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.words = words(self.rng, 400)

    def document(self, n):
        """About n words."""
        parts = []
        for word in self.rng.choices(self.words, k=n):
            parts += [word, self.rng.choice([" "] * 8 + ["\n", "\n", ". ", "  ", "'s ", "7 "])]
        return "".join(parts)

    def documents(self, size, longest=3000):
        """Documents with about `size` characters in total: most are short, some long, a few empty."""
        out = []
        while size > 0:
            n = self.rng.choice([0, 1, self.rng.randrange(20), self.rng.randrange(200), self.rng.randrange(200)])
            if self.rng.random() < 0.05:
                n = self.rng.randrange(longest)
            out.append(self.document(n))
            size -= len(out[-1]) + 10
        return out


def train(path, *sources):
    """Writes a model of 400 tokens. Returns its oracle."""
    chunks = lib.must("bpe-chunk", *sources)
    out = lib.must("bpe-merge", "-v", "400", data=lib.must("bpe-sum", data=lib.must("bpe-count", data=chunks)))
    lib.write(path, out)
    return encode_slow.load(path)


def encode(model, chunks, *options):
    """Encodes chunks or ranges with one process. Returns the token records."""
    return lib.must("bpe-encode", "-m", model, *options, data=b"".join(chunks))


def is_promise(record):
    return records.kind(record) == "P"


def batches(stream):
    """The records of each batch; the promises are in the first."""
    found, promises = {}, []
    for record in records.split(stream):
        if is_promise(record):
            promises.append(record)
        else:
            found.setdefault(records.batch_of(record), []).append(record)
    found = [b"".join(b) for b in found.values()]
    return [b"".join(promises) + b"".join(found[:1])] + found[1:]


def fan_out(model, chunks, n, *options):
    """Encodes with n processes. Returns the output of each; the first gets the promises."""
    work = [[] for _ in range(n)]
    i = 0
    for record in chunks:
        work[0 if is_promise(record) else i % n].append(record)
        i += not is_promise(record)
    return [encode(model, w, *options) for w in work if w]


def tree(directory):
    """The files and directories below a directory, as diff -r compares them."""
    out = {}
    for at, below, names in os.walk(directory):
        out.update((os.path.relpath(os.path.join(at, name), directory) + "/", b"") for name in below)
        for name in names:
            path = os.path.join(at, name)
            out[os.path.relpath(path, directory)] = lib.read(path)
    return out


def tree_difference(a, b):
    """A description of the first difference between two trees, or None."""
    if sorted(a) != sorted(b):
        return f"files {sorted(a)} and {sorted(b)}"
    for name in sorted(a):
        if a[name] != b[name]:
            at = lib.first_difference(a[name], b[name])
            return f"{name}: {len(a[name])} and {len(b[name])} bytes, different from {at} on: {a[name][at:at + 60]} {b[name][at:at + 60]}"
    return None


def facts(model, token_records, oracle, eot):
    """The model's members in the manifest."""
    some = next(records.tokens(r) for r in records.split(token_records) if records.kind(r) == "T")
    ids = set(oracle.token.values()) | {i for _, i, _ in oracle.special}
    separator = {t: i for t, i, _ in oracle.special}[EOT.encode()]
    return {"fingerprint": "%016x" % int.from_bytes(some.model, "little"), "vocabulary": max(ids) + 1, "pattern": "gpt2",
            "special_tokens": [t.decode() for t, _, _ in oracle.special], "eot": eot, "separator": separator, "special": "token"}


def shard(directory, stream, *options, timeout=60):
    return lib.run(["bpe-shard", "-o", directory, *options], stream, timeout)


def compress(path, way):
    """Compresses a file. Returns the name of the compressed file."""
    out = path + (".gz" if way == "gzip" else ".zst")
    command = {"gzip": ["gzip", "-n", "-c", path], "zstd": ["zstd", "-q", "-c", path], "pzstd": ["pzstd", "-q", "-c", "-p", "2", path]}[way]
    with open(out, "wb") as f:
        subprocess.run(command, stdout=f, check=True)
    return out
