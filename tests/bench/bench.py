#!/usr/bin/env python3
"""bench.py RUNS FILE... - the line of the README beside Hugging Face's BpeTrainer, V = 32000, pattern gpt2.

Both are run in turn, whole processes, RUNS times; the table has medians, and what the line's stages take one by one. The machine
may be busy with other things: read the ratio."""
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ENV = dict(os.environ, PATH=BUILD + ":" + os.environ["PATH"])
HF = r"""
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
def documents(path, eot="<|endoftext|>"):
    rest = ""
    with open(path, encoding="utf-8", newline="") as f:
        while block := f.read(1 << 24):
            parts = (rest + block).split(eot)
            rest = parts.pop()
            yield from parts
    yield rest
tok = Tokenizer(models.BPE())
tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tok.train_from_iterator(documents(sys.argv[1]), trainers.BpeTrainer(vocab_size=32000, special_tokens=["<|endoftext|>"],
    show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tok.save(sys.argv[2])
"""


def timed(*command):
    start = time.monotonic()
    subprocess.run(command, env=ENV, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def shell(script, *args):
    return timed("bash", "-c", "set -o pipefail; " + script, "bench", *args)


def main():
    runs, files = int(sys.argv[1]), sys.argv[2:]
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    print(f"{cpu}, {os.cpu_count()} cores; medians of {runs}, seconds")
    print(f"{'file':22}{'MB':>6}{'line':>8}{'xargs':>8}{'HF':>9}{'HF/line':>9}{'count 1p':>10}{'sum':>7}{'merge':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        out, counts, sums = (os.path.join(scratch, n) for n in ("model", "counts", "sum"))
        xargs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pipelines", "train-xargs")
        steps = {
            "line": lambda f: shell('bpe-chunk "$1" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 32000 > "$2"', f, out),
            "xargs": lambda f: timed(xargs, "-v", "32000", "-o", out, f),
            "hf": lambda f: timed(sys.executable, "-c", HF, f, out),
            "count": lambda f: shell('bpe-chunk "$1" | bpe-count > "$2"', f, counts),
            "sum": lambda f: shell('bpe-sum "$1" > "$2"', counts, sums),
            "merge": lambda f: shell('bpe-merge -v 32000 "$1" > "$2"', sums, out),
        }
        for f in files:
            took = {name: [] for name in steps}
            for _ in range(runs):
                for name, step in steps.items():
                    took[name].append(step(f))
            m = {name: statistics.median(t) for name, t in took.items()}
            print(f"{os.path.basename(f):22}{os.path.getsize(f) / 1e6:6.0f}{m['line']:8.2f}{m['xargs']:8.2f}{m['hf']:9.2f}"
                  f"{m['hf'] / m['line']:9.1f}{m['count']:10.2f}{m['sum']:7.2f}{m['merge']:7.2f}", flush=True)


main()
