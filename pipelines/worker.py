# worker.py - runs commands for the engines in Python: the task on a machine of the cluster. This file is sent to the machines, so
# it uses only the standard library
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

ENDED = (0, 64, 65, 66, 70)  # exit statuses after which the output is complete, and a retry would give the same
PIECE = 1 << 20  # bytes to read or write at a time; the largest pipe without privileges
ENDS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
PR_SET_PDEATHSIG = 1


def write_whole(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:PIECE]) :]


def end_with_parent(parent):
    """Asks the kernel to send SIGTERM to this process when its parent, or the thread that started this process, dies."""
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != parent:
        os._exit(128 + signal.SIGTERM)


def start(words, **how):
    """Starts a process that ends with this one. This process must have one thread, and be small, because it is forked."""
    parent = os.getpid()
    return subprocess.Popen(words, preexec_fn=lambda: end_with_parent(parent), **how)


def status_of(child):
    """Waits for a process; returns its exit status as a shell reports it."""
    status = child.wait()
    return status if status >= 0 else 128 - status


def statuses_of(*children):
    """Waits for all. A signal that asks this process to end is passed on to them; then it exits. If one fails, terminates the others."""
    told, statuses = [], []

    def tell(number, _):
        told.append(number)
        for child in children:
            child.send_signal(number)

    for number in ENDS:  # until then, the children end together with this process
        signal.signal(number, tell)
    for child in children:
        statuses.append(status_of(child))
        for other in children if statuses[-1] else ():
            other.terminate()
    for number in ENDS:
        signal.signal(number, signal.SIG_DFL)
    if told:
        sys.exit(128 + told[0])
    return statuses


def signal_of(status):
    """The signal that killed a process, or 0."""
    return status - 128 if 128 < status < 128 + 65 else 0


def in_memory(name):
    return open(os.memfd_create(name), "w+b", 0)


def run_command(command, env, directory, records, out):
    """Runs a command with these environment variables, in the directory if it exists, with the records as standard input and
    the file out as standard output. Returns (status as a shell reports it, standard error). The command is terminated if this
    process loses its parent, because a Ray worker outlives its node for as long as a task takes. (Ray kills a worker with its children.)"""
    program = shutil.which(command[0], path=env["PATH"])
    if not program:
        return 127, f"{command[0]} is not on PATH"
    where = directory if os.path.isdir(directory) else None
    parent, ended = os.getppid(), threading.Event()
    with in_memory("records") as given, in_memory("said") as said:
        write_whole(given.fileno(), records)
        given.seek(0)
        files = {"stdin": given, "stdout": out, "stderr": said}
        child = subprocess.Popen(command, executable=program, cwd=where, env={**os.environ, **env}, **files)

        def watch():
            while not ended.wait(0.5):
                if os.getppid() != parent:
                    child.terminate()

        threading.Thread(target=watch, daemon=True).start()
        try:
            status = status_of(child)
        finally:
            child.terminate()  # if this was interrupted
            ended.set()
        said.seek(0)
        return status, said.read(1000).decode("utf-8", "replace").strip()
