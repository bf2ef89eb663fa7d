#!/usr/bin/env python3
# Shards made with the package, from files and documents: equal to those of bpe shard, also after a kill and a restart.
import collections
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import package
from package import descendants, lib, raised

bpetools, TOP = package.load(), sys.argv[1:]
from bpetools import BpeError, BpeValueError, Tokenizer

RNG = random.Random(7)
WORDS = 'low lower newest wide 日本 é \n " \\ \t \0 <|endoftext|>'.split(" ") + [" "]
DOCS = ["".join(RNG.choice(WORDS) + " " for _ in range(RNG.choice([0, 1, 9, 99, 800]))) for _ in range(1500)]
NAMES = [f'id "{i}"\n' if i % 7 == 0 else f"é{i}" for i in range(len(DOCS))]
tok = Tokenizer("tokenizer.json")


def tree(top):
    """The bytes of each file in a directory, by path."""
    return {
        os.path.relpath(os.path.join(path, name), top): lib.read(os.path.join(path, name))
        for path, _, names in os.walk(top)
        for name in names
    }


def of_line(*options, docs=DOCS):
    """The shards that bpe shard makes of the same documents."""
    shutil.rmtree("line", ignore_errors=True)
    lines = "".join(json.dumps({"text": doc, "id": name}) + "\n" for doc, name in zip(docs, NAMES))
    lib.must("bpe", "shard", "-m", "tokenizer.json", "-o", "line", "--jsonl", *options, data=lines.encode())
    return tree("line")


def same(directory, want):
    """Equal, except the tokenizer, which the package adds, and facts about the source's JSON in the manifest."""

    def plain(files):
        return {name: data for name, data in files.items() if name not in ("tokenizer.json", "manifest.json")}

    got, checksum = tree(directory), json.loads(want["manifest.json"])["checksum"]
    return plain(got) == plain(want) and json.loads(got["manifest.json"])["checksum"] == checksum


# ---- Documents in any kind of sequence ----
want = of_line("-n", "50000", "--eot=before", "--special=text")
manifest = tok.shard(iter(DOCS), "plain", tokens=50000, eot="before")
lib.ok(same("plain", want) and manifest["complete"], "documents from a generator: the shards of bpe shard")
lib.ok(lib.read("plain/tokenizer.json") == lib.read("tokenizer.json"), "  and the tokenizer")
tok.shard((doc.encode() for doc in DOCS), "bytes", tokens=50000, eot="before")
lib.ok(tree("bytes") == tree("plain"), "documents as bytes: the same")
rows = ({"text": doc, "name": name} for doc, name in zip(DOCS, NAMES))
tok.shard(
    rows, "rows", tokens=50000, eot="before", special="token", text="text", ids="name", table=True, format="raw", test=1
)
want = of_line("-n", "50000", "--eot=before", "--id=id", "--docs", "-f", "raw", "--test=1")
lib.ok(same("rows", want), "rows with ids, special tokens, a test shard")
lib.ok(not os.path.exists("rows/.work"), "  and no temporary files are left")


class Untouched:
    def __iter__(self):
        raise AssertionError("a document was read")


lib.ok(
    tok.shard(Untouched(), "plain", tokens=50000, eot="before") == manifest,
    "if a directory is complete, no document is read",
)
error = raised(BpeValueError, tok.shard, Untouched(), "plain", tokens=40000, eot="before")
lib.ok(
    error and error.exit_code == 64 and "begun with tokens=50000, now tokens=40000;" in str(error),
    "  other options are refused",
    error,
)
error = raised(BpeValueError, tok.shard, Untouched(), "plain", tokens=50000, eot="before", ids="id", text="text")
lib.ok(error and "begun with ids=None, now ids='given';" in str(error), "  ids are refused if there were none", error)
error = raised(BpeValueError, tok.shard, collections.deque(DOCS + [""]), "plain", tokens=50000, eot="before")
lib.ok(
    error and error.exit_code == 65 and "has 1500 documents, but now there are 1501" in str(error),
    "  another number of documents is refused",
    error,
)


def dying():
    """Kills the encoders meanwhile."""
    for i, doc in enumerate(DOCS):
        yield doc
        if i == 1100:
            while sum(name == "bpe-encode" for _, name in descendants()) < 2:
                time.sleep(0.01)
            for pid, name in descendants():
                if name == "bpe-encode":
                    os.kill(pid, signal.SIGKILL)


error = raised(BpeError, tok.shard, dying(), "died", tokens=50000, eot="before", jobs=2)
lib.ok(
    error and error.exit_code == 75 and "run the same command again" in str(error),
    "if programs die, the error says to repeat the call",
    error,
)
tok.shard(iter(DOCS), "died", tokens=50000, eot="before")
lib.ok(tree("died") == tree("plain"), "  which resumes")

# ---- Sources that are not documents ----


class Splits(dict):
    """Like DatasetDict."""


class Split:
    column_names = ["text"]


rows = [{"id": "a" * 9, "n": 1, "body": "low lower newest"}] * 2 + [{"id": "b" * 9, "text": "low"}]
for label, source, options, want in (
    ("a dict of splits", Splits(train=Split()), {"text": "text"}, "a dict of splits; pass one of them, such as ds['train']"),
    ("a dict of columns", {"text": ["low"]}, {"text": "text"}, "pass one column of documents, such as docs['text']"),
    ("rows without a field", iter(rows), {}, "document 0 is a dict: name its field with the text, as text='body'"),
    ("  if one is called text", iter(rows[2:]), {}, "as text='text'"),
    ("a wrong field", iter(rows), {"text": "body"}, "document 2 has no field 'body'; its fields are 'id', 'text'"),
    ("  of ids", iter(rows), {"text": "body", "ids": "n"}, "document 2 has no field 'body'; its fields are 'id', 'text'"),
    ("fields of a text", iter(["low"]), {"text": "body"}, "document 0 is str, which has no fields"),
    ("no documents", iter([]), {}, "there are no documents"),
    ("a separator without its place", iter(DOCS), {"eot": True}, "eot=True: must be 'after' or 'before'"),
):
    error = raised(BpeValueError, tok.shard, source, "none", **options)
    lib.ok(error and want in str(error) and not os.path.exists("none"), label, error)
    if "2 has" in want:
        lib.ok(error.document == 2, "  with its number")

# ---- Two processes at the same time ----
os.mkdir("two")
with open("two/.documents", "wb") as locked, warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fcntl.flock(locked, fcntl.LOCK_EX)
    threading.Timer(0.5, fcntl.flock, (locked, fcntl.LOCK_UN)).start()
    tok.shard(iter(DOCS), "two", tokens=50000, eot="before")
lib.ok([f"{os.getcwd()}/two: other processes are working there; waiting for them"] == [str(w.message) for w in said], "the second waits", said)
lib.ok(tree("two") == tree("plain"), "  and makes the same shards")

# ---- Files ----
lib.write("bad.jsonl", '{"body":"low"}\n' * 3)
error = raised(BpeValueError, tok.shard, "bad.jsonl", "left", jsonl=True, on_error="skip")
lib.ok(error and "no text is left: 3 lines" in str(error), "a field that no line has", error)
lib.write("a.txt", "low<|endoftext|>lower<|endoftext|>newest " * 50)
lib.write("b.txt", "wide")
shutil.rmtree("line", ignore_errors=True)
lib.must(
    "bpe",
    "shard",
    "-m",
    "tokenizer.json",
    "-o",
    "line",
    "-n",
    "50",
    "--shuffle=documents",
    "--test=1",
    "--eot=after",
    "a.txt",
    "b.txt",
)
told = []
manifest = tok.shard(
    "?.txt", "files", tokens=50, shuffle=True, test=1, eot="after", progress=lambda *how: told.append(how)
)
lib.ok(
    same("files", tree("line")) and tree("files")["manifest.json"] == tree("line")["manifest.json"],
    "files: the shards of bpe shard",
)
size = os.path.getsize("a.txt") + os.path.getsize("b.txt")
lib.ok(told and told[-1] == (size, size), "  progress is in bytes", told)
error = raised(BpeError, tok.shard, ["low lower\nnewest"], "none")
lib.ok(
    error and "iter(docs)" in str(error) and not os.path.exists("none"), "a list of documents is refused as file names", error
)
for options in ({"ids": "id"}, {"last": "none"}, {"dtype": "int8"}, {"special": "no"}):
    lib.ok(
        raised(BpeValueError, tok.shard, "a.txt", "none", **options) and not os.path.exists("none"),
        f"  {options} are refused",
    )
for source, want in (iter(["low"]), "begun with files, now documents"), ("a.txt", "documents, now file names; pass iter"):
    where = "files" if want[0] == "b" else "documents first"
    if want[0] == "d":
        tok.shard(iter(["low"]), where)
    error = raised(BpeValueError, tok.shard, source, where, tokens=50)
    lib.ok(error and want in str(error), f"  {want}", error)
lib.write("a file", "")
error = raised(BpeError, tok.shard, "a.txt", "a file")
lib.ok(error and error.exit_code == 73 and "a file: cannot create" in str(error), "  a file is refused as directory", error)

# ---- Two calls at the same time: the second waits ----
begun, reads = threading.Event(), []


def slow_documents():
    for i in range(2000):
        if i == 1000:
            begun.set()
            time.sleep(0.5)
        yield DOCS[i % len(DOCS)]


def first_call():
    reads.append(tok.shard(slow_documents(), "twice", tokens=1000)["checksum"])


thread = threading.Thread(target=first_call)
thread.start()
begun.wait()
with warnings.catch_warnings(record=True) as remarks:
    warnings.simplefilter("always")
    second = tok.shard(slow_documents(), "twice", tokens=1000)
thread.join()
lib.ok(reads == [second["checksum"]] and "waiting" in str(remarks[0].message), "a second call waits for the first", remarks)
lib.ok(not os.path.exists("twice/.documents"), "  and nothing else is left")

other = bpetools.train("a.txt", 260)
error = raised(BpeValueError, other.shard, "?.txt", "files", tokens=50)
lib.ok(error and "another tokenizer" in str(error), "another tokenizer is refused", error)

# ---- The same documents after a kill ----
# A child process makes the documents, waits until there are twenty shards, because the documents so far are durable then (twenty blocks,
# if they are shuffled and there are no shards before the end), and kills itself.
# The next one resumes. It gets other text in place of documents that it must not read again.
SCENES = {  # the document at which it dies, and options
    "in order": (1100, {"eot": "before"}),
    "ids": (1400, {"ids": True, "table": True}),
    "test shards": (1200, {"test": 2, "ids": True, "eot": "after"}),
    "a test fraction": (1200, {"test": 0.3}),
    "shuffled": (1200, {"shuffle": True, "special": "token", "eot": "before"}),
}
CHILD = """
import os, signal, sys, time
sys.argv = ["", "child"]
exec(open({script!r}).read().partition("# ---- Documents in any")[0].replace("package.load()", "__import__('bpetools._shards')"))
def documents(kill, skipped):
    for i, doc in enumerate(DOCS):
        if i == kill:
            for _ in range(900):
                if os.path.exists({directory!r} + "/manifest.json") and lib.read({directory!r} + {file!r}).count({what!r}) > 19:
                    break
                time.sleep(0.1)
            else:
                raise TimeoutError("no shards are made")
            os.kill(os.getpid(), signal.SIGKILL)
        yield "other" if i < skipped else doc
options = {options!r}
bpetools._shards.BLOCK = 16 << 10  # so that there are many blocks
if options.pop("ids", None):
    options["ids"] = iter(NAMES)
tok.shard(documents({kill}, {skipped}), {directory!r}, tokens=12000, jobs=2, **options)
"""


def start(directory, options, kill=-1, skipped=0):
    file, what = ("/.documents", b"\n") if "shuffle" in options else ("/manifest.json", b'"first":')
    code = CHILD.format(
        script=os.path.abspath(SCRIPT),
        options=options,
        directory=directory,
        file=file,
        what=what,
        kill=kill,
        skipped=skipped,
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": f"{package.ROOT}:{os.path.dirname(SCRIPT)}"}
    )


SCRIPT = os.path.join(lib.TESTS, "python", "shard.t")
children = [start(f"killed {n}", options, kill) for n, (kill, options) in enumerate(SCENES.values())]
lib.ok({child.wait() for child in children} == {-signal.SIGKILL}, "all were killed")
done = []
for n, (label, (kill, options)) in enumerate(SCENES.items()):
    manifest = json.loads(lib.read(f"killed {n}/manifest.json"))
    last = {shard["split"]: shard["last"]["line"] - 1 for shard in manifest["shards"]}  # in each split
    both = len(last) == 2 and min(last.values())
    complete = 0 if "shuffle" in options else both if options.get("test") == 0.3 else max(last.values())
    given = [[*map(int, line.split())] for line in lib.read(f"killed {n}/.documents").splitlines()]
    done.append(max(first for first, *_ in given if first <= complete))
    lib.ok(not manifest["complete"] and (n > 2 or done[n] > 100), f"{label}: some shards are made", done)
    lib.ok(sum(given[-1][:2]) > complete and len(given) > 2, "  and more documents were passed", given)

# ---- Different documents ----


class Rows:
    """Like a dataset, with skip."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        raise AssertionError("not skipped")

    def __len__(self):
        return len(self.rows)

    def skip(self, n):
        told.append(n)
        return self.rows[n:]


def others(n, docs, want, label, names=NAMES):
    """Resumes the n-th scene with other documents, which must be refused."""
    options = {**[*SCENES.values()][n][1], "tokens": 12000, "jobs": 2}
    if options.pop("ids", None):
        options["ids"] = names
    error = raised(BpeValueError, tok.shard, docs, f"killed {n}", **options)
    lib.ok(error and error.exit_code == 65 and want in str(error), label, error)
    return error


same_order = "are not the same as when these shards were begun: give the same ones in the same order"
shuffled = [*DOCS]
RNG.shuffle(shuffled)
error = others(0, Rows(shuffled), f"documents {done[0]} to ", "documents in another order")
lib.ok(error and same_order in str(error) and error.document == done[0] == told[-1], "  the error names them", error)
at = next(i for i in range(done[0], len(DOCS)) if DOCS[i] != DOCS[i + 1])
swapped = [*DOCS[:at], DOCS[at + 1], DOCS[at], *DOCS[at + 2 :]]
others(0, iter(swapped), same_order, "  two documents in another order")
others(1, Rows(DOCS), same_order, "other ids", names=[*NAMES[1:], "x"])
others(1, Rows([doc + " " for doc in DOCS]), same_order, "other text with the same ids")
others(4, iter(shuffled), "documents 0 to ", "another order, if none are skipped")
others(0, iter(DOCS[: done[0]]), "there are fewer documents than before", "fewer documents than were skipped")
others(0, iter(DOCS[: done[0] + 2]), "there are fewer documents than before", "fewer documents than were passed")
others(0, Rows(DOCS[: done[0] + 2]), "there are fewer documents than before", "  detected by len")

# ---- The same documents ----
children = [start(f"killed {n}", options, -1, done[n]) for n, (_, options) in enumerate(SCENES.values())]
children += [start(f"want {n}", options) for n, (_, options) in enumerate(SCENES.values())]
lib.ok({child.wait() for child in children} == {0}, "all resume")
for n, label in enumerate(SCENES):
    lib.ok(
        tree(f"killed {n}") == tree(f"want {n}"),
        f"{label}: {done[n]} documents are not read again, and the shards are right",
    )
sys.exit(lib.done())
