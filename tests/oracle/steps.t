#!/usr/bin/env python3
"""steps.t - the steps of a pre_tokenizer split text as Hugging Face tokenizers does, for the cases written by step_peers.py. The same holds
after the model is rewritten, and where records carry its rules."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.txt")


def write_model(path, steps):
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
             "byte_fallback": False, "ignore_merges": False, "vocab": lib.BYTE, "merges": []}
    lib.write(path, json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": steps, "model": model}).encode())


def pretokens(path, text):
    return lib.must("pretok", "--models", data=f"{path} {text.encode().hex()}\n".encode()).decode().split()


def all_cases(cases):
    wrong, lines = [], []
    for i, (steps, text, _) in enumerate(cases):
        write_model(f"{i}.json", steps)
        lines.append(f"{i}.json {text.encode().hex()}\n")
    out = lib.must("pretok", "--models", data="".join(lines).encode()).decode().split("\n")
    for (steps, text, want), got in zip(cases, out):
        if got.split() != want:
            wrong.append(f"{json.dumps(steps)} on {text!r}: {got}, not {want}")
    lib.ok(len(cases) > 500 and len(out) == len(cases) + 1 and not wrong, f"{len(cases)} pre_tokenizers split text as Hugging Face does", "\n".join(wrong[:20]))


def written(cases):
    """Every 25th model is rewritten, and another is learned from counts made with it. Both must split text in the same way."""
    wrong, other = [], []
    for i in range(0, len(cases), 25):
        steps, text, want = cases[i]
        lib.write("again.json", lib.must("bpe-model", f"{i}.json"))
        if pretokens("again.json", text) != want:
            wrong.append(json.dumps(steps))
        chunks = lib.must("bpe-chunk", "-m", f"{i}.json", "--no-special", data=text.encode())
        total = lib.must("bpe-sum", data=lib.must("bpe-count", data=chunks))
        lib.write("learned.json", lib.must("bpe-merge", "-v", "257", data=total))
        if pretokens("learned.json", text) != want:
            other.append(json.dumps(steps))
    lib.ok(not wrong, "rewritten models split text in the same way", "\n".join(wrong))
    lib.ok(not other, "  as do models learned from their counts", "\n".join(other))


def main():
    lib.own_directory(in_memory=True)
    with open(FILE, encoding="ascii") as f:
        cases = [json.loads(line) for line in f if not line.startswith("#")]
    all_cases(cases)
    written(cases)
    return lib.done()


sys.exit(main())
