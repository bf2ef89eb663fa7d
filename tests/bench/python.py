#!/usr/bin/env python3
"""python.py [--quick] - make bench-python: times the Python package, compared with others; see bench.py.

The calls are those of python_call.py, in a venv; the package is that of this source tree, with the programs in $BUILD. The work of
one core is compared by CPU time."""
import json
import os
import re
import statistics
import subprocess
import sys

import encode
import harness
from harness import BUILD, ENV, HERE, TOP, Failure, run
from measure import Row, Suite, at_least, at_most, beside, main

FORTY = "The quick brown fox jumps over the lazy d"[:40]
IMPORT = "import time; t = time.perf_counter(); import bpetools; print((time.perf_counter() - t) * 1e3)"

ROWS = [
    Row("python-call", "encode of 40 bytes, minus the C call", "us", "us call-own en - us c-own en", [at_most(3)]),
    Row("python-call", "the C call", "us", "us c-own en", []),
    Row("python-batch", "encode_batch, English, one core", "MB/cpu s", "rate list1-own en",
        [at_least(3, "rate tokenizers1-own en"), at_least(2, "rate gigatoken_list1-own en"), at_least(2, "rate snaptokens1-own en"),
         beside("rate snaptokens_flat1-own en"), beside("rate null-own en")]),
    Row("python-batch", "multilingual", "MB/cpu s", "rate list1-own multi",
        [beside("rate tokenizers1-own multi"), beside("rate gigatoken_list1-own multi"), beside("rate snaptokens1-own multi"),
         beside("rate snaptokens_flat1-own multi"),
         beside("rate null-own multi")]),
    Row("python-two", "speedup of two threads", "times", "speedup against_list-own en", [at_least(1.6), beside("speedup spin-two none")]),
    Row("python-train", "train_from_iterator, English", "s", "wall train_list-own en", [at_most(1.3, "wall train-own en.jsonl")]),
    Row("python-train", "multilingual", "s", "wall train_list-own multi", [at_most(1.3, "wall train-own multi.jsonl")]),
    Row("python-import", "import bpetools", "ms", "ms import-own none", [at_most(30)]),
    Row("python-memory", "streaming 1 GB, Python's process", "MB", "rss_mb stream-own en", [at_most(150)]),
]
# This version cannot train, so it has its own venv; another venv has the version that can.
NEWEST, VENV = "tokenizers==1.0.0rc3", os.path.join(BUILD, "bench-python")
PEERS = "tokenizers", "gigatoken", "snaptokens", "list", "against", "call", "train_list", "stream", "import"  # in the venv
QUICK_LEAVES_OUT = re.compile(r"multi|tokenizers|stream-")


def call(t, *arguments):
    """Runs python_call.py; returns its report."""
    if not harness.venv["bin"]:
        raise Failure(harness.venv["why"])
    argv = ["env", f"PYTHONPATH={TOP}/pipelines/python", harness.venv["bin"] + "/python3", HERE + "/python_call.py", *arguments]
    run(*argv, timeout=300, output=t.tmp("call"))
    with open(t.tmp("call")) as f:
        return json.load(f)


def of_list(what, cores):
    return lambda t, model, name: call(t, what, model, str(cores), t.path(name))


def against_list(t, model, name):
    return harness.speedup(*(of_list("bpetools", cores)(t, model, name) for cores in (1, 2)))


def c_call(t, model, _):
    run(f"{BUILD}/tests/bench/encode_call", model, FORTY, output=t.tmp("c"))
    with open(t.tmp("c")) as f:
        return {"us": float(f.read())}


def train(t, _, name):
    return run(*encode.TRAIN[:2], "-v", "32000", "-o", t.tmp("model.json"), *t.input(name))


def import_time(t, *_):
    def once():
        argv = [harness.venv["bin"] + "/python3" if harness.venv["bin"] else sys.executable, "-c", IMPORT]
        made = subprocess.run(argv, env=env, stdout=subprocess.PIPE, check=True)
        return float(made.stdout)
    # With bytecode, like an installed package; the first import writes it.
    env = dict(ENV, PYTHONPATH=f"{TOP}/pipelines/python", PYTHONPYCACHEPREFIX=t.tmp("pycache"), PYTHONDONTWRITEBYTECODE="")
    return {"ms": statistics.median(once() for _ in range(15))}


OURS = {
    "list1": of_list("bpetools", 1), "tokenizers1": of_list("tokenizers", 1), "gigatoken_list1": of_list("gigatoken", 1),
    "snaptokens1": of_list("snaptokens", 1), "snaptokens_flat1": of_list("snaptokens_flat", 1), "against_list": against_list,
    "call": lambda t, model, _: call(t, "call", model, "1", FORTY), "c": c_call, "train": train,
    "train_list": lambda t, _, name: call(t, "train", "-", "2", t.path(name)), "import": import_time,
    "stream": lambda t, _, name: call(t, "stream", "32000", "2", t.path(name)),
}
SUBJECTS = dict(encode.SUBJECTS, **{f"{what}-own": lambda t, name, f=f: f(t, t.model("own", name), name) for what, f in OURS.items()})
SUBJECTS["import-own"] = import_time

if __name__ == "__main__":
    main(Suite(ROWS, SUBJECTS, encode.Texts, [NEWEST, "gigatoken==0.10.0", "snaptokens==0.2.6", "numpy"],
               PEERS,
               QUICK_LEAVES_OUT, "bench-python", venv=VENV))
