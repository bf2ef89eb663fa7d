#!/usr/bin/env python3
# In messages of the programs and the library, options become the package's parameters; other options are not changed.
import os
import re
import sys
import warnings

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeError, Tokenizer, _errors, _library

np = package.module("numpy")
tok = Tokenizer("tokenizer.json")
lib.write("a.txt", "low lower newest " + lib.EOT + " low\n")
lib.write("bad.txt", b"low \xff")
lib.write("a.jsonl", '{"text":"low lower"}\n')
lib.write("b.jsonl", '{"body":"low lower"}\n')
lib.write("c.jsonl", '{"text":\n')
tok.save("a.tiktoken")
os.unlink("a.tiktoken.json")


def train(path="a.txt", size=300, **options):
    return bpetools.train(path, size, jobs=1, **options)


def encode(path="a.txt", **options):
    return tok.encode_files(path, "ids", jobs=1, **options)


def shard(path="a.txt", directory="s", **options):
    return tok.shard(path, directory, jobs=1, **options)


MESSAGES = {
    "vocab_size=100: must be": lambda: train(size=100),
    'vocab_size="x": not a number': lambda: train(size="x"),
    'pattern="gpt4": no such pattern': lambda: train(pattern="gpt4"),
    'pattern="gpt5": no such pattern': lambda: Tokenizer("a.tiktoken", "gpt5"),
    'special_tokens=["<x>=5"]: the id': lambda: Tokenizer("a.tiktoken", "gpt2", {"<x>": 5}),
    "leave out special_tokens=": lambda: Tokenizer("tokenizer.json", special_tokens=["<x>"]),
    "leave out pattern=": lambda: Tokenizer("tokenizer.json", "gpt2"),
    "give pattern=": lambda: Tokenizer("a.tiktoken").save("x.json"),
    "special_tokens: a special token must": lambda: train(special_tokens=[""]),
    "bad.txt: byte 4: invalid UTF-8 (0xFF); see invalid=": lambda: train("bad.txt"),
    'longest: jsonl="body"); see on_error=': lambda: train("b.jsonl", jsonl=True),
    "c.jsonl: line 1: not JSON": lambda: train("c.jsonl", jsonl=True),
    'on_error="x": must be one of fail, skip': lambda: train(on_error="x"),
    "jsonl= and wet= cannot be combined": lambda: train("a.jsonl", jsonl=True, wet=True),
    'memory="x": not': lambda: train(memory="x"),
    "max_token_length=0: must": lambda: train(max_token_length=0),
    "vocab_size=8000.0: must be an int": lambda: train(size=8e3),
    "expected file names, got dict; for documents, use": lambda: train([{"text": "low"}]),
    "expected file names, got NoneType": lambda: train(None),
    "lower newest: No such file or directory; for texts in memory, use": lambda: train(["lower newest"]),
    "low low low " * 8 + "low ...: No such": lambda: train("low " * 1000),
    '.: is a directory; give a pattern, as "DIR/*"': lambda: train("."),
    'files=[\'a.txt\'], special_tokens=["<|endoftext|>"], pattern="cl100k", invalid="error"':
        lambda: (train(keep="keep", pattern="cl100k"), train(keep="keep")),
}
ENCODING = {
    "a.txt: byte 17: special token <|endoftext|> in the text; see special=": lambda: encode(special="error"),
    'eot_token="zz": not a special token of the tokenizer, which has: <|endoftext|>': lambda: encode(eot="after", eot_token="zz"),
    'dtype="int32": must be one of uint16, uint32; did you mean uint32?': lambda: encode(dtype="int32"),
    "tokens=-1: not a number": lambda: shard(tokens=-1),
    'format="x": must be': lambda: shard(format="x"),
    "tokens=0 makes only one; give a fraction, as test=0.01": lambda: shard(tokens=0, test=1),
    "test=3.5: not a number": lambda: shard(test=3.5),
    'last="drop": with tokens=0': lambda: shard(tokens=0, last="drop"),
    "another value of name=;": lambda: (shard(directory="t"), shard(directory="t", name="x")),
    "another value of dtype=;": lambda: (shard(directory="u"), shard(directory="u", dtype="uint32")),
    "begun with ids='given', now ids=None; give": lambda: (
        raised(KeyError, shard, cut("low"), "v", ids=map(str, range(9**6))), shard(iter(["low"]), "v")),
}


def cut(text):
    """A stream of documents that ends with an error."""
    yield from [text] * 200000
    raise KeyError


WORDS = re.compile(r"(^|[\s(])--?[a-z]")
for what, call in {**MESSAGES, **(ENCODING if np else {})}.items():
    error = raised(BpeError, call)
    lib.ok(error and what in str(error) and not WORDS.search(str(error)), what, error)
if not np:
    lib.skip("encoding files", "numpy is not installed")

with warnings.catch_warnings(record=True) as remarks:
    warnings.simplefilter("always")
    train("a.jsonl", 258)
    train(min_count=1000)
    train(special_tokens=["<x>"])
said = "\n".join(str(remark.message) for remark in remarks)
for what in 'see jsonl= (fields with strings: text; the longest: jsonl="text")', "min_count= left out", 'add special_tokens=["<|endoftext|>"]':
    lib.ok(what in said, f"a warning: {what}", said)

OTHERS = {"self", "files", "source", "directory", "special_tokens", "text", "ids", "table", "last", "length", "superwords"}
codes = [call.__code__ for call in (bpetools.train, Tokenizer.encode_files, Tokenizer.shard)]
names = {name for code in codes for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]}
lib.ok(names - OTHERS == {*_errors.SAME}, "all parameters are known", names ^ OTHERS ^ {*_errors.SAME})

SAME = ("cut -c1 makes a-b of it, -x and --verbose", "a -vector-like --jobsite", "x--invalid", "/tmp/-v 5", "-", "see -- -v--")
for text in SAME:
    lib.ok(_errors.in_python(text) == text, f"not changed: {text}", _errors.in_python(text))
named = _errors.make_error("my -v 5.txt: byte 3: see -v", 65)
lib.ok(str(named) == "my -v 5.txt: byte 3: see vocab_size=", "file names are not changed", named)
made = _errors.program_error(66, b"bpe-encode: a\xff: cannot open")
lib.ok(str(made) == "a\udcff: cannot open", "nor are their bytes", made)
sys.exit(lib.done())
