#!/usr/bin/env python3
"""manual_peers.py - the Python in the manual is true: lines with >>> give what the page shows below them.

In each page that has such lines, its commands ("$ ") are run in order in one directory, and the Python between them.

    manual_peers.py [PAGE...]      needs numpy, tokenizers, tiktoken and BUILD, for some blocks PyTorch; prints TAP
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

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # it would remember files by name
NAMES = {"(aq": "'", "(dq": '"', "(ga": "`", "(ha": "^", "(ti": "~", "e": "\\", "&": "", "-": "-"}


def blocks(page):
    """The literal blocks of a page as readers see them."""
    def plain(m):
        return chr(int(m[2], 16)) if m[2] else NAMES[m[1]]
    with open(page, encoding="utf-8") as f:
        found = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", f.read(), re.M | re.S)
    return [re.sub(r"\\(\[u([0-9A-F]{4,6})\]|\(..|.)", plain, block) for block in found]


def run_commands(block):
    commands = "\n".join(line[2:] for line in block.split("\n") if line.startswith(("$ ", "> ")))
    subprocess.run(["bash", "-c", commands], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def main():
    pages = [os.path.abspath(p) for p in sys.argv[1:]] or sorted(glob.glob(os.path.join(TOP, "man", "*.[1-8]")))
    try:
        import numpy, tiktoken, tokenizers  # noqa: F401 pylint: disable=all
    except ImportError as why:
        lib.skip_all(why)
    for page in pages:
        if not any(block.startswith(">>> ") for block in blocks(page)):
            continue
        names = {}
        with tempfile.TemporaryDirectory() as tmp:
            os.chdir(tmp)
            for block in blocks(page):
                if block.startswith("$ "):
                    run_commands(block)
                elif block.startswith(">>> import torch") and not importlib.util.find_spec("torch"):
                    lib.skip(f"{os.path.basename(page)}: PyTorch", "PyTorch, which is large, is not installed")
                elif block.startswith(">>> "):
                    notes = []
                    test = doctest.DocTestParser().get_doctest(block, names, os.path.basename(page), page, 0)
                    result = doctest.DocTestRunner(verbose=False).run(test, out=notes.append, clear_globs=False)
                    names = test.globs
                    lib.ok(not result.failed, f"{os.path.basename(page)}: {result.attempted} lines of Python", "".join(notes))
            os.chdir(TOP)
    lib.ok(lib.count > 1, "there are pages with lines of Python")
    return lib.done()


sys.exit(main())
