#!/usr/bin/env python3
"""room.t - runs each bpe command on a disk with little space, for its temporary files or for all its output, and with a limit on the size
of files (ulimit -f). It must succeed, or exit with 73 or 74 and a line with the file and the system's message. It must leave no
unfinished output, and with enough space, the same command must resume with what it keeps.

COMMAND=NAME: only that command. SIZES='4 8': these amounts of space in kB, and the same limits in kB.
"""
import concurrent.futures
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import everyday  # noqa: E402
import lib  # noqa: E402

ROOMS = {False: [0, 4, 64], True: [4, 16, 512]}  # kB: for temporary files only, for all files
LIMITS = [1, 4000, 60000]  # bytes
CANNOT = {73, 74}
WRITE_NOTHING = {"shard, already complete", "describe", "bpe train", "bpe --version", "bpe help", "train --help"}


def leave_room(place, kilobytes):
    """Fills a file system except for this many kB."""
    filler = place + "/filler"
    if os.path.exists(filler):
        os.remove(filler)
    free = os.statvfs(place)
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize - kilobytes * 1024, 1))


def again(run, bad):
    """Runs the same command again, which must resume with what it has kept. Returns the problem, or ""."""
    if bad or not run.code or not run.command.goes_on:
        return bad
    first = f"{run.code}: {run.err}"
    run.start({})
    return "" if run.is_done() else f"the same again: exit {run.code}: {run.err} (first {first})"


def little_room(base, command, place, kilobytes, all_of_it):
    leave_room(place, 8000)
    run = everyday.Run(base, command, place if all_of_it else os.getcwd(), None if all_of_it else place)
    leave_room(place, kilobytes)
    run.start({})
    leave_room(place, 8000)
    bad = again(run, run.wrong(CANNOT, "No space left on device|remaining disk space|needs space"))
    run.remove()
    return f"{kilobytes} kB for {'all' if all_of_it else 'temporary files'}: {bad}" if bad else ""


def little_limit(base, command, limit):
    run = everyday.Run(base, command, os.getcwd())
    run.start({}, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    bad = again(run, run.wrong(CANNOT | command.statuses, "[Ff]ile too large|needs space"))
    run.remove()
    return f"files of {limit} bytes: {bad}" if bad else ""


def no_output(base, words):
    """Runs a command whose standard output is a file that may not grow. Returns the problem, or ""."""
    with open("output", "wb") as out:
        ended = subprocess.run([base.bpe, *words.split()], cwd=base.dir, stdout=out, stderr=subprocess.PIPE, check=False,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    said = ended.stderr.decode()
    good = ended.returncode == 74 and said.startswith("bpe") and "cannot write" in said
    return "" if good else f"exit {ended.returncode}: {said}"


def report(command, what, found):
    lib.ok(not any(found), f"{command.name}: {what}", "\n".join(filter(None, found)))


def main():
    base = everyday.Base()
    place = os.getcwd() + "/small"
    os.mkdir(place)
    commands = [command for command in everyday.COMMANDS if command.name not in WRITE_NOTHING]
    commands = [command for command in commands if os.environ.get("COMMAND") in (None, command.name)]
    sizes = [int(size) for size in os.environ.get("SIZES", "").split()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command in commands:
            limits = [size * 1000 for size in sizes] or LIMITS
            report(command, "limits on the size of files", list(pool.map(lambda limit: little_limit(base, command, limit), limits)))
    if len(commands) > 1:
        for words in "help", "--version", "describe 4.sum m.json", "tune -m m.json -b 1M --rounds=1 b.txt", "train --help":
            bad = no_output(base, words)
            lib.ok(not bad, f"bpe {words}: no space for standard output", bad)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", place], stderr=subprocess.DEVNULL, check=False).returncode:
        lib.skip("a full disk", "cannot mount a small file system")
        return lib.done()
    try:
        for command in commands:
            cases = [(room, whole) for whole in ROOMS for room in sizes or ROOMS[whole]]
            report(command, "a full disk", [little_room(base, command, place, room, whole) for room, whole in cases])
    finally:
        subprocess.run(["umount", place], check=False)
    return lib.done()


if __name__ == "__main__":
    sys.exit(everyday.in_directory(main))
