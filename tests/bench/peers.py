#!/usr/bin/env python3
"""peers.py - make bench-peers: the tables of README: bpe train and bpe encode compared with current versions of other tools, on two cores.

Ours: the command from start to end, with the processes it starts. Theirs: the call that trains or encodes, on the same cores, with the
text (except for gigabpe and gigatoken, which read files) and the ids in memory. pss: megabytes of all processes, shared pages divided."""
import re

import bench
import encode
import harness
import python
from measure import Row, Suite, beside, main

PEERS = ["gigabpe==0.1.0", "tokenizers==0.23.3", "gigatoken==0.10.0", "snaptokens==0.2.6", "tiktoken==0.14.0"]
TRAINERS, ENCODERS = ["gigabpe", "tokenizers"], ["gigatoken", "snaptokens", "tokenizers_rc3", "tiktoken"]
MODELS = ["own", "llama3", "o200k"]
ROWS = [
    *(Row("peers-train", f"bpe train -v 32000, {text}", "s", f"wall train {text}",
          [beside(f"wall {who} {text}") for who in ["pipeline", *TRAINERS]]) for text in ("en", "multi")),
    Row("peers-train", "all processes (PSS), en", "MB", "pss train en", [beside("pss pipeline en")] + [beside(f"rss_mb {who} en") for who in TRAINERS]),
    *(Row("peers-encode", f"bpe encode, en, {model}", "s", f"wall encode-{model} en",
          [beside(f"wall {who}-{model} en") for who in ENCODERS]) for model in MODELS),
    *(Row("peers-encode", f"all processes (PSS), {model}", "MB", f"pss encode-{model} en",
          [beside(f"rss_mb {who}-{model} en") for who in ENCODERS]) for model in MODELS),
]


def timed(command, watched):
    """The wall time of command, and the memory of watched: the same work, slowed down by being watched."""
    return lambda t, *args: dict(command(t, *args), pss=watched(t, *args)["pss"])


def in_own_venv(f):
    def run(*args):
        others = dict(harness.venv)
        harness.make_venv([python.NEWEST], python.VENV)
        try:
            return f(*args)
        finally:
            harness.venv.update(others)
    return run


OURS = timed(encode.two, encode.peak_two)
THEIRS = {"gigatoken": encode.peer("gigatoken", 2), "snaptokens": encode.peer("snaptokens", 2), "tiktoken": encode.peer("tiktoken", 2),
          "tokenizers_rc3": in_own_venv(encode.peer("hf", 2)), "encode": OURS}
SUBJECTS = {
    "train": timed(bench.train(), bench.peak_train()), "pipeline": timed(bench.line(bench.LINE), bench.peak_line),
    "gigabpe": bench.peer("gigabpe", 32000), "tokenizers": bench.peer("hf", 32000),
    **{f"{who}-{model}": lambda t, name, f=f, model=model: f(t, t.model(model, name), name) for who, f in THEIRS.items() for model in MODELS},
}

if __name__ == "__main__":
    main(Suite(ROWS, SUBJECTS, encode.Texts, PEERS, (*TRAINERS, *ENCODERS), re.compile("multi|tokenizers|tiktoken|llama3|o200k"), "bench-peers"))
