#!/usr/bin/env python3
"""signals.t - a program ended by a signal leaves no unfinished -o file. SIGPIPE does so silently."""
import fcntl
import glob
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import must, write  # noqa: E402

ENCODE = ["bpe-encode", "-m", "in.json", "-o", "new"]


SIGNALS = [signal.Signals[name] for name in "SIGHUP SIGINT SIGQUIT SIGTERM SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGXCPU".split()]


def begin(args, ignored=(), **streams):
    """Starts a program with only these signals ignored, regardless of the signals that this test ignores."""
    def prepare():
        for s in SIGNALS:
            signal.signal(s, signal.SIG_IGN if s in ignored else signal.SIG_DFL)
    return subprocess.Popen(args, preexec_fn=prepare, **streams)


def await_unfinished():
    until = time.monotonic() + 20
    while not glob.glob("new*") and time.monotonic() < until:
        time.sleep(0.005)
    return glob.glob("new*")


def left():
    """Removes the files left and returns their names."""
    names = glob.glob("new*")
    for name in names:
        os.remove(name)
    return names


def sent(sig):
    """The signal arrives while the program waits for more text."""
    with begin(ENCODE, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        there = await_unfinished()
        p.send_signal(sig)
        err = p.stderr.read()
    end = p.returncode, err, left()
    lib.ok(end == (-sig, b"", []) and there, f"{sig.name}: no file is left", f"{end}, after {there}")


def ignored_one(sig):
    with begin(ENCODE, [sig], stdin=subprocess.PIPE) as p:
        await_unfinished()
        p.send_signal(sig)
        p.stdin.write(lib.read("in.txt"))
        p.stdin.close()
    end = p.returncode, left()
    lib.ok(end == (0, ["new"]), f"{sig.name} ignored: the file is complete", end)


def nobody_reads(name, args, ignored=()):
    """Standard error is a pipe without a reader."""
    r, w = os.pipe()
    os.close(r)
    with begin(args, ignored, stderr=w, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as p:
        os.close(w)
        out = p.stdout.read()
    end = p.returncode, out, left()
    lib.ok(end == (-signal.SIGPIPE, b"", []), name, end)


def reader_leaves():
    """One of a model's two files is a pipe whose reader exits."""
    os.mkfifo("new")
    reader = os.open("new", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)  # less than there is to write
    with begin(["bpe-merge", "-v", "500", "-f", "tiktoken", "-o", "new", "in.sum"], stderr=subprocess.PIPE) as p:
        select.select([reader], [], [], 20)
        os.close(reader)
        err = p.stderr.read()
    os.remove("new")
    end = p.returncode, err, left()
    lib.ok(end == (-signal.SIGPIPE, b"", []), "SIGPIPE after one of two files is written", end)


top = tempfile.mkdtemp(prefix="bpe-test-")
os.chdir(top)
write("in.txt", lib.text(1, 300000))
write("in.jsonl", b'{"text": "the cat"}\n' * 100)
write("in.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "in.txt"))))
write("in.json", must("bpe-merge", "-v", "500", "in.sum"))
for each in SIGNALS:
    sent(each)
for each in signal.SIGHUP, signal.SIGINT:
    ignored_one(each)
nobody_reads("SIGPIPE when a warning is printed: no file is left", [*ENCODE, "in.jsonl"])
nobody_reads("  even if the parent ignores it", [*ENCODE, "in.jsonl"], [signal.SIGPIPE])
reader_leaves()
os.chdir("/")
shutil.rmtree(top)
sys.exit(lib.done())
