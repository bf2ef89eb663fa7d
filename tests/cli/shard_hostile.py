#!/usr/bin/env python3
"""shard_hostile.py [SECTION...] - for shard_hostile.t: directories of shards that somebody has changed.

Whatever is in a file's place, each command ends soon, with one line and a documented exit status, and no file outside is changed.
"""
import contextlib
import os
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "pipe")]
import shard_line as line  # noqa: E402
from shard_line import lib, tree, tree_difference  # noqa: E402

HANGS = 10  # seconds
seed = lib.seed()


def run(*args, data=b"", **more):
    """As lib.run; a command that hangs has the status None."""
    try:
        return lib.run(["bpe-shard", *args], data, HANGS, **more)
    except subprocess.TimeoutExpired:
        return None, b"", "hangs"


def wrong(result, codes, said):
    """What is wrong with the end of a command that should end with one of these exit statuses, and one line that has `said`."""
    code, _, err = result
    good = code in codes and err.count("\n") == 1 and err.startswith("bpe-shard: ") and said in err
    return None if good else f"exit {code}, wanted {codes}, and {said}: {err[:300]}"


class Judge:
    """Many cases that are one test."""

    def __init__(self):
        self.bad, self.n = [], 0

    def __call__(self, what, problem):
        self.n += 1
        if problem:
            self.bad.append(f"{what}: {problem}")

    def verdict(self, what, least=1):
        return lib.ok(not self.bad and self.n >= least, f"{what} ({self.n} cases)", f"{len(self.bad)} bad\n" + "\n".join(self.bad[:6]))


OPTIONS = {}


def make(directory, *options):
    OPTIONS[directory] = options
    lib.must("bpe-shard", "-o", directory, *options, data=IDS)
    return directory


# ---- What is in the place of a file ----

def bind(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.bind(path)


KINDS = {"a named pipe": os.mkfifo, "a link to one": lambda p: os.symlink(os.path.abspath("pipe"), p), "a directory": os.mkdir,
         "a device": lambda p: os.symlink("/dev/zero", p), "a link to itself": lambda p: os.symlink(os.path.basename(p), p), "a socket": bind}


# ---- Work in progress ----

def works():
    """Directories of work that is not done: a name, a function that makes it, and the arguments that go on with it."""
    half, behind = b"".join(BATCHES[:5]), b"".join(BATCHES[3:])
    yield "in order", lambda: run("-o", "work", "-n", "1500", "--docs", data=half), ["-n", "1500", "--docs", "--resume"], IDS
    yield "backwards", lambda: run("-o", "work", "-n", "1500", data=behind), ["-n", "1500", "--resume"], IDS
    yield "shuffled", lambda: run("-o", "work", "-n", "1500", "--shuffle=documents", data=half), ["-n", "1500", "--shuffle=documents", "--resume"], IDS


def precious(path):
    """A link to a file that must stay as it is."""
    os.symlink(os.path.abspath("precious/file"), path)


def section_work():
    """What is in DIR/.work is gone on with only if it is a file, and no link; nothing outside is changed, or made."""
    os.mkdir("precious")
    # Each of these exists at some moment of some work.
    names = ["journal", "lock", "manifest.json", "convert", "convert.new", "index.json", "segment.000001", "segment.000002", "train.000000.data",
             "train.000001.data", "train.000002.docs", "train.000003.data", "train.000003.docs", "train.000003.file1", "train.000004.data", "bucket.000",
             "bucket.017", "bucket.256", "test.000000.data"]
    places = {**KINDS, "a link to a file": precious, "a link to nothing": lambda p: os.symlink(os.path.abspath("precious/new"), p)}
    for what, begin, more, data in works():
        shutil.rmtree("work", True)
        first = begin()
        shutil.rmtree("kept", True)
        if not lib.ok(first[0] in (65, 75) and os.path.isdir("work/.work"), f"{what}: begun", first):
            continue
        shutil.copytree("work", "kept")
        args = ["-o", "work", *more]
        code, _, err = run(*args, data=data)
        want = tree("work")
        lib.ok(code == 0, f"{what}: goes on", err)
        judge = Judge()
        for name in names:
            for kind, put in places.items():
                shutil.rmtree("work")
                shutil.copytree("kept", "work")
                shutil.rmtree("precious")
                os.mkdir("precious")
                lib.write("precious/file", b"precious\n" * 1000)
                path = "work/.work/" + name
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                put(path)
                code, out, err = run(*args, data=data)
                where = f"{name} is {kind}"
                if code == 0:  # it was not needed, or is made anew; a directory stays
                    judge(where, tree_difference(want, {n: b for n, b in tree("work").items() if not n.startswith(".work/")}))
                else:
                    judge(where, wrong((code, b"", err), [65, 66, 71, 73, 74, 75], ""))
                judge(where, None if lib.read("precious/file") == b"precious\n" * 1000 else "a foreign file was changed")
                judge(where, None if os.listdir("precious") == ["file"] else "a foreign file was made")
        kinds = {**KINDS, "a link to a directory": lambda p: os.symlink(os.path.abspath("foreign"), p)}
        for kind, put in kinds.items():
            if kind == "a directory":  # an empty one is work that was lost
                continue
            shutil.rmtree("work")
            shutil.copytree("kept", "work")
            os.rename("work/.work", "foreign")
            put("work/.work")
            before = tree("foreign")
            judge(f".work is {kind}", wrong(run(*args, data=data), [73], "work"))
            judge(f".work is {kind}", tree_difference(before, tree("foreign")))
            shutil.rmtree("foreign")
        judge.verdict(f"{what}: what is in DIR/.work", 150)
    os.mkdir("foreign")
    for name in ("a", "b", "train.000000.data"):
        lib.write("foreign/" + name, name)
    d = make("done", "-n", "1500")
    os.symlink(os.path.abspath("foreign"), "done/.work")
    judge = Judge()
    judge("--resume", wrong(run("-o", d, "--resume", "-n", "1500", data=IDS), [73], "done/.work"))
    judge("a foreign directory", None if len(os.listdir("foreign")) == 3 else f"has {os.listdir('foreign')}")
    os.unlink("done/.work")
    shutil.rmtree("to", True)
    os.mkdir("to")
    os.symlink(os.path.abspath("foreign"), "to/train")
    lib.write("foreign/00000_unshuffled.ds", b"precious")
    judge("a directory of a split", wrong(run("-o", "to", "-f", "datatrove", "--test", "1", "-n", "1500", "--resume", data=IDS), [73], "to/train"))
    judge("a directory of a split", None if lib.read("foreign/00000_unshuffled.ds") == b"precious" else "a foreign file was changed")
    judge.verdict("a link to a directory is no directory of our own")


SECTIONS = [section_work]
maker = line.Maker(seed)
texts = [t + "." for t in maker.documents(26000, 1500)]
lib.write("a.txt", lib.EOT.join(texts))
line.train("m.json", "a.txt")
chunks = line.records.split(lib.must("bpe-chunk", "--inline", "-m", "m.json", "-b", "2K", "a.txt"))
BATCHES = [line.encode("m.json", chunks[i:i + 2], "--eot=before") for i in range(0, len(chunks), 2)]
IDS = b"".join(BATCHES)
os.mkfifo("pipe")
for section in SECTIONS:
    if not sys.argv[1:] or section.__name__[8:] in sys.argv[1:]:
        print("#", section.__doc__, flush=True)
        section()
sys.exit(lib.done())
