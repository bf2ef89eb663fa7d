"""monitor_cases.py - pipelines with a known bottleneck, for monitor.t.

Each case is a bash command and the name of the bottleneck's program. A stage is slow because it sleeps after each block (python3, or a
script of other commands), computes (spin.py), has a slow disk (a named pipe in place of a file, which another process fills or empties
slowly), or really needs the time.
"""
import os
import shutil

SLOW = """#!/usr/bin/env python3
import sys, time
rate = float(sys.argv[1])
while data := sys.stdin.buffer.read1(32768):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    time.sleep(len(data) / rate)
"""
SPIN = """import sys, time
rate = float(sys.argv[1])
while data := sys.stdin.buffer.read1(32768):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    end = time.process_time() + len(data) / rate
    while time.process_time() < end:
        pass
"""
SCRIPT = """#!/bin/bash
part=$(mktemp -p .)
while head -c 50000 >"$part"; [ -s "$part" ]; do
    cat "$part"
    sleep 0.0$1
done
"""


def prepare(text):
    """Makes the files that the cases use in this directory. text is a file of several megabytes."""
    for name, script in ("slow.py", SLOW), ("spin.py", SPIN), ("script.sh", SCRIPT):
        with open(name, "w") as f:
            f.write(script)
        os.chmod(name, 0o755)
    run = os.system
    must = [
        f"ln -f {text} text",
        "bpe-chunk - <text >value.1 && cp value.1 value.2 && cp value.1 value.3",
        "bpe-chunk -b 1M text >ranges && cat ranges ranges ranges ranges >job",
        "bpe train -v 600 -o model.json text",
        "seq 1000000 8000000 | tr '0-9\\n' 'a-j ' | bpe-chunk - | bpe-count | bpe-sum >sum",
    ]
    for line in must:
        if run(line):
            raise SystemExit(f"{line}: failed")


def slow(rng, rate):
    """A stage that passes `rate` bytes per second, and its name."""
    return rng.choice([
        (f"python3 slow.py {rate}", "python3"),
        (f"python3 slow.py {rate}", "python3"),
        (f"./script.sh {rng.randint(2, 8)}", "script.sh"),
        (f"python3 spin.py {rate}", "python3"),
    ])


COUNTED = "bpe-sum 2>/dev/null | bpe-merge -v 1000 >/dev/null"


def throttled(rng, server):
    """A pipeline with a slow stage at a random position. server: the URL of the text."""
    rate = rng.choice([300000, 1000000, 2000000])
    stage, name = slow(rng, rate)
    few = f"python3 slow.py {rng.choice([20000, 50000])}" # counts and sums are small
    lines = {
        "before bpe-chunk": (f"cat text text text | {stage} | bpe-chunk - | bpe-count | {COUNTED}", name),
        "the source": (f"{stage} <text | bpe-chunk - | bpe-count | {COUNTED}", name),
        "before bpe-count": (f"bpe-chunk - <text | {stage} | bpe-count | {COUNTED}", name),
        "before bpe-sum": (f"bpe-chunk text | bpe-count | {few} | {COUNTED}", "python3"),
        "before bpe-merge": (f"bpe-chunk text | bpe-count | bpe-sum | {few} | bpe-merge -v 1000 >/dev/null", "python3"),
        "before bpe-encode": (f"cat text | {stage} | bpe-encode -m model.json - >/dev/null", name),
        "after bpe-encode": (f"bpe-encode -m model.json text text text | {stage} >/dev/null", name),
        "compressed": (f"zstd -c text | zstdcat | {stage} | bpe-chunk - | bpe-count | {COUNTED}", name),
        "in a subshell": (f"cat text | {stage} | (bpe-chunk - | (bpe-count; true) | {COUNTED})", name),
        "a disk that is read": (f"rm -f in.$$; mkfifo in.$$; {stage} <text >in.$$ & bpe-chunk in.$$ | bpe-count | {COUNTED}", name),
        "a disk that is written": (f"rm -f out.$$; mkfifo out.$$; {stage} <out.$$ >/dev/null & "
                                   "bpe-encode -m model.json text text text >out.$$", name),
        "before parallel": (f"bpe-chunk - <text | {stage} | parallel --pipe -j 2 bpe-count 2>/dev/null | {COUNTED}", name),
        "in jobs of parallel": (f"bpe-chunk - <text | parallel --pipe --block 4M -j 2 'python3 slow.py {rate} | bpe-count' 2>/dev/null "
                                f"| {COUNTED}", "python3"),
        "in jobs of xargs": (f"ls value.* | xargs -n 1 -P 2 sh -c 'python3 slow.py {rate} <$0 | bpe-count' | {COUNTED}", "python3"),
        "in filters of split": (f"bpe-chunk - <text | split -n r/2 --filter='python3 slow.py {rate} | bpe-count' | {COUNTED}", "python3"),
        "before split": (f"bpe-chunk - <text | {stage} | split -n r/2 --filter=bpe-count | {COUNTED}", name),
        "before bpe train": (f"cat text | {stage} | bpe train -v 1000 - >/dev/null", name),
        "before bpe encode": (f"cat text | {stage} | bpe encode -m model.json - >/dev/null", name),
        "after bpe encode": (f"bpe encode -m model.json text text text | {stage} >/dev/null", name),
    }
    if server and shutil.which("curl"):
        lines["curl"] = (f"curl -s --limit-rate {rate} {server} | bpe-chunk - | bpe-count | {COUNTED}", "curl")
    if not shutil.which("parallel"):
        lines = {place: line for place, line in lines.items() if "parallel" not in place}
    place = rng.choice(sorted(lines))
    return (place, *lines[place])


def computing(rng):
    """A pipeline with slow work of its own. Run it alone, because there may be only two cores."""
    many = "while :; do cat text; done"
    lines = {
        "bpe-count": (f"({many}) | bpe-chunk - 2>/dev/null | bpe-count | {COUNTED}", "bpe-count"),
        "bpe-encode": (f"({many}) | bpe-encode -m model.json - >/dev/null", "bpe-encode"),
        "bpe-merge": ("bpe-merge -v 300000 sum sum >/dev/null", "bpe-merge"),
        "zstd": (f"({many}) | zstd -q -17 -c | zstdcat | bpe-chunk - | bpe-count | {COUNTED}", "zstd"),
        "bpe train": (f"({many}) | bpe train -j 2 -v 1000 - >/dev/null", "bpe-count"),
        "jobs of xargs": (f"yes job | xargs -n 1 -P 2 bpe-count | {COUNTED}", "bpe-count"),
    }
    place = rng.choice(sorted(lines))
    return (place, *lines[place])
