# worker.py - runs commands for the engines in Python; what a task does on a machine of the cluster, where this is sent to, so it
# needs nothing but Python
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

ENDED = (0, 64, 65, 66, 70)  # of a command whose output is whole, and would be the same again
PIECE = 1 << 20  # what is read and written at a time; the largest pipe that everybody may have
ENDS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
PR_SET_PDEATHSIG = 1


def write_whole(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:PIECE]) :]


def end_with_parent(parent):
    """The system tells this process to end (SIGTERM) when its parent dies, or the thread of it that has started this one."""
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != parent:
        os._exit(128 + signal.SIGTERM)


def start(words, **how):
    """A process that ends with this one, which has one thread and is small: to make it takes a copy of this one."""
    parent = os.getpid()
    return subprocess.Popen(words, preexec_fn=lambda: end_with_parent(parent), **how)


def status_of(child):
    """Waits for it; its status as the shell has it."""
    status = child.wait()
    return status if status >= 0 else 128 - status


def statuses_of(*children):
    """Waits for all. What this process is told to end by, they are told, too, and then it ends; so are the others if one fails."""
    told, statuses = [], []

    def tell(number, _):
        told.append(number)
        for child in children:
            child.send_signal(number)

    for number in ENDS:  # before that, they end as this process does
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
    """By which signal a process was killed, or 0."""
    return status - 128 if 128 < status < 128 + 65 else 0


def in_memory(name):
    return open(os.memfd_create(name), "w+b", 0)


def run_command(command, env, directory, records, out):
    """Runs a command, with these variables set, in the directory, if that is there, with the records as standard input and the
    file out as standard output: (its status as the shell has it, what it said). It is told to end if the process dies that has
    started this one, as a worker of Ray outlives its node as long as a task takes. (What Ray kills, it kills with its children.)"""
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
