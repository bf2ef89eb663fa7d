#!/usr/bin/env python3
# shard.py - `bpe ray shard`: `bpe shard` whose processes that encode are tasks of a Ray cluster; bpe-engines(7)
#
# The model goes to the machines through the object store. With --upload, `bpe upload` runs beside `bpe shard`. With --text,
# the text of Parquet files is made by the machines first, as one process could not read it as fast as they encode.
#
# Exit status: that of `bpe shard`, and if that is 0, of `bpe upload`. 75: the same command again goes on.
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # not into where this is installed
import engine

USAGE = f"""\
usage: bpe ray shard -m MODEL -o DIR [--upload=REMOTE:PATH] [--continue] [--text=DIR]
                     [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--results=DIR]
                     [--unit=MB] [--retries=N] [OPTION]... [FILE]...
Makes shards of FILEs in DIR, which are encoded on the machines of a Ray cluster.
      --upload=REMOTE:PATH  copy shards there as they are finished: see bpe upload
      --continue         go on where it was; that is so without it, too
      --text=DIR         with --parquet: the machines put the text of FILEs into DIR first
{engine.HELP}  -h, --help             this text
All other OPTIONs are those of bpe shard: see its --help.
"""

TO_TEXT = """\
set -o pipefail
file=${!#} new=$1/.$HOSTNAME.$$
text=$1/${file##*/}.zst
"$0" "${@:2:$#-2}" -- "$file" | zstd -q -1 >"$new" && mv "$new" "$text" && exit
code=$?
rm -f "$new"
exit $code
"""  # its name is bpe parquet's; DIR, options, FILE


def make_texts(directory, given, others):
    """Each file NAME.parquet among the other words is written to DIR/NAME.zst, if that is not newer. Returns words with
    these files instead. Ends with what failed."""
    options, files, rest = engine.parquet_words(others)
    texts = [os.path.join(directory, os.path.basename(file) + ".zst") for file in files]
    if not files or len(set(texts)) < len(texts):
        engine.die("shard", "--text is for --parquet and FILEs NAME.parquet, each with another NAME")
    os.makedirs(directory, exist_ok=True)
    todo = [file for file, text in zip(files, texts) if not is_newer(text, file)]
    if todo:
        script = ["bash", "-c", TO_TEXT, os.path.join(os.path.dirname(engine.HERE), "parquet"), directory, *options]
        lines = "".join(file + "\n" for file in todo).encode("utf-8", "surrogateescape")
        status = subprocess.run([*engine.via(given), "--each", *script], input=lines).returncode
        if status:
            sys.exit(status)
    return [*rest, "-0", "--", *texts]


def is_newer(text, file):
    try:
        return os.stat(text).st_mtime_ns > os.stat(file).st_mtime_ns
    except FileNotFoundError:
        return False


def status_of(child):
    """As the shell has it."""
    status = child.wait()
    return status if status >= 0 else 128 - status


def run_both(shard, upload):
    """What both are told to end by ends them; without shards there is nothing more to upload."""
    children = []

    def end(number, _):
        for child in children:
            child.send_signal(number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    children = [subprocess.Popen(shard), subprocess.Popen(upload, stdout=2, stdin=subprocess.DEVNULL)]
    status = status_of(children[0])
    if status:
        children[1].terminate()
    uploaded = status_of(children[1])
    return status or uploaded


def main():
    given, others = engine.arguments("shard", USAGE, (*engine.OPTIONS, "upload", "text"))
    others = [word for word in others if word != "--continue"]
    own = {name: value for name, value in given if name in ("upload", "text")}
    given = [(name, value) for name, value in given if name not in own]
    if "text" in own:
        others = make_texts(own["text"], given, others)
    model, directory = engine.value_of(others, "-m", "--model"), engine.value_of(others, "-o", "--output")
    words = engine.words("shard", [*given, ("send", model)] if model else given, others)
    if "upload" not in own:
        os.execv(words[0], words)
    if not directory:
        engine.die("shard", "where do the shards go? give -o DIR; see --help")
    sys.exit(run_both(words, [os.path.join(os.path.dirname(engine.HERE), "upload"), directory, own["upload"]]))


main()
