#!/usr/bin/env python3
"""scale.py - make bench-scale: what each stage costs as the work grows, what spreading it over processes costs, and whether
bpe plan foresees it.

Text made by text_make, 100 MB, 1 GB and 10 GB, through bpe train, bpe encode and bpe shard as they are, by 1 and 2
processes. Each program in them is run by `used`, which writes down what it took; what the whole took beyond that is the
fan-out's: bpe, the shell, xargs and split, GNU parallel. Peaks are of one process, the largest.

bpe plan, from samples of 1, 10 and 100 MB of texts that are ten times as large and larger, is held against what the programs
then take; with a CORPUS also on real text.

Environment, besides that of bench.py: SIZES (default "100M 1G 10G"; bytes are decimal), PROCESSES (default "1 2"), RUNS
(default 3; what takes more than 20 s is run once). The text and what is made of it take 1.7 times its size in TMPDIR."""
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
    """Texts that are named by their size: each begins with the smaller ones. Real ones: see corpus.py; and both in one."""

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
        """For encoding: of the smallest text."""
        def make():
            path = self.tmp("model.json")
            run("bpe", "train", "-v", VOCABULARY, "-o", path, self.path(SIZES[0]))
            return path
        return self.fact("model", make)

    def links(self):
        """A directory in which each program is run by `used`."""
        def make():
            directory = self.tmp("bin")
            os.mkdir(directory)
            for program in PROGRAMS:
                os.symlink(os.path.join(BUILD, "tests", "bench", "used"), os.path.join(directory, program))
            for name in "pipelines", "man":
                os.symlink(os.path.join(BUILD, name), os.path.join(directory, name))
            shutil.copy(os.path.join(BUILD, "bpe"), directory)  # it starts the programs beside it
            return directory
        return self.fact("links", make)


    def distinct(self, name):
        """Its distinct pretokens, counted."""
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
    """Where what the programs used is written while this lasts."""
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
    """{program: what its processes used}."""
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
    """A run of a script: what all took, and each stage; fan_out: CPU seconds that no stage took; first: seconds until the
    first process that does the work is there; idle: the part of the work's time in which its processes did not compute."""
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
    """What bpe plan says of a text, and what is to be compared with it but the runs of bpe train."""
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
    """Of a number that is found in each run by these keys; None if it is not there."""
    def find(value):
        for key in path:
            value = value.get(key, {})
        return value
    found = [find(r) for r in runs]
    return None if {} in found else statistics.median(found)


def seconds(x):
    return "-" if x is None else f"{x:.2f}" if x < 9.995 else f"{x:.1f}"


def stage_cells(runs, stage, size):
    """CPU seconds, MB of text a CPU second, and the peak in MB."""
    cpu, rss = median(runs, "stages", stage, "cpu"), median(runs, "stages", stage, "rss")
    if cpu is None:
        return "-", "-", "-"
    return seconds(cpu), f"{size / max(cpu, 1e-4) / 1e6:.0f}", f"{rss / 1e6:.0f}"


def staged_runs(sample):
    """Those of the tables of stages."""
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
    """What was foreseen, as a part of what was found."""
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

Each program alone, in bpe train, bpe encode and bpe shard: CPU seconds of all its processes, text by that, the peak of the
largest; MB/s from the start of the first process to the end of the last.

{report.columns(stage_lines(samples))}
What spreading the work costs: CPU seconds of all, and those that no program took but the script and what gives the work out;
when the first process of the work began; how long all of them worked, and how much of that time they waited.

{report.columns(fan_out_lines(samples))}
bpe plan, from a sample of the text in many places, held against bpe train with {PROCESSES[-1]} processes: what it foresaw, divided by
what was found.

{report.columns(plan_lines(samples))}"""


if __name__ == "__main__":
    os.environ["RUNS"] = os.environ.get("RUNS") or "3"
    main(Suite(ROWS, SUBJECTS, Texts, [], (), re.compile("10G"), "bench-scale", tuple(SUBJECTS), table,
               keep=SIZES == DEFAULT_SIZES.split()))
