#!/usr/bin/env python3
"""shard-kills.t - pipelines that end in bpe-shard are killed at random moments.

A command runs in its own session. At a random moment, bpe-shard, the command itself, a random process or all of them get SIGKILL. The
same command is run again, and killed again with decreasing probability, until it ends. Then the directory must equal that of an
undisturbed command; after each death, the shards in the manifest must be complete.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shard_line as line  # noqa: E402
from shard_line import lib, tree, tree_difference  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

OPTIONS = {"in order": ["-n", "50000", "--docs"], "shuffled": ["-n", "50000", "--shuffle=documents"]}


def processes(session):
    """(pid, name) of the processes in a session."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                name, _, fields = f.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if int(fields.split()[3]) == session and fields.split()[0] != "Z":
            yield int(pid), name


class Line:
    def __init__(self, label, command):
        self.label, self.command = label, command
        self.kills, self.runs, self.bad = 0, 0, []

    def start(self):
        with open("out", "ab") as out, open("err", "wb") as err:
            return subprocess.Popen(self.command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def undisturbed(self):
        shutil.rmtree("d", ignore_errors=True)
        begin = time.monotonic()
        code = self.start().wait(120)
        self.took = time.monotonic() - begin
        if lib.ok(code == 0, f"{self.label}: succeeds", f"exit {code}: {lib.read('err').decode()}"):
            self.want = tree("d")
            return True
        return False


def whole(want):
    """None if all shards in the manifest are right; else the problem."""
    if not os.path.exists("d/manifest.json"):
        return None
    for shard in json.loads(lib.read("d/manifest.json"))["shards"]:
        for file in [shard, *shard.get("files", [])]:
            if lib.read("d/" + file["name"]) != want[file["name"]]:
                return f"{file['name']} is listed, and is another file"
    return None


def end(session):
    """Waits until a session has no processes left. After 10 seconds, kills them and returns False."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        left = list(processes(session))
        if not left:
            return True
        time.sleep(0.01)
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    return False


def victims(session):
    """The processes to kill, and a word for them."""
    there = list(processes(session))
    if not there:
        return [], "nobody"
    way = rng.random()
    if way < 0.35:
        found = [p for p, name in there if name == "bpe-shard"]
        if found:
            return found, "bpe-shard"
    if way < 0.5:
        return [p for p, _ in there], "all"
    if way < 0.65:
        return [session], "the command"
    pid, name = rng.choice(there)
    return [pid], name


def one(test):
    """Runs a command, with kills, until it ends. Returns the number of kills, and the problem or None."""
    shutil.rmtree("d", ignore_errors=True)
    kills, story, stop = 0, [], 0.2
    for _ in range(50):
        process = test.start()
        if rng.random() > stop:
            time.sleep(rng.random() * test.took)
            who, word = victims(process.pid)
            for pid in who:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            kills += bool(who)
            story.append(word)
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            names = [name for _, name in processes(process.pid)]
            for pid, _ in processes(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()
            return kills, f"{story}: hangs; there are {names}"
        if not end(process.pid):
            return kills, f"{story}: processes are left after the command has ended"
        wrong = whole(test.want)
        if wrong:
            return kills, f"{story}: {wrong}"
        if code == 0:
            wrong = tree_difference(test.want, tree("d"))
            return kills, f"{story}: {wrong}" if wrong else None
        if code > 0 and code != 75 and code < 128:
            return kills, f"{story}: exit {code}: {lib.read('err').decode()}"
        stop += 0.1
    return kills, f"{story}: does not end"


def pipeline(label, *words):
    return Line(f"bpe shard, {label}", ["bpe", "shard", "-m", "m.json", "-o", "d", "-j", "2", "-b", "64K", *words])


def lines():
    """The commands to kill: bpe-shard on records in three files, not in the order of the corpus; and bpe shard."""
    for order, options in OPTIONS.items():
        options = [*options, "-S", "256K"]
        for form, read, files in ("text", [], TEXTS), (".jsonl.zst", ["--jsonl"], [f + ".jsonl.zst" for f in TEXTS]):
            chunks = line.records.split(lib.must("bpe-chunk", "-b", "64K", *read, "-m", "m.json", *files))
            kept = []
            batches = line.batches(line.encode("m.json", chunks))
            for i in range(3):
                kept.insert(0, f"{order}{form}.{i}".replace(" ", "-"))
                lib.write(kept[0], b"".join(batches[i::3]))
            yield Line(f"bpe-shard, {form}, {order}", ["bpe-shard", "-o", "d", "--resume", *options, *kept])
            yield pipeline(f"{form}, {order}", *options, *read, *files)
        if pyarrow:
            yield pipeline(f".parquet, {order}", *options, "--parquet", *[f + ".parquet" for f in TEXTS])
            mixed = [TEXTS[0] + ".jsonl", TEXTS[1] + ".parquet", TEXTS[2] + ".jsonl.zst"]
            yield pipeline(f".jsonl and .parquet, {order}", *options, "--jsonl", "--parquet", *mixed)
        else:
            lib.skip(f"bpe shard, .parquet, {order}", "pyarrow is not installed (make check-peers takes it from PyPI)")


if lib.sanitized():
    lib.skip("kill -9 at random moments", "a build with sanitizers is too slow to be hit in time")
    sys.exit(lib.done())
lib.own_directory(in_memory=True)
seed = lib.seed()
rng = random.Random(seed)
wanted = int(os.environ.get("SHARD_KILLS") or 24)
maker = line.Maker(seed)
TEXTS = ["a.txt", "b.txt", "c.txt"]
for name in TEXTS:
    documents = maker.documents(300000)
    lib.write(name, lib.EOT.join(documents * 2))
    lib.write(name + ".jsonl", "".join(json.dumps({"text": d}) + "\n" for d in documents * 2))
    line.compress(name + ".jsonl", "zstd")
    if pyarrow:
        pyarrow.parquet.write_table(pyarrow.table({"text": documents * 2}), name + ".parquet", row_group_size=100)
lib.write("train.txt", line.LETTERS * 20 + lib.EOT.join(documents))
line.train("m.json", "train.txt")
tests = [test for test in lines() if test.undisturbed()]
kills = 0
while tests and kills < wanted:
    for test in tests:
        n, wrong = one(test)
        kills, test.kills, test.runs = kills + n, test.kills + n, test.runs + 1
        if wrong:
            test.bad.append(wrong)
    if all(test.bad for test in tests):
        break
for test in tests:
    lib.ok(not test.bad, f"{test.label}: {test.kills} kills in {test.runs} runs, the identical directory", "\n".join(test.bad[:5]))
sys.exit(lib.done())
