#!/usr/bin/env python3
"""scale.py - make bench-scale: the cost of each stage as the work grows, the cost of spreading it over processes, and whether
bpe plan predicts them.

Text made by text_make, 100 MB, 1 GB and 10 GB, goes through bpe train, bpe encode and bpe shard, unmodified, with 1 and 2
processes. Each program that they start is run by `used`, which logs the resources it takes. The rest of the total is the overhead of
the fan-out: bpe, the shell, xargs and split, GNU parallel. Peaks are those of the largest single process.

The estimates of bpe plan, from samples of 1, 10 and 100 MB of texts at least ten times as large, are compared with what the
programs take; with a CORPUS, also on real text.

Environment, in addition to that of bench.py: SIZES (default "100M 1G 10G"; units are decimal), PROCESSES (default "1 2"), RUNS
(default 3; runs of more than 20 s are not repeated). The text and the files made from it take 1.7 times its size in TMPDIR."""
import contextlib
import json
import os
import re
import shutil
import statistics
import time

import corpus
import report
from harness import BUILD, ENV, note, run, shell
from measure import Row, Suite, main

UNITS = {"K": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9, "T": 10 ** 12}
DEFAULT_SIZES = "100M 1G 10G"
SIZES = (os.environ.get("SIZES") or DEFAULT_SIZES).replace(",", " ").split()
PROCESSES = [int(p) for p in (os.environ.get("PROCESSES") or "1 2").replace(",", " ").split()]
REAL = ["en", "multi", "real"] if os.environ.get("CORPUS") else []
SAMPLES = "1M", "10M", "100M"  # of bpe plan
VOCABULARY = "32000"
PROGRAMS = ("bpe-chunk", "bpe-count", "bpe-sum", "bpe-merge", "bpe-encode", "bpe-shard")
WORKERS = ("bpe-count", "bpe-encode")


class Texts(corpus.Texts):
    """Synthetic texts, named by their size; each begins with the smaller ones. Real texts: see corpus.py; real is en and multi."""

    def real(self):
        path = self.tmp("real.txt")
        shell('cat "${@:2}" > "$1"', path, self.path("en"), self.path("multi"))
        return path

    def made(self, name):
        if not is_size(name):
            return super().made(name)
        path = self.tmp(name + ".txt")
        note(f"making {name} of text")
        run("text_make", str(n_bytes(name)), "1", output=path)
        os.sync()
        return [path]

    def model(self):
        """The model for encoding, trained on the smallest text."""
        def make():
            path = self.tmp("model.json")
            run("bpe", "train", "-v", VOCABULARY, "-o", path, self.path(SIZES[0]))
            return path
        return self.fact("model", make)

    def links(self):
        """A directory in which each program is a link to `used`."""
        def make():
            directory = self.tmp("bin")
            os.mkdir(directory)
            for program in PROGRAMS:
                os.symlink(os.path.join(BUILD, "tests", "bench", "used"), os.path.join(directory, program))
            for name in "pipelines", "man":
                os.symlink(os.path.join(BUILD, name), os.path.join(directory, name))
            shutil.copy(os.path.join(BUILD, "bpe"), directory)  # it starts the programs in its directory
            return directory
        return self.fact("links", make)


    def distinct(self, name):
        """The number of distinct pretokens of a text."""
        def make():
            path = self.tmp("distinct")
            shell('bpe-chunk "$2" | split -n r/2 --filter=bpe-count | bpe-sum | bpe-view | grep -c "^[0-9]" > "$1"', path, self.path(name))
            with open(path) as f:
                return int(f.read())
        return self.fact(("distinct", name), make)


def is_size(name):
    return re.fullmatch(r"(\d+)([KMGT]?)", name)


def n_bytes(name):
    number, unit = is_size(name).groups()
    return int(number) * UNITS.get(unit, 1)


# ---- Runs, by stages -----------------------------------------------------------------------------------------------

@contextlib.contextmanager
def written_down(t):
    """The file in which `used` logs the programs, while the context is open."""
    path, before = t.tmp("used"), ENV["PATH"]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    ENV.update(PATH=f"{t.links()}:{before}", USED=path, USED_PROGRAMS=BUILD)
    try:
        yield path
    finally:
        ENV["PATH"] = before
        del ENV["USED"], ENV["USED_PROGRAMS"]


def read_used(path):
    """Reads the log: {program: the sums and maxima of its processes}."""
    stages = {}
    with open(path) as f:
        for line in f:
            name, _, *numbers = line.split()
            start, end, cpu, rss, read, written = map(float, numbers)
            s = stages.setdefault(name, {"n": 0, "cpu": 0, "rss": 0, "start": start, "end": end, "read": 0, "written": 0})
            s.update(n=s["n"] + 1, cpu=s["cpu"] + cpu, rss=max(s["rss"], rss), start=min(s["start"], start),
                     end=max(s["end"], end), read=s["read"] + read, written=s["written"] + written)
    return stages


def staged(t, name, processes, *argv):
    """Runs a command; returns what the whole and each stage took. fan_out: CPU seconds outside the stages; first: seconds until the
    first worker starts; work: seconds from then until the last one ends; idle: the part of that time in which workers do not compute."""
    with written_down(t) as path:
        begin = time.monotonic()
        took = run(*argv)
        stages = read_used(path)
    work = next(stages[w] for w in WORKERS if w in stages)
    span = work["end"] - work["start"]
    return dict(took, bytes=t.size(name), stages=stages, fan_out=took["cpu"] - sum(s["cpu"] for s in stages.values()), first=work["start"] - begin,
                work=span, idle=max(0, 1 - work["cpu"] / (processes * span)))


def train(processes, how):
    def subject(t, name):
        return staged(t, name, processes, "bpe", "train", "-j", str(processes), f"--fan-out={how}", "-v", VOCABULARY,
                      "-o", t.tmp("trained.json"), t.path(name))
    return subject


def encode(processes):
    def subject(t, name):
        return staged(t, name, processes, "bpe", "encode", "-j", str(processes), "-m", t.model(), t.path(name))
    return subject


def shard(processes):
    def subject(t, name):
        out = t.tmp("shards")
        took = staged(t, name, processes, "bpe", "shard", "-j", str(processes), "-m", t.model(), "-o", out, t.path(name))
        shutil.rmtree(out)
        return took
    return subject


def plan(sample):
    """The estimates of bpe plan for a text, and the measured figures to compare them with, except those of bpe train."""
    def subject(t, name):
        said = t.tmp("plan.json")
        took = run("bpe", "plan", "--json", "-j", str(PROCESSES[-1]), "-v", VOCABULARY, f"--sample={sample}", t.path(name), output=said)
        with open(said) as f:
            whole = json.load(f)
        return dict(took, distinct=t.distinct(name), error=whole["heaps"]["held_out"]["error"], seconds=whole["seconds"],
                    range=[whole[way]["distinct"] for way in ("from", "to")], expected=whole["expected"])
    return subject


SUBJECTS = {f"plan-{s}": plan(s) for s in SAMPLES}
for p in PROCESSES:
    SUBJECTS.update({f"train-{how}-{p}": train(p, how) for how in ("auto", "xargs", "parallel")})
    SUBJECTS.update({f"encode-{p}": encode(p), f"shard-{p}": shard(p)})
ROWS = [Row(subject.partition("-")[0], f"{subject} {size}", "s", f"wall {subject} {size}", [])
        for size in SIZES for subject in SUBJECTS if not subject.startswith("plan")]
PLANNED = [("1M", "10M")] + [(s, size) for size in SIZES for s in SAMPLES[1:] if n_bytes(size) >= 10 * n_bytes(s)] + [("10M", r) for r in REAL]
MEASURED = f"train-auto-{PROCESSES[-1]}"
ROWS += [Row("plan", f"{subject} {text}", "s", f"wall {subject} {text}", []) for s, text in PLANNED for subject in (MEASURED, f"plan-{s}")]


# ---- The table -----------------------------------------------------------------------------------------------------

FAN_OUT = {"auto": "bpe", "xargs": "xargs, split", "parallel": "GNU parallel", "encode": "bpe", "shard": "a socket"}


def median(runs, *path):
    """The median over the runs of the number at these nested keys; None if a run lacks it."""
    def find(value):
        for key in path:
            value = value.get(key, {})
        return value
    found = [find(r) for r in runs]
    return None if {} in found else statistics.median(found)


def seconds(x):
    return "-" if x is None else f"{x:.2f}" if x < 9.995 else f"{x:.1f}"


def stage_cells(runs, stage, size):
    """CPU seconds, MB of text per CPU second, and the peak in MB."""
    cpu, rss = median(runs, "stages", stage, "cpu"), median(runs, "stages", stage, "rss")
    if cpu is None:
        return "-", "-", "-"
    return seconds(cpu), f"{size / max(cpu, 1e-4) / 1e6:.0f}", f"{rss / 1e6:.0f}"


def staged_runs(sample):
    """The runs that belong in the tables of stages."""
    return [r for r in sample["runs"] if "stages" in r] if sample["text"] in SIZES else []


def stage_lines(samples):
    yield "text", "processes", "stage", "CPU s", "MB/CPU s", "peak MB", "MB/s"
    for sample in samples:
        kind, *_, processes = sample["subject"].split("-")
        runs = staged_runs(sample)
        if not runs or (kind == "train" and "auto" not in sample["subject"]):
            continue
        size = runs[0]["bytes"]
        for stage in PROGRAMS:
            if median(runs, "stages", stage, "cpu") is not None and (kind == "train" or stage != "bpe-chunk"):
                span = statistics.median(r["stages"][stage]["end"] - r["stages"][stage]["start"] for r in runs)
                rate = f"{size / span / 1e6:.0f}" if stage in WORKERS else ""
                yield (sample["text"], processes, stage + (" for shards" if kind == "shard" and stage in WORKERS else ""),
                       *stage_cells(runs, stage, size), rate)


def fan_out_lines(samples):
    yield "text", "processes", "run", "fan-out", "s", "MB/s", "CPU s", "its own", "%", "first after s", "work s", "idle %"
    for sample in samples:
        runs = staged_runs(sample)
        if not runs:
            continue
        size = runs[0]["bytes"]
        kind, *how, processes = sample["subject"].split("-")
        by = FAN_OUT[how[0] if how else kind]
        if how == ["auto"] and processes == "1":
            by = "none"
        wall, cpu, own = (median(runs, key) for key in ("wall", "cpu", "fan_out"))
        yield (sample["text"], processes, f"bpe {kind}", by, seconds(wall), f"{size / wall / 1e6:.0f}", seconds(cpu), seconds(own),
               f"{100 * own / cpu:.1f}", f"{median(runs, 'first'):.3f}", seconds(median(runs, "work")),
               f"{100 * median(runs, 'idle'):.0f}")


def plan_lines(samples):
    """Estimates divided by measurements."""
    yield ("text", "sample", "distinct", "plan", "in the range", "held-out", "counts", "sum", "MB: count", "sum", "merge",
           "CPU s: count", "sum", "merge", "all, s")
    runs = {(s["subject"], s["text"]): s["runs"] for s in samples}
    for sample, text in PLANNED:
        found, said = runs.get((MEASURED, text)), runs.get((f"plan-{sample}", text))
        if not found or not said:
            continue
        expected, distinct = said[-1]["expected"], said[-1]["distinct"]
        low, high = said[-1]["range"]

        def ratio(foreseen, *path):
            return f"{foreseen / median(found, *path):.2f}"
        cpu = {s["name"]: s["cpu_seconds"] for s in expected["stages"]}
        yield (text, sample, str(distinct), f"{expected['distinct'] / distinct:.2f}", "yes" if low <= distinct <= high else "NO",
               f"{100 * said[-1]['error']:+.1f} %",
               ratio(expected["counts"], "stages", "bpe-count", "written"), ratio(expected["sum"], "stages", "bpe-sum", "written"),
               *(ratio(expected[f"{s}_memory"], "stages", f"bpe-{s}", "rss") for s in ("count", "sum", "merge")),
               *(ratio(cpu[s], "stages", f"bpe-{s}", "cpu") for s in ("count", "sum", "merge")),
               ratio(said[-1]["seconds"], "wall"))


def table(whole):
    samples = whole["samples"]
    return "\n".join(whole["machine"]) + f"""

Each program in bpe train, bpe encode and bpe shard: CPU seconds of all its processes; MB of text per CPU second; peak memory of
its largest process; MB/s from the start of its first process to the end of its last.

{report.columns(stage_lines(samples))}
Overhead of the fan-out: CPU seconds in total, and the part spent outside these programs (by bpe or its script, and by what
distributes the work); when the first worker started; how long the workers ran, and the share of that time in which they waited.

{report.columns(fan_out_lines(samples))}
Estimates of bpe plan, from a sample taken at many places in the text, divided by what was measured for bpe train with {PROCESSES[-1]}
processes.

{report.columns(plan_lines(samples))}"""


if __name__ == "__main__":
    os.environ["RUNS"] = os.environ.get("RUNS") or "3"
    main(Suite(ROWS, SUBJECTS, Texts, [], (), re.compile("10G"), "bench-scale", tuple(SUBJECTS), table,
               keep=SIZES == DEFAULT_SIZES.split()))
