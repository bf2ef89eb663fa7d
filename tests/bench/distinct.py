#!/usr/bin/env python3
"""distinct.py - make bench-distinct: the cost of a distinct pretoken in bpe-sum and bpe-merge, for 10^6, 10^7 and 10^8 of them,
and an extrapolation to 10^9.

counts_make makes the counts of 4 processes, with pretokens like those of the texts. They are added up as sorted files, and from
a pipe, as unsorted counts would be, in memory and on disk. Then the merges are learned, from all pretokens and
without those that occur once. The needs of a size are predicted from the previous size; it is skipped if it needs more memory
or disk space than is free. Pages that the kernel keeps for files count as free.

Environment: CORPUS, a directory with en.txt and multi.txt (without it, synthetic text); NUMBERS (default "1M 10M 100M"). The
files take 65 bytes per pretoken in TMPDIR, and bpe-sum's own another 45."""
import contextlib
import math
import os
import shutil
import sys
import tempfile

from harness import ENV, Failure, in_session, kill_all, note, run, shell

NUMBERS = (os.environ.get("NUMBERS") or "1M 10M 100M").replace(",", " ").split()
UNITS = {"k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9}
PARTS = 4
GOAL = 10 ** 9
SPILL = 10  # bytes of memory per pretoken, so that bpe-sum must use the disk
FILES = 110  # bytes per pretoken in TMPDIR


def number(name):
    return int(name[:-1]) * UNITS[name[-1]] if name[-1] in UNITS else int(name)


def model_sum(directory):
    """The sum that counts_make imitates."""
    path, corpus = os.path.join(directory, "like.sum"), os.environ.get("CORPUS")
    texts = [os.path.join(corpus, name) for name in ("en.txt", "multi.txt")] if corpus else [os.path.join(directory, "made.txt")]
    if not corpus:
        run("text_make", "50000000", "1", output=texts[0])
    shell('bpe-chunk "$@" | bpe-count | bpe-sum', *texts, output=path)
    return path


def free_memory():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable:"))


def unnamed(link):
    """The size on disk of an open file if it is unlinked, else 0."""
    return os.stat(link).st_blocks * 512 if os.readlink(link).endswith(" (deleted)") else 0


class Disk:
    """The maximum size of the unlinked files of a session's processes."""
    def __init__(self):
        self.most = 0

    def __call__(self, process):
        now = 0
        for pid, name in in_session(process.pid):
            with contextlib.suppress(OSError):
                now += sum(unnamed(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd") if name == "bpe-sum")
        self.most = max(self.most, now)


class Bench:
    def __init__(self, directory):
        self.directory = directory
        self.like = model_sum(directory)
        self.results = {}  # stage: [(n, took)]

    def path(self, name):
        return os.path.join(self.directory, name)

    def stage(self, name, n, argv, inputs, output):
        """Runs a program, unless memory would not suffice."""
        before = self.results.setdefault(name, [])
        if before and before[-1][1]["rss"] / before[-1][0] * n > 0.9 * free_memory():
            print(f"{n:<12}{name:<32}not run: not enough memory")
            return
        note(f"{n} {name}")
        disk = Disk()
        took = run(*argv, *inputs, output=output, watch=disk)
        took.update(disk=disk.most, read=sum(map(os.path.getsize, inputs)), written=os.path.getsize(output))
        before.append((n, took))
        print(f"{n:<12}{name:<32}" + cells(n, took), flush=True)

    def measure(self, n):
        if shutil.disk_usage(self.directory).free < FILES * n:
            print(f"{n:<12}not run: the files would take {FILES * n / 1e9:.0f} GB")
            return
        parts, total, model = [self.path(f"{i}.counts") for i in range(1, PARTS + 1)], self.path("sum"), self.path("model")
        for i, part in enumerate(parts, 1):
            note(f"{n} counts_make, {i} of {PARTS}")
            run("counts_make", self.like, str(n), "1", str(i), str(PARTS), output=part)
        limits = ("in memory", 2 ** 62), ("on disk", SPILL * n)
        pipe = 'cat "${@:2}" | bpe-sum -T "$TMPDIR" -S "$1"'
        for name, limit in limits:
            self.stage(f"bpe-sum of a pipe, {name}", n, ("bash", "-c", pipe, "bash", str(limit)), parts, total)
        self.stage("bpe-sum of sorted files", n, ("bpe-sum",), parts, total)
        for part in parts:
            os.unlink(part)
        for name, *options in ("bpe-merge -v 32000",), ("the same, --min-count=2", "--min-count=2"):
            self.stage(name, n, ("bpe-merge", "-v", "32000", *options), [total], model)
        os.unlink(total)

    def foresee(self):
        """Extrapolates to GOAL: memory and files in proportion; time by the power of n that the last two sizes show."""
        for name, took in self.results.items():
            if len(took) < 2:
                continue
            (n1, a), (n2, b) = took[-2:]
            last = {key: b[key] * GOAL / n2 for key in ("rss", "disk", "read", "written")}
            for key in ("wall", "cpu"):
                last[key] = b[key] * (GOAL / n2) ** max(1, math.log(b[key] / a[key], n2 / n1))
            print(f"{GOAL:<12}{name:<32}" + cells(GOAL, last))


def cells(n, took):
    each = [f"{took[key] / n:>10.1f}" for key in ("read", "written", "disk", "rss")]
    return f"{took['wall']:>9.1f}{took['cpu']:>9.1f}{took['cpu'] / n * 1e9:>8.0f}" + "".join(each) + f"{took['rss'] / 1e9:>9.2f}"


def main():
    print(f"{'distinct':<12}{'':<32}{'s':>9}{'CPU s':>9}{'ns each':>8}" +
          "".join(f"{head:>10}" for head in ("B read", "B written", "B on disk", "B memory")) + f"{'GB':>9}")
    with tempfile.TemporaryDirectory(prefix="bpe-distinct.") as directory:
        ENV["TMPDIR"] = directory
        bench = Bench(directory)
        for name in NUMBERS:
            bench.measure(number(name))
        print("extrapolated:")
        bench.foresee()


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit(f"distinct.py: {e}")
    finally:
        kill_all()
