#!/usr/bin/env python3
# shard.py - `bpe ray shard`: `bpe shard`, with encoding in tasks of a Ray cluster; bpe-engines(7)
#
# The model goes to the machines through the object store. With --upload, `bpe upload` runs at the same time as `bpe shard`.
# With --text, the machines extract the text of Parquet files first, because a single process could not read it as fast as
# they encode.
#
# Exit status: that of `bpe shard` or, if that is 0, of `bpe upload`. 75: the same command resumes; 127 without Ray.
import hashlib
import os
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import engine
import worker
from command import all_other_options, arguments, bpe_words, filter_words, need_module, need_program, refuse
from failure import Failure, run, say

NAME = "bpe ray shard"
USAGE = f"""\
usage: bpe ray shard -m MODEL -o DIR [--upload=REMOTE:PATH] [--continue] [--text=DIR]
                     [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--results=DIR]
                     [--unit=MB] [--retries=N] [OPTION]... [FILE]...
Encodes FILEs on the machines of a Ray cluster, and makes shards in DIR.
      --upload=REMOTE:PATH  copy finished shards to REMOTE:PATH: see bpe upload
      --continue         resume where the command was interrupted; this is also the default
      --text=DIR         with --parquet: let the machines write the text of FILEs to DIR first
{engine.HELP}  -h, --help             show this help
{all_other_options("shard")}"""


# ---- The text of Parquet ----


def key_of(file, options):
    """A hash of everything that determines a text, for its name, so that it is not confused with the text of another file."""
    try:
        found = os.stat(file)
    except OSError as error:
        raise Failure(66, f"{file}: cannot open: {error.strerror}")
    made_of = repr([os.path.realpath(file), found.st_size, found.st_mtime_ns, *options])
    return hashlib.sha256(made_of.encode()).hexdigest()[:16]


def check_names(options, files):
    if not options or not files:
        raise Failure(64, "--text needs --parquet, and FILEs named NAME.parquet")
    for file in files:
        if not file.endswith(".parquet"):
            raise Failure(64, f"{file}: with --text, the name of a Parquet file must end in .parquet")
        if "\n" in file:
            raise Failure(64, f"{file!r}: with --text, no name may have a line feed in it")
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise Failure(64, "with --text, each FILE may be given once")


def text_is_there(text):
    try:
        return os.path.getsize(text) > 0  # compressed text without documents is not empty
    except OSError:
        return False


def make_texts(directory, given, others):
    """Runs tasks that write the text of each FILE NAME.parquet in the other words to DIR/NAME.parquet.KEY.zst, unless it
    exists. Returns the words with these files instead. If a task fails, exits with its status."""
    options, files, rest = engine.parquet_words(others)
    check_names(options, files)
    keys = [key_of(file, options) for file in files]
    texts = [os.path.join(directory, f"{os.path.basename(file)}.{key}.zst") for file, key in zip(files, keys)]
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise Failure(73, f"{directory}: cannot create: {error.strerror}")
    todo = [(file, key, text) for file, key, text in zip(files, keys, texts) if not text_is_there(text)]
    if todo:
        script = [os.path.join(engine.HERE, "text.py"), directory, *options]
        lines = open(os.memfd_create("todo"), "w+b", 0)
        worker.write_whole(lines.fileno(), "".join(f"{key} {file}\n" for file, key, _ in todo).encode("utf-8", "surrogateescape"))
        lines.seek(0)
        fan_out = [*filter_words(engine.HERE, given), "--each", *script]
        (status,) = worker.statuses_of(worker.start(fan_out, stdin=lines))
        if status > 128:
            say(NAME, "the process that makes the text was killed; run the same command again")
        if status:
            sys.exit(status)
    for file, key, text in todo:
        if key_of(file, options) != key:
            os.unlink(text)
            raise Failure(75, f"{file}: changed while its text was made; run the same command again")
    return [*rest, "-0", "--", *texts]


# ---- All ----


def run_both(shard, upload):
    """Runs both commands. If one fails, the other is terminated."""
    shards = worker.start(shard)
    uploads = worker.start(upload, stdout=2, stdin=open(os.devnull, "rb"))
    status, uploaded = worker.statuses_of(shards, uploads)
    if max(status, uploaded) > 128 and status not in range(1, 129):
        raise Failure(75, f"bpe {'shard' if status > 128 else 'upload'} was killed; run the same command again")
    return status or uploaded


def main():
    given, others = arguments(USAGE, (*engine.OPTIONS, "upload", "text"))
    refuse("shard", others)
    need_module("ray")
    need_program("bpe")
    others = [word for word in others if word != "--continue"]
    own = {name: value for name, value in given if name in ("upload", "text")}
    if own.get("text", "").startswith("-"):  # zstd would take it as an option
        own["text"] = "./" + own["text"]
    given = [(name, value) for name, value in given if name not in own]
    if "text" in own:
        others = make_texts(own["text"], given, others)
    model, directory = engine.value_of(others, "-m", "--model"), engine.value_of(others, "-o", "--output")
    words = bpe_words("shard", filter_words(engine.HERE, [*given, ("send", model)] if model else given), others)
    if "upload" not in own:
        os.execvp(words[0], words)
    if not directory:
        raise Failure(64, "missing -o DIR (directory of the shards); see --help")
    return run_both(words, ["bpe", "upload", "--", directory, own["upload"]])


run(NAME, main)
