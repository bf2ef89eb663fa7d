#!/usr/bin/env python3
"""shard.py - for shard.t: bpe-shard dies, or one of its calls fails, at each point where it changes the disk.

Afterwards, the shards listed in the manifest must be complete, and the same command, repeated with the same records, must produce the
directory of an undisturbed execution.
"""
import errno
import json
import os
import random
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "pipe"), HERE]
import disk  # noqa: E402
import shard_line as line  # noqa: E402
from shard_line import lib, records, tree, tree_difference  # noqa: E402

SHIM = lib.BUILD + "/tests/fault/fault.so"
BUDGET = float(os.environ.get("FAULT_SECONDS") or 10)
KILL_BEFORE, KILL_AFTER = -1, -2
ROOT, NOTED, MARK = "root", "noted", "mark"
DIR = ROOT + "/shards"
CHANGES = [("write", "ENOSPC EIO"), ("pwrite", "ENOSPC"), ("fsync", "EIO"), ("fdatasync", "EIO ENOSPC"), ("rename", "ENOSPC"),
           ("ftruncate", "EIO"), ("unlink", "EIO"), ("mkdir", "ENOSPC"), ("rmdir", "EIO"), ("open", "ENOSPC EMFILE"), ("close", "EIO"),
           ("read", "EIO"), ("pread", "EIO")]
HARMLESS = "unlink", "rmdir", "close", "open", "read", "pread"  # the program can do without some of these calls
# What survives a machine crash: (names, data), see disk.py.
LOSSES = [("synced", "synced"), ("all", "synced"), ("synced", "all"), ("all", "some"), ("synced", "some")]


class Case:
    def __init__(self, label, options, stream):
        self.label, self.options, self.stream = label, options, stream
        self.want, self.bad, self.tried = None, [], 0
        begin()
        code, _, err, _ = self.run()
        if code or not lib.ok(code == 0, f"{label}: succeeds without a fault", f"exit {code}: {err}"):
            raise SystemExit(lib.done())
        self.want = tree(DIR)
        self.changes = self.count()
        lib.ok(len(json.loads(self.want["manifest.json"])["shards"]) > 2, f"{label}: several shards, {self.changes} disk changes")

    def run(self, fault=None, stream=None, more=()):
        env = dict(os.environ)
        if fault:
            env.update(LD_PRELOAD=SHIM, FAULT_CALL=fault[0], FAULT_ERROR=str(fault[1]), FAULT_AT=str(fault[2]), FAULT_MARK=MARK,
                       FAULT_DISK=NOTED)
            if os.path.exists(MARK):
                os.remove(MARK)
        code, out, err = lib.run(["bpe-shard", "-o", DIR, "--resume", *self.options, *more], self.stream if stream is None else stream, 30, env=env)
        return code, out, err, os.path.exists(MARK)

    def count(self):
        """The number of disk changes of an undisturbed execution."""
        some, none = 1, 2

        def there_is(n):
            begin()
            return self.run(("change", KILL_BEFORE, n))[3]
        while there_is(none):
            some, none = none, 2 * none
        while none - some > 1:
            middle = (some + none) // 2
            some, none = (middle, none) if there_is(middle) else (some, middle)
        return some

    def whole(self):
        """What is wrong with the shards listed in the manifest, or None."""
        if not os.path.exists(DIR + "/manifest.json"):
            return None
        try:
            listed = json.loads(lib.read(DIR + "/manifest.json"))["shards"]
        except (ValueError, KeyError) as why:
            return f"the manifest: {why}"
        for shard in listed:
            for file in [shard, *shard.get("files", [])]:
                name = file["name"]
                if not os.path.exists(f"{DIR}/{name}"):
                    return f"{name} is listed but missing"
                if lib.read(f"{DIR}/{name}") != self.want[name]:
                    return f"{name} is listed but differs"
        return None

    def ends(self):
        """Repeats the same command. What is wrong before or after it, or None."""
        problem = self.whole()
        if problem:
            return problem
        code, _, err, _ = self.run()
        if code:
            return f"again: exit {code}: {err}"
        return tree_difference(self.want, tree(DIR))

    def judge(self, what, problem):
        self.tried += 1
        if problem:
            self.bad.append(f"{what}: {problem}")
            keep = os.environ.get("FAULT_KEEP")
            if keep:
                shutil.copytree(ROOT, f"{keep}/{self.label.replace(' ', '-')}-{self.tried}", dirs_exist_ok=True)

    def verdict(self, what):
        lib.ok(not self.bad, f"{self.label}: {what} ({self.tried} times)", "\n".join(self.bad[:8]))
        self.bad, self.tried = [], 0


def begin():
    shutil.rmtree(ROOT, ignore_errors=True)
    os.mkdir(ROOT)
    disk.start(ROOT, NOTED)


def places(until):
    """1, 2, 3, ..., with growing steps when time runs out."""
    at, begun = 1, time.monotonic()
    while True:
        yield at
        used = (time.monotonic() - begun) / max(until - begun, 0.01)
        at += 1 if used < 0.5 else 1 + at // 20 if used < 1 else 1 + at // 2


def kills(case, seconds):
    """The process dies at each disk change."""
    for how, name in (KILL_BEFORE, "before"), (KILL_AFTER, "after"):
        until = time.monotonic() + seconds / 2
        for at in places(until):
            begin()
            code, _, err, hit = case.run(("change", how, at))
            if not hit:
                case.judge("no kill", None if code == 0 else f"exit {code}: {err}")
                break
            case.judge(f"{name} change {at}", f"exit {code}" if code != -signal.SIGKILL else case.ends())
    case.verdict("killed before and after each disk change")


def lost(case):
    """What is missing after exit 0, or None. Files in .work that should have been removed are allowed."""
    there = tree(DIR) if os.path.exists(DIR) else {}
    return tree_difference(case.want, {n: d for n, d in there.items() if not n.startswith(".work/")}) or case.ends()


def deaths(case, seconds):
    """The machine dies before each disk change: data not synced is lost, entirely or in part."""
    until = time.monotonic() + seconds
    for at in places(until):
        begin()
        code, _, err, hit = case.run(("change", KILL_BEFORE, at))
        if not hit:
            break
        for loss in LOSSES if at % 4 == 0 else [LOSSES[at % len(LOSSES)]]:
            if loss is not LOSSES[0]:
                begin()
                case.run(("change", KILL_BEFORE, at))
            disk.crash(ROOT, NOTED, loss, rng)
            case.judge(f"before change {at}, names {loss[0]}, data {loss[1]}", case.ends())
    for loss in LOSSES:
        begin()
        case.run(("none", 0, 0))
        disk.crash(ROOT, NOTED, loss, rng)
        case.judge(f"after exit 0, names {loss[0]}, data {loss[1]}", lost(case))
    case.verdict("the machine dies before each disk change and after the end")


def missing(case):
    """(exit status, missing ranges, message) of the command without input."""
    code, _, err, _ = case.run(stream=b"", more=["--missing", "todo"])
    return code, [r for record in records.split(lib.read("todo")) for r in records.pieces(record)] if code == 75 else [], err


def kept(case, n):
    """After a crash, only the ranges that bpe-shard reports missing are supplied again."""
    batches, promise = line.batches(case.stream), b"".join(r for r in records.split(case.stream) if line.is_promise(r))
    covers = [records.covered(b)[0] for b in batches]
    fewer = 0
    for i in range(n):
        begin()
        at = case.changes - i if i < 4 else rng.randrange(1, case.changes + 1)  # near the end, some work has been kept
        _, _, _, hit = case.run(("change", rng.choice([KILL_BEFORE, KILL_AFTER]), at))
        if hit and rng.random() < 0.5:
            disk.crash(ROOT, NOTED, rng.choice(LOSSES), rng)
        code, ranges, err = missing(case)
        if code != 75:
            case.judge(f"change {at}, no input", f"exit {code}: {err}" if code else tree_difference(case.want, tree(DIR)))
            fewer += 1
            continue
        known = bool(ranges)  # otherwise the directory has no record of the run, and all input is needed
        again = [b for b, c in zip(batches, covers) if not known or any(x.source == r.source and x.begin < r.end and x.end > r.begin
                                                                       for x in c for r in ranges)]
        fewer += len(again) < len(batches)
        code, _, err, _ = case.run(stream=promise + b"".join(again))
        case.judge(f"change {at}, {len(again)} of {len(batches)} batches again", f"exit {code}: {err}" if code else tree_difference(case.want, tree(DIR)))
    case.judge("some work was kept at times", None if fewer >= 4 or n < 4 else f"{fewer} of {n} times")
    case.verdict("only the ranges reported missing are supplied again")


def chains(case, n):
    """Several crashes in a row."""
    for _ in range(n):
        begin()
        deaths_at = []
        for _ in range(rng.randrange(2, 6)):
            disk.start(ROOT, NOTED)
            at = rng.randrange(1, rng.choice([20, case.changes, case.changes]))
            _, _, _, hit = case.run(("change", rng.choice([KILL_BEFORE, KILL_AFTER]), at))
            deaths_at.append(at)
            loss = rng.choice([None, *LOSSES])
            if loss:
                disk.crash(ROOT, NOTED, loss, rng)
            deaths_at.append(loss)
            problem = case.whole()
            if problem:
                break
        case.judge(f"deaths {deaths_at}", problem or case.ends())
    case.verdict("several crashes in a row")


def failures(case, seconds):
    """Each call fails, as on a full or broken disk."""
    faults = [(call, getattr(errno, e), e) for call, names in CHANGES for e in names.split()]
    for i, (call, number, name) in enumerate(faults):
        until = time.monotonic() + seconds / len(faults)
        for at in places(until):
            begin()
            code, _, err, hit = case.run((call, number, at))
            if not hit:
                break
            what = f"{call} {at}: {name}"
            if code == 0:
                case.judge(what, case.ends() if call in HARMLESS else "exit 0, as if nothing had happened")
            elif code not in lib.ERRORS or err.count("\n") != 1 or not err.startswith("bpe-shard: "):
                case.judge(what, f"exit {code}: {err!r}")
            else:
                case.judge(what, case.ends())
    case.verdict("each failing call prints one line, and the same command resumes")


seed = lib.seed()
rng = random.Random(seed)
maker = line.Maker(seed)
lib.write("train.txt", line.LETTERS * 20 + lib.EOT.join(maker.documents(60000)))
line.train("m.json", "train.txt")
sources = []
for i in range(3):
    sources.append(f"s{i}.txt")
    lib.write(sources[-1], lib.EOT.join(maker.documents(8000, 1000)))
chunks = records.split(lib.must("bpe-chunk", "--inline", "-b", "2K", "-m", "m.json", *sources))
parts = line.fan_out("m.json", chunks, 3)
backwards = b"".join(reversed(parts))
memory = ["-S", os.environ.get("FAULT_MEMORY") or "16K"]
CASES = [("in order", ["-n", "2500", "--docs", *memory], b"".join(parts)), ("shuffled", ["-n", "2500", "--shuffle=documents", *memory], backwards),
         ("megatron, backwards", ["-f", "megatron", "-n", "2000", "--test-fraction", "0.2", *memory], backwards)]
only = sys.argv[1:]
for label, options, stream in CASES:
    if only and label not in only:
        continue
    case = Case(label, options, stream)
    share = BUDGET / len(CASES)
    kills(case, share * 0.3)
    deaths(case, share * 0.3)
    chains(case, int(share))
    kept(case, int(2 * share))
    failures(case, share * 0.3)
sys.exit(lib.done())
