#!/usr/bin/env python3
# Tokenizer in forked and spawned processes, such as the workers of a DataLoader: the same ids, no warning.
import os
import shutil
import sys

import package
from package import lib

package.load()

SCRIPT = r'''
import multiprocessing, os, sys, threading, warnings
import bpetools

DOCS = ["low lower newest" * (n % 50) for n in range(3000)]


def ids_of(tok):
    try:
        import numpy
    except ImportError:
        return [tok.encode(doc) for doc in DOCS]
    return [ids.tolist() for ids in tok.encode_batch(DOCS, threads=3)]


def work(tok, pipe):
    pipe.send(ids_of(tok))
    pipe.close()


def child(method, tok):
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(tok, theirs))
    process.start()
    got = ours.recv()
    process.join()
    return got


def main():
    tok = bpetools.Tokenizer("tokenizer.json")
    want = ids_of(tok)
    for method in ("fork", "spawn"):
        assert child(method, tok) == want, method
    # Another thread encodes while this one forks. (Then Python 3.12 warns about threads in general.)
    warnings.simplefilter("ignore", DeprecationWarning)
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [ids_of(tok) for _ in iter(stop.is_set, True)])
    busy.start()
    for _ in range(5):
        pid = os.fork()
        if not pid:
            os._exit(ids_of(tok) != want)
        assert os.waitpid(pid, 0)[1] == 0
    stop.set()
    busy.join()


if __name__ == "__main__":
    main()
'''
LOADER = r'''
import bpetools, torch, torch.utils.data

TOK = bpetools.Tokenizer("tokenizer.json")
DOCS = ["low lower newest" * n for n in range(40)]
WANT = [torch.from_numpy(ids.astype("int64")) for ids in TOK.encode_batch(DOCS)]


class Encoded(torch.utils.data.Dataset):
    def __len__(self):
        return len(DOCS)

    def __getitem__(self, i):
        return torch.tensor(TOK.encode(DOCS[i]))


def as_they_are(batch):
    return [torch.from_numpy(ids.astype("int64")) for ids in TOK.encode_batch(DOCS[i] for i in batch)]


got = list(torch.utils.data.DataLoader(Encoded(), batch_size=None, num_workers=2))
assert all(torch.equal(a, b) for a, b in zip(got, WANT)) and len(got) == 40
batches = torch.utils.data.DataLoader(range(40), 8, num_workers=2, collate_fn=as_they_are)
got = [ids for batch in batches for ids in batch]
assert all(torch.equal(a, b) for a, b in zip(got, WANT)) and len(got) == 40
assert TOK.decode(got[3]) == DOCS[3]
'''
lib.write("script.py", SCRIPT)
lib.write("loader.py", LOADER)
pythons = {}
for name in (sys.executable, "/usr/bin/python3", "python3.12", "python3.13", "python3.14"):
    path = shutil.which(name)
    code, out, _ = lib.run([path or "false", "-c", "import sys; print(sys.executable, *sys.version_info[:2])"])
    if not code:
        pythons.setdefault(os.path.realpath(out.split()[0]), (name, path))
for name, path in pythons.values():
    code, _, err = lib.run([path, "-W", "error", "script.py"], timeout=120)
    lib.ok(code == 0 and not err, f"{name}: forked and spawned processes", err)
for name, path in pythons.values():
    if lib.run([path, "-c", "import torch"])[0] == 0:
        code, _, err = lib.run([path, "-W", "error:This process:DeprecationWarning", "loader.py"], timeout=120)
        lib.ok(code == 0, f"{name}: torch's DataLoader", err)
        break
else:
    lib.skip("torch's DataLoader", "torch is not installed")
sys.exit(lib.done())
