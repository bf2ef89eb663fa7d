"""upload_shards.py - directories of shards for upload.t, as bpe-shard makes them: the manifest grows, and is replaced by rename.

    shards = Shards("d", 5).finish(2)   # five shards in d.want, two of them in d
    shards.finish(5)                    # all in d, with a complete manifest
"""
import hashlib
import json
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "oracle")]
import lib  # noqa: E402
import xxh3  # noqa: E402

os.environ["SEED"] = str(lib.seed())  # for the processes of one test
RNG = random.Random(os.environ["SEED"])


def checksum(path):
    return xxh3.hash128(lib.read(path)).to_bytes(16, "big").hex()


class Shards:
    """`want` has all shards and the complete manifest; `path`, where upload works, gets them one by one."""

    def __init__(self, path, n, size=30000, further=True, sha256=False, names="tokens_%06d.npy"):
        """names: the names of the format npy, or mds. further: with tables of documents."""
        self.path, self.want, self.n = path, path + ".want", n
        self.top = {"version": 1, "software": 'bpetools "\\', "dtype": "uint16", "shard_tokens": size // 2, "docs": further, "sha256": sha256}
        if names.endswith(".mds"):
            self.top.update(format="mds", test_fraction=0.5)
        else:
            self.top.update(format="npy", name=names[:-len("_%06d.npy")])
        self.shards, self.extra = [], []
        for i in range(n):
            files = [self.make(names % i, size + RNG.randrange(1000), sha256)]
            if further:
                files.append(self.make(os.path.splitext(names % i)[0] + ".csv.gz", RNG.randrange(2000), sha256))
            shard = {"name": files[0]["name"], "split": "train", "number": i, "tokens": size // 2, "documents": 3, **files[0]}
            self.shards.append({**shard, "files": files[1:]} if further else shard)
        self.extra = [self.make("train/index.json", 100, sha256)] if names.endswith(".mds") else []
        os.makedirs(path + "/.work")
        lib.write(path + "/.work/lock", "")
        self.manifest(self.want, n, True)

    def make(self, name, size, sha256):
        path = os.path.join(self.want, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lib.write(path, RNG.randbytes(size))
        made = {"name": name, "bytes": size, "xxh128": checksum(path)}
        return {**made, "sha256": hashlib.sha256(lib.read(path)).hexdigest()} if sha256 else made

    def manifest(self, where, n, complete):
        top = ",\n".join(f'  "{k}": {json.dumps(v, ensure_ascii=False)}' for k, v in self.top.items())
        lines = ",\n".join("    " + json.dumps(s, ensure_ascii=False) for s in self.shards[:n])
        lib.write(where + "/m.tmp", f'{{\n{top},\n  "model": {{"special_tokens": ["<|endoftext|>"]}},\n'
                  f'  "reading": null,\n  "shards": [\n{lines}\n  ],\n  "files": {json.dumps(self.extra if complete else [])},\n'
                  f'  "complete": {json.dumps(complete)},\n  "totals": {{"train": {{"shards": {n}, "part": -1.5e3}}}},\n  "checksum": "{self.chained(n)}"\n}}\n')
        os.rename(where + "/m.tmp", where + "/manifest.json")

    def chained(self, n):
        c = bytes(16)
        for s in self.shards[:n]:
            for f in (s, *s.get("files", [])):
                c = xxh3.hash128(c + bytes.fromhex(f["xxh128"]) + f["name"].encode()).to_bytes(16, "big")
        return c.hex()

    def names(self, n=None):
        return [f["name"] for s in self.shards[:n] for f in [s, *s.get("files", [])]]

    def finish(self, n, complete=None):
        """Finishes the first n shards."""
        complete = n == self.n if complete is None else complete
        done = set(self.names(self.finished)) if hasattr(self, "finished") else set()
        for name in [*self.names(n), *[f["name"] for f in self.extra if complete]]:
            if name not in done:
                path = os.path.join(self.path, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.copyfile(os.path.join(self.want, name), path)
        self.finished = n
        self.manifest(self.path, n, complete)
        return self

    def local(self):
        """The files in the directory."""
        return sorted(os.path.relpath(os.path.join(d, f), self.path) for d, _, files in os.walk(self.path) for f in files if "/.work" not in d)


def tree(path):
    return {os.path.relpath(os.path.join(d, f), path): lib.read(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files}


def other_than_wanted(remote, shards):
    """The files on the remote that are wrong, missing or extra, or the error of rclone; "" if all are right."""
    code, err = remote.copy_to("got")
    got, want = tree("got"), tree(shards.want)
    wrong = sorted(k for k in set(got) | set(want) if got.get(k) != want.get(k))
    return f"rclone {code} {err}\nother than wanted: {wrong}" if code or wrong else ""
