#!/usr/bin/env python3
# Training and encoding files with the package: the results equal those of the commands, for any kind of sequence;
# and errors.
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import package
from package import descendants, lib, raised

bpetools = package.load()
from bpetools import BpeError, BpeValueError, train, train_from_iterator

RNG = random.Random(3)
WORDS = [
    "low",
    "lower",
    "newest",
    "日本",
    "é",
    "\n",
    '"',
    "\\",
    "\t",
    "\0",
    "\x1f",
    "\x7f",
    "<|endoftext|>",
    "\U0001f980",
    "'s",
    "12",
]
DOCS = [
    "".join(RNG.choice(WORDS) + RNG.choice(["", " "]) for _ in range(RNG.choice([0, 1, 9, 99, 999])))
    for _ in range(900)
]
lib.write("docs.jsonl", "".join(json.dumps({"text": doc}) + "\n" for doc in DOCS))
np = package.module("numpy")
pyarrow = package.module("pyarrow")
warnings.simplefilter("error")


def of_line(*options, size=400):
    """The tokenizer that bpe train makes."""
    return lib.must("bpe", "train", "-v", str(size), *options).decode()


# ---- Documents ----
TEXT = of_line("--jsonl", "--no-special", "--add-special=" + lib.EOT, "docs.jsonl")
TOKEN = of_line("--jsonl", "docs.jsonl")
lib.ok(
    train_from_iterator(iter(DOCS), 400).to_str() == TEXT,
    "a generator of documents with arbitrary text, special tokens as text",
)
lib.ok(
    train_from_iterator([doc.encode() for doc in DOCS], 400, special="token").to_str() == TOKEN,
    "a list of bytes, special tokens as tokens",
)
columns = {
    "a numpy array": np and np.array(DOCS, object),
    "an array of pyarrow": pyarrow and pyarrow.chunked_array([DOCS[:500], DOCS[500:]]),
}
for what, column in columns.items():
    if column is None:
        lib.skip(what, "not installed")
    else:
        lib.ok(train_from_iterator(column, 400).to_str() == TEXT, what)
told = []
rows = ({"n": 1, "text": doc} for doc in DOCS)
made = train_from_iterator(rows, 400, text="text", length=900, progress=lambda *how: told.append(how)).to_str()
lib.ok(made == TEXT and told[-1] == (900, 900) and len(told) > 2, "rows, with progress", told)
options = {
    "pattern": "cl100k",
    "tie": "lex",
    "special_tokens": ["<a>", "<b>"],
    "min_frequency": 3,
    "max_token_length": 5,
    "min_count": 2,
    "jobs": 1,
}
want = of_line(
    "--jsonl",
    "docs.jsonl",
    "-pcl100k",
    "--tie=lex",
    "--no-special",
    "--add-special=<a>",
    "--add-special=<b>",
    "--min-frequency=3",
    "--max-token-length=5",
    "--min-count=2",
)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    lib.ok(train_from_iterator(DOCS, 400, **options).to_str() == want, "options")
lib.ok(
    any("min_count= left out" in str(w.message) for w in said) and said[0].filename == __file__,
    "  and messages are warnings",
    said,
)
want = of_line("--jsonl", "--no-special", "--add-special=" + lib.EOT, "--super=300,drop", "docs.jsonl")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    lib.ok(train_from_iterator(DOCS, 400, superwords="300,drop").to_str() == want, "superwords")
lib.ok("superwords=300: " in str(said[0].message), "  and the warning names the parameter", said[0].message)
error = raised(BpeValueError, train_from_iterator, DOCS, 400, superwords=500)
lib.ok("superwords=500: must be less than" in str(error), "  and so does an error", error)
for wrong in (True, "", [300], 300.0, "300,runs", "300,350"):
    error = raised(BpeValueError, train_from_iterator, DOCS, 400, superwords=wrong)
    lib.ok(f"superwords={wrong!r}: " in str(error), f"superwords={wrong!r}", error)
lib.ok(train_from_iterator([""], 257).vocab_size == 257, "an empty document gives the vocabulary of bytes")

# ---- Files ----
os.mkdir("-d")
for i in range(3):
    lib.write(f"-d/{i}.txt", f"low {i} lower newest<|endoftext|>" * 99)
want = of_line("--", "-d/0.txt", "-d/1.txt", "-d/2.txt", size=265)
for files in ("-d/?.txt", b"-d/*.txt", pathlib.Path("-d", "*.txt"), ["-d/0.txt", pathlib.Path("-d/1.txt"), "-d/2*"]):
    lib.ok(train(files, 265).to_str() == want, f"files: {files!r}")
os.mkdir("many")
names = [f"many/{'long' * 20}{i}.txt" for i in range(2000)]
for i, name in enumerate(names):
    lib.write(name, f"low{i}")
lib.write("list", "\n".join(names))
lib.ok(
    train(names, 300).to_str() == lib.must("bpe", "train", "-v", "300", "--files-from=list").decode(),
    "  thousands of files",
)
lib.ok(
    train("docs.jsonl", 400, jsonl="text", special="text", keep="kept").to_str() == TEXT and os.path.exists("kept/sum"),
    "JSON Lines",
)
lib.ok(
    train("docs.jsonl", 400, jsonl="text", special_tokens=[]).to_str()
    == of_line("--jsonl", "--no-special", "docs.jsonl"),
    "no special tokens",
)
told = []
train("-d/*", 265, progress=lambda *how: told.append(how))
lib.ok(
    told[-1] == (2 * sum(map(os.path.getsize, ("-d/0.txt", "-d/1.txt", "-d/2.txt"))) // 2,) * 2,
    "progress of files is in bytes",
    told,
)

# ---- Files to ids ----
if np:
    tok = train("docs.jsonl", 400, jsonl=True)
    tok.save("m.json")
    for how, words in (
        ({}, []),
        ({"eot": "after", "special": "text"}, ["--eot=after", "--special=text"]),
        ({"dtype": "uint32"}, ["-du32"]),
    ):
        ids = tok.encode_files("docs.jsonl", "ids.bin", jsonl=True, **how)
        lib.ok(
            ids.tobytes()
            == lib.read("ids.bin")
            == lib.must("bpe-encode", "-m", "m.json", "--jsonl", *words, "docs.jsonl"),
            f"encode_files: {how}",
        )
    lib.ok(ids.dtype == np.uint32 and len(tok.encode_files(os.devnull, "none.bin")) == 0, "  an empty file, too")
    error = raised(BpeError, tok.encode_files, "docs.jsonl", "/proc/none", jsonl=True)
    lib.ok(error and error.exit_code == 73, "  to a path at which no file can be created", error)

# ---- Errors ----


def fails(name, kind, exit_code, message, place, call, *arguments, **options):
    """place: input, offset, line, document."""
    error = raised(kind, call, *arguments, **options)
    good = error and error.exit_code == exit_code and message in str(error)
    lib.ok(
        good and (error.input, error.offset, error.line, error.document) == place,
        name,
        (error, vars(error) if error else ""),
    )


lib.write("bad.jsonl", '{"text":"low"}\n{"text":low}\n')
lib.write("bad.txt", b"low \xff")
doc = "document 1"
fails(
    "invalid UTF-8 in a file", BpeValueError, 65, "invalid UTF-8 (0xFF)", ("bad.txt", 4, None, None), train, "bad.txt", 300
)
fails(
    "invalid JSON in a file",
    BpeValueError,
    65,
    "bad.jsonl: line 2: ",
    ("bad.jsonl", None, 2, None),
    train,
    "bad.jsonl",
    300,
    jsonl=True,
)
for what, path in (("No such file", "none.txt"), ('is a directory; give a pattern, as "DIR/*"', "-d")):
    fails(what, BpeError, 66, what, (path, None, None, None), train, path, 300)
lib.write("body.jsonl", '{"body":"low"}\n' * 9)
why = "no text is left: 9 lines"
fails("a field that no line has", BpeValueError, 65, why, (None,) * 4, train, "body.jsonl", 300, jsonl=True, on_error="skip")
if np:
    skip = {"jsonl": True, "on_error": "skip"}
    fails("  with encode_files, too", BpeValueError, 65, why, (None,) * 4, tok.encode_files, "body.jsonl", "left.bin", **skip)
    lib.ok(not os.path.exists("left.bin"), "  and makes no file")
for none in ([], iter([])):
    fails("no documents", BpeValueError, 65, "there are no documents", (None,) * 4, train_from_iterator, none, 300)
fails(
    "no file matches",
    BpeError,
    66,
    "nothing*: no file matches",
    ("nothing*", None, None, None),
    train,
    ["-d/*", "nothing*"],
    300,
)
fails("too small", BpeValueError, 64, "257", (None,) * 4, train_from_iterator, ["low"], 256)
fails(
    "a lone surrogate",
    BpeValueError,
    65,
    "U+DC00 is a lone surrogate, which is not valid text; invalid='replace' replaces it with U+FFFD",
    (doc, 2, None, 1),
    train_from_iterator,
    ["low", "ab\udc00"],
    300,
)
fails(
    "invalid UTF-8 in bytes",
    BpeValueError,
    65,
    "byte 2: invalid UTF-8 (0xE9); invalid='replace'",
    (doc, 2, None, 1),
    train_from_iterator,
    ["low", b"ab\xe9"],
    300,
)
fails(
    "not a text",
    BpeValueError,
    64,
    "document 1 is NoneType",
    (None, None, None, 1),
    train_from_iterator,
    ["low", None],
    300,
)
fails("a single text", BpeValueError, 64, "bpetools.train takes file names", (None,) * 4, train_from_iterator, "low", 300)
fails("a missing field", BpeValueError, 65, "its fields are 'a'", (None, None, None, 0), train_from_iterator, [{"a": ""}], 300, text="b")
fails(
    "a single special token",
    BpeValueError,
    64,
    "give a list",
    (None,) * 4,
    train_from_iterator,
    ["low"],
    300,
    special_tokens="<s>",
)
lib.ok(raised(TypeError, train, "bad.txt", 300, fan_out="xargs"), "an unknown option")
for invalid in ("replace", "skip"):
    lib.write("some.jsonl", '{"text":"a\\ud800b"}\n' * 9)
    want = lib.must("bpe", "train", "-v300", "--jsonl", f"--invalid={invalid}", "-fmerges", "some.jsonl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for some in (["a\ud800b"] * 9, [b"a\xe9b"] * 9):
            train_from_iterator(some, 300, invalid=invalid).save("got", "merges")
            lib.ok(lib.read("got") == want, f"invalid={invalid}: {some[0]!r}")
place = os.environ.pop("PATH")
os.environ["PATH"] = "/none"
fails("not installed", BpeError, 127, "not installed", (None,) * 4, train, "bad.txt", 300)
os.environ["PATH"] = place

# ---- Processes ----


class Mine(Exception):
    pass


def endless(then):
    for i in range(1 << 40):
        yield "low lower newest " * 1000
        if i == 300:
            then()


def fail():
    raise Mine


def kill_it():
    pid = descendants()[0][0]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(pid, signal.SIGKILL)


before = os.listdir("/proc/self/fd"), threading.active_count()
lib.ok(raised(Mine, train_from_iterator, endless(fail), 300), "an exception of a generator is passed on")
lib.ok(
    raised(KeyboardInterrupt, train_from_iterator, endless(lambda: os.kill(os.getpid(), signal.SIGINT)), 300),
    "  and an interrupt",
)
error = raised(BpeError, train_from_iterator, endless(kill_it), 300)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
lib.ok(
    error and error.exit_code == 137, "a killed program is an error, also with SIGPIPE set to its default", error
)
until = time.monotonic() + 5
while descendants() and time.monotonic() < until:
    time.sleep(0.05)
lib.ok(
    not descendants() and before == (os.listdir("/proc/self/fd"), threading.active_count()),
    "no process, thread or descriptor is left",
    descendants(),
)

os.mkfifo("never")
child = subprocess.Popen([sys.executable, "-c", "import bpetools; bpetools.train('never', 300)"])
until = time.monotonic() + 10
while time.monotonic() < until and len(descendants()) < 5:
    time.sleep(0.05)
programs = descendants()
child.kill()
child.wait()
until = time.monotonic() + 5
alive = [*programs]
while alive and time.monotonic() < until:
    time.sleep(0.05)
    alive = [
        pid for pid, _ in programs if lib.run(["ps", "-o", "stat=", "-p", str(pid)])[1].strip()[:1] not in (b"", b"Z")
    ]
lib.ok(len(programs) >= 4 and not alive, "if this process is killed, all programs end", (programs, alive))

results = []
worker = threading.Thread(target=lambda: results.append(train_from_iterator(DOCS, 400).to_str()))
worker.start()
stdout, sys.stdout, sys.stderr = sys.stdout, None, None
made = train_from_iterator(DOCS, 400).to_str()
sys.stdout, sys.stderr = stdout, sys.__stderr__
worker.join()
lib.ok([made] == results == [TEXT], "two threads, without sys.stdout")


def forking():
    """Forks a child meanwhile, which must not keep the pipe of text open."""
    for i, doc in enumerate(DOCS):
        if i == 500:
            child.append(os.fork())
            if child[0] == 0:
                time.sleep(20)
                os._exit(0)
        yield doc


child = []
begin = time.monotonic()
lib.ok(train_from_iterator(forking(), 400).to_str() == TEXT and time.monotonic() - begin < 15, "training while a child runs")
os.kill(child[0], signal.SIGKILL)
os.waitpid(child[0], 0)
sys.exit(lib.done())
