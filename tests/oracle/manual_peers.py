#!/usr/bin/env python3
"""manual_peers.py - tests the Python examples of the manual: lines with >>> print what the page shows below them.

In each page with such lines, its commands ("$ ") and the Python between them are run in order in one directory.

    manual_peers.py [--section=NAME] [PAGE...]     prints TAP

--section selects the examples of one section. Needs BUILD and the imported packages: numpy, tokenizers, tiktoken. Without PyTorch, the
blocks that begin with its import are skipped.
"""
import doctest
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import TOP  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # its cache identifies files by name
NAMES = {"(aq": "'", "(dq": '"', "(ga": "`", "(ha": "^", "(ti": "~", "(pc": "·", "e": "\\", "&": "", "-": "-"}


def blocks(page, section):
    """The literal blocks of a page or section, as rendered."""
    def plain(m):
        return chr(int(m[2], 16)) if m[2] else NAMES[m[1]]
    with open(page, encoding="utf-8") as f:
        text = f.read()
    if section:
        text = text.partition(f"\n.Sh {section}\n")[2].partition("\n.Sh ")[0]
    found = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)
    return [re.sub(r"\\(\[u([0-9A-F]{4,6})\]|\(..|.)", plain, block) for block in found]


def run_commands(block):
    commands = "\n".join(line[2:] for line in block.split("\n") if line.startswith(("$ ", "> ")))
    subprocess.run(["bash", "-c", commands], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def missing(found):
    """The imported modules that are not installed."""
    names = re.findall(r"^>>> import ([\w., ]+)", "".join(found), re.M)
    modules = {name.split()[0].partition(".")[0] for line in names for name in line.split(",")}
    return sorted(name for name in modules if not importlib.util.find_spec(name))


def main():
    arguments = sys.argv[1:]
    section = arguments.pop(0).partition("=")[2] if arguments and arguments[0].startswith("--section=") else None
    pages = [os.path.abspath(p) for p in arguments] or sorted(glob.glob(os.path.join(TOP, "man", "*.[1-8]")))
    found = {page: blocks(page, section) for page in pages}
    found = {page: of_page for page, of_page in found.items() if any(block.startswith(">>> ") for block in of_page)}
    lacks = missing(block for of_page in found.values() for block in of_page)
    if set(lacks) - {"torch"}:
        lib.skip_all(f"{', '.join(lacks)}: not installed for {sys.executable}")
    for page, of_page in found.items():
        names = {}
        with tempfile.TemporaryDirectory() as tmp:
            os.chdir(tmp)
            for block in of_page:
                if block.startswith("$ "):
                    run_commands(block)
                elif block.startswith(">>> import torch") and lacks:
                    lib.skip(f"{os.path.basename(page)}: PyTorch", "not installed for this python3; pipe/story.t looks for another one")
                elif block.startswith(">>> "):
                    notes = []
                    test = doctest.DocTestParser().get_doctest(block, names, os.path.basename(page), page, 0)
                    result = doctest.DocTestRunner(verbose=False).run(test, out=notes.append, clear_globs=False)
                    names = test.globs
                    lib.ok(not result.failed, f"{os.path.basename(page)}: {result.attempted} lines of Python", "".join(notes))
            os.chdir(TOP)
    lib.ok(lib.count > 1, "the manual has pages with Python examples")
    return lib.done()


sys.exit(main())
