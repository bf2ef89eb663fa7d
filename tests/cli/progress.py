#!/usr/bin/env python3
"""progress.py sum|merge FILE, progress.py run|interrupt FILE COMMAND... - runs a stage with standard error on a terminal, so slowly
that it shows progress, and prints what the terminal received. progress.py plain FILE: prints what a pipe received instead."""
import os
import pty
import random
import signal
import subprocess
import sys
import time

stage, path, *command = sys.argv[1:]
counts = open(path, "rb").read()
borders = [i + 1 for i, byte in enumerate(counts) if byte == 10]


def run(command, feed, stderr):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr) as process:
        feed(process)
        process.wait()


def slowly(process):
    """Writes the input in three parts, over more than two seconds."""
    a, b = borders[len(borders) // 3], borders[2 * len(borders) // 3]
    for part in (counts[:a], counts[a:b], counts[b:]):
        process.stdin.write(part)
        process.stdin.flush()
        time.sleep(1.2)
    process.stdin.close()


def interrupted(process):
    """Interrupts the process, as Ctrl-C does, while it shows progress."""
    process.stdin.write(counts)
    process.stdin.flush()
    time.sleep(2.7)
    process.send_signal(signal.SIGINT)


def with_a_pause(process):
    """Stops the process for a while in the middle of its work."""
    process.stdin.write(counts)
    process.stdin.close()
    time.sleep(random.uniform(0.05, 0.3))
    process.send_signal(signal.SIGSTOP)
    time.sleep(2.2)
    process.send_signal(signal.SIGCONT)


def on_terminal(command, feed):
    master, slave = pty.openpty()
    run(command, feed, slave)
    os.close(slave)
    shown = b""
    try:
        while block := os.read(master, 4096):
            shown += block
    except OSError:
        pass
    return shown


if stage == "plain":
    run(["bpe-sum"], slowly, sys.stdout)
elif stage in ("run", "interrupt"):
    sys.stdout.buffer.write(on_terminal(command, slowly if stage == "run" else interrupted))
elif stage == "sum":
    sys.stdout.buffer.write(on_terminal(["bpe-sum"], slowly))
else:
    for _ in range(8):
        shown = on_terminal(["bpe-merge", "-v", "60000"], with_a_pause)
        if b"merges" in shown:
            break
    sys.stdout.buffer.write(shown)
