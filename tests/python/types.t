#!/usr/bin/env python3
# Type checks with mypy: the package and a correct program pass, and wrong uses are errors.
import os
import sys

import package
from package import lib

package.load()
if lib.run([sys.executable, "-m", "mypy", "--version"])[0] or not package.module("numpy"):
    lib.skip_all("mypy or numpy is not installed")

MYPY = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={os.getcwd()}/cache"]
MYPY += ["--disable-error-code=import-not-found"]  # transformers and others may not be installed
RIGHT = """
import pickle
from pathlib import Path
import bpetools
from bpetools import BpeError, Tokenizer

tok = Tokenizer.from_file(Path("tokenizer.json"), special_tokens={"<s>": 5})
ids: list[int] = tok.encode("low", special="token")
text: str = tok.decode(ids) + tok.decode(tok.encode_batch(["low", b"low"])[0])
flat, offsets = tok.encode_flat((doc for doc in ["low"]), threads=2)
total: int = int(flat.sum()) + int(offsets[-1]) + len(tok)
name: str = tok.id_to_token(5) or "none"
try:
    bpetools.Tokenizer(b"none").save("a.json", "json")
except BpeError as error:
    code: int = error.exit_code
"""
WRONG = {
    "tok.encode(5)": "arg-type",
    "tok.encode_batch(5)": "arg-type",
    "tok.id_to_token(5).upper()": "union-attr",
    "tok.none": "attr-defined",
}
os.environ["MYPYPATH"] = package.ROOT


def check(*arguments):
    code, out, err = lib.run([*MYPY, *arguments])
    return code, out.decode() + err


code, out = check("-p", "bpetools")
lib.ok(code == 0, "mypy --strict accepts the package", out)
lib.write("right.py", RIGHT)
code, out = check("right.py")
lib.ok(code == 0, "  and a program that uses it", out)
lib.write("wrong.py", "from bpetools import Tokenizer\ntok = Tokenizer('a')\n" + "".join(f"{line}\n" for line in WRONG))
code, out = check("wrong.py")
found = [line.rpartition("[")[2].rstrip("]") for line in out.splitlines() if ": error:" in line]
lib.ok(code == 1 and found == [*WRONG.values()], "  and finds wrong uses", out)
sys.exit(lib.done())
