"""package.py - functions for tests of the package, which uses the programs and the library in BUILD.

    import package
    bpetools, np = package.load(), package.module("numpy")

The test is skipped if the library cannot be loaded.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

ROOT = lib.TOP + "/pipelines/python"
TEXT = "low low low lower lower newest newest newest newest"


def load():
    """Loads the package, in an empty directory with a tokenizer.json that is trained on TEXT."""
    if lib.sanitized():
        lib.skip_all("a library with AddressSanitizer cannot be loaded")
    lib.own_directory()
    sys.path.insert(0, ROOT)
    os.environ["PYTHONPATH"] = ROOT
    train("tokenizer.json", TEXT, 269)
    import bpetools

    return bpetools


def train(path, text, size, *options):
    lib.write("text", text)
    lib.must("bpe", "train", "-j1", "-v", str(size), "-s", lib.EOT, *options, "-o", path, "text")
    os.unlink("text")


def module(name):
    """A module, or None."""
    try:
        return __import__(name)
    except ImportError:
        return None


def resident():
    """The resident memory of this process, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(call, times):
    """The growth of memory during this number of calls, after some calls to warm up."""
    for _ in range(times // 6):
        call()
    before = resident()
    for _ in range(times):
        call()
    return resident() - before


def raised(kind, call, *arguments, **options):
    """The exception of this kind that a call raises, or None; any other exception ends the test."""
    try:
        call(*arguments, **options)
    except kind as error:
        return error
    return None


def descendants():
    """(pid, name) of the programs that this process has started, directly or indirectly, in the order of ps."""
    table = [line.split(None, 2) for line in lib.must("ps", "-eo", "pid,ppid,comm").decode().split("\n")[1:-1]]
    ours = {str(os.getpid())}
    for _ in range(5):
        ours |= {pid for pid, parent, _ in table if parent in ours}
    return [(int(pid), name) for pid, _, name in table if pid in ours and name.startswith("bpe")]
