#!/usr/bin/env python3
"""deaths.t - kills each process that a bpe command starts, when it starts or instead of its exit, by SIGKILL, or by SIGPIPE although
no output goes to a pipe. The command must succeed all the same, or exit with 75 (some: with 128 and the number of the signal, see
bpe-encode(1)) and a line with the reason. It must leave no unfinished output, and the same command must resume with what it keeps.

PLACES=N: a random sample of N deaths for each command; PLACES=all: all of them. COMMAND=NAME: only that command.
"""
import concurrent.futures
import os
import random
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import everyday  # noqa: E402
import lib  # noqa: E402

SHIM = lib.BUILD + "/tests/fault/death.so"
PLACES = os.environ.get("PLACES") or "3"


def die_at(base, command, number, when, by):
    """(whether that process was started, the problem or "")."""
    run = everyday.Run(base, command, os.getcwd())
    deaths = tempfile.mkdtemp(prefix="deaths-", dir=os.getcwd())
    run.start({"LD_PRELOAD": SHIM, "DEATHS": deaths, "DEATH_AT": str(number), "DEATH_WHEN": when, "DEATH_BY": str(int(by))}, to_file=True)
    reached = os.path.exists(f"{deaths}/{number}")
    bad = run.wrong({75} | command.statuses | ({128 + by} if 137 in command.statuses else set()))
    if reached and not bad and run.code and command.goes_on:
        first = f"{run.code}: {run.err}"
        run.start({})
        if not run.is_done():
            bad = f"the same again: exit {run.code}: {run.err} (first {first})"
    run.remove()
    return reached, bad


def number_of(base, command):
    """How many processes the command starts."""
    run = everyday.Run(base, command, os.getcwd())
    deaths = tempfile.mkdtemp(prefix="deaths-", dir=os.getcwd())
    run.start({"LD_PRELOAD": SHIM, "DEATHS": deaths, "DEATH_AT": "0"})
    run.remove()
    return len(os.listdir(deaths))


def all_places(base, command, pool):
    n = number_of(base, command)
    places = [(number, when, by) for number in range(1, n + 1) for when in ("begin", "end") for by in (signal.SIGKILL, signal.SIGPIPE)]
    if PLACES != "all" and len(places) > int(PLACES):
        places = sorted(random.Random(f"{SEED}/{command.name}").sample(places, int(PLACES)))
    found = list(pool.map(lambda place: die_at(base, command, *place), places))
    bad = [f"process {number} at its {when} by {by.name}: {what}" for (number, when, by), (_, what) in zip(places, found) if what]
    lib.ok(not bad, f"{command.name}: {len(places)} of {4 * n} deaths", "\n".join(bad))


def main():
    global SEED
    if not os.path.exists(SHIM):
        lib.ok(False, f"{SHIM} exists (make units)")
        return lib.done()
    SEED = lib.seed()
    base = everyday.Base()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command in everyday.COMMANDS:
            if os.environ.get("COMMAND") in (None, command.name):
                all_places(base, command, pool)
    return lib.done()


if __name__ == "__main__":
    sys.exit(everyday.in_directory(main))
