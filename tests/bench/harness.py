"""harness.py - runs and times programs, for bench.py and encode.py: wall and CPU seconds, memory, peers in a venv."""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ENV = dict(os.environ, BUILD=BUILD, PATH=f"{BUILD}:{BUILD}/tests/bench:{os.environ['PATH']}", LC_ALL="C.UTF-8")
PEER_TIMEOUT, PEER_LONG = 120, 20  # seconds: limit of a run; more than this, and it is run only once


class Failure(Exception):
    """The reason why something could not be measured, in a few words."""


def note(what):
    if sys.stderr.isatty():
        print(f"\r\033[Kbench: {what}", end="", file=sys.stderr, flush=True)


# ---- Running programs ----------------------------------------------------------------------------------------------

running = set()  # sessions: each program started here leads one


def start(argv, **options):
    process = subprocess.Popen(argv, env=ENV, start_new_session=True, **options)
    running.add(process.pid)
    return process


def end(process):
    """Waits for a process; returns the resources used by it and the processes it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    running.discard(process.pid)
    return used


def in_session(session):
    """(pid, name) of the processes of a session. (A process group is not enough: GNU parallel makes one for each job.)"""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                name, _, fields = f.read().partition("(")[2].rpartition(")")
        except OSError:
            continue  # the process has just ended
        if int(fields.split()[3]) == session:
            yield int(pid), name


def kill(session):
    for pid, _ in in_session(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(*argv, timeout=None, output=None, watch=None):
    """Runs a program; returns {wall, cpu, rss}. Calls watch(process) about every 10 ms."""
    with tempfile.TemporaryFile() as err, open(output or os.devnull, "wb") as out:
        begin = time.monotonic()
        process = start(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        timer = threading.Timer(timeout or 3600, kill, [process.pid])
        timer.start()
        try:
            while watch and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                watch(process)
                time.sleep(0.01)
            used = end(process)
        finally:
            timer.cancel()
        wall = time.monotonic() - begin
        if process.returncode:
            if timeout and wall >= timeout:
                raise Failure(f"not done after {timeout} s")
            err.seek(0)
            said = err.read().decode(errors="replace").strip().splitlines()
            raise Failure(said[-1] if said else f"exit status {process.returncode}")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024}


def shell(script, *args, pipefail=True, **options):
    return run("bash", "-c", ("set -e -o pipefail; " if pipefail else "set -e; ") + script, "bench", *args, **options)


def memory_of_session(session):
    """The memory of a session in bytes, shared pages divided (PSS): of all its processes, and of those other than perl."""
    total = no_perl = 0
    for pid, name in in_session(session):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                pss = next((int(l.split()[1]) for l in f if l.startswith("Pss:")), 0) * 1024
        except OSError:
            continue
        total += pss
        no_perl += pss if name not in ("perl", "parallel") else 0
    return total, no_perl


def kill_all():
    for session in running:
        kill(session)


# ---- Kinds of measurements -----------------------------------------------------------------------------------------

def peak(*argv):
    most = [0, 0]

    def watch(process):
        now = memory_of_session(process.pid)
        most[:] = map(max, most, now)
    took = run(*argv, watch=watch)
    return dict(took, pss=most[0] / 1e6, pss_no_perl=most[1] / 1e6)


def speedup(one, two):
    """The factor by which two processes do the same work faster."""
    return {"speedup": one["wall"] / two["wall"]}


def spin_two():
    """The speedup by two cores of a loop that only computes."""
    return speedup(shell("spin; spin"), shell("spin & spin; wait $!"))


def start_up(*argv):
    """The median of 50 starts, as cheaply as possible, with nothing to read."""
    def once():
        begin = time.monotonic()
        files = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]
        _, status = os.waitpid(os.posix_spawn(f"{BUILD}/{argv[0]}", argv, ENV, file_actions=files), 0)
        if status:
            raise Failure(f"{argv[0]}: exit status {os.waitstatus_to_exitcode(status)}")
        return (time.monotonic() - begin) * 1e3
    return {"ms": statistics.median(once() for _ in range(50))}


# ---- Peers ---------------------------------------------------------------------------------------------------------

venv = {"bin": None, "why": "not installed"}


def run_peer(t, *args, seconds=PEER_TIMEOUT):
    """Runs peer.py; returns its report."""
    if not venv["bin"]:
        raise Failure(venv["why"])
    run(venv["bin"] + "/python3", HERE + "/peer.py", *args, timeout=seconds, output=t.tmp("peer"))
    with open(t.tmp("peer")) as f:
        return json.load(f)


def with_venv(*argv):
    """The command with the venv first on PATH, so that it finds the Python there and its packages (pyarrow)."""
    if not venv["bin"]:
        raise Failure(venv["why"])
    return "env", f"PATH={venv['bin']}:{ENV['PATH']}", *argv


def make_venv(packages, build):
    """Makes the venv, below the directory build."""
    script = os.path.join(TOP, "tests", "venv.sh")
    made = subprocess.run([script, *packages], env=dict(ENV, BUILD=build), capture_output=True, text=True)
    if made.returncode == 0:
        venv["bin"] = made.stdout.strip()
    else:
        venv["why"] = "not installed"
        print(f"bench: the peers could not be installed; measuring only our programs:\n{made.stderr}", file=sys.stderr)
