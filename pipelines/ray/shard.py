#!/usr/bin/env python3
# shard.py - `bpe ray shard`: `bpe shard` whose processes that encode are tasks of a Ray cluster; bpe-engines(7)
#
# The model goes to the machines through the object store. With --upload, `bpe upload` runs beside `bpe shard`. With --text,
# the text of Parquet files is made by the machines first, as one process could not read it as fast as they encode.
#
# Exit status: that of `bpe shard`, and if that is 0, of `bpe upload`. 75: the same command again goes on.
import hashlib
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # not into where this is installed
import engine

ENDS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
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
key=${!#}
file=${key#* } key=${key%% *}
text=${file##*/}.$key.zst
new=$1/.$text.new.$HOSTNAME.$BASHPID.${SRANDOM:-$RANDOM$RANDOM}
: >"$new" || exit 73
"$0" "${@:2:$#-2}" -- "$file" | zstd -q -1 >"$new"
codes=("${PIPESTATUS[@]}") code=${codes[1]}
((code == 0 || code > 125)) || code=74
((code)) || code=${codes[0]}
if ((code == 0)) && { sync "$new" && mv "$new" "$1/$text" || [ -e "$1/$text" ]; }; then
    rm -f "$1/.$text.new."* # also those of attempts that were killed
    exit
fi
rm -f "$new"
((code)) || code=74
exit "$code"
"""  # its name is bpe parquet's; DIR, options, KEY FILE


class Children:
    """Processes that are told what this one is told to end by, from now on."""

    def __init__(self):
        self.all, self.told = [], 0
        for number in ENDS:
            signal.signal(number, self.end)

    def end(self, number, _):
        self.told = number
        for child in self.all:
            child.send_signal(number)

    def start(self, words, **files):
        self.all.append(subprocess.Popen(words, **files))
        if self.told:  # while it began
            self.all[-1].send_signal(self.told)
        return self.all[-1]

    def dismiss(self):
        """Without children, it is this process that ends."""
        for number in ENDS:
            signal.signal(number, signal.SIG_DFL)
        if self.told:
            sys.exit(128 + self.told)


# ---- The text of Parquet ----


def key_of(file, options):
    """What a text is made of, as a few characters of its name: so no other file's text is taken for it."""
    try:
        found = os.stat(file)
    except OSError as error:
        engine.die("shard", f"{file}: cannot open: {error.strerror}", 66)
    made_of = repr([os.path.realpath(file), found.st_size, found.st_mtime_ns, *options])
    return hashlib.sha256(made_of.encode()).hexdigest()[:16]


def check_names(options, files):
    if not options or not files:
        engine.die("shard", "--text is for --parquet and FILEs NAME.parquet")
    for file in files:
        if not file.endswith(".parquet"):
            engine.die("shard", f"{file}: with --text, the name of a Parquet file must end in .parquet")
        if "\n" in file:
            engine.die("shard", f"{file!r}: with --text, no name may have a line feed in it")
    if len({os.path.realpath(file) for file in files}) < len(files):
        engine.die("shard", "with --text, each FILE may be given once")


def text_is_there(text):
    try:
        return os.path.getsize(text) > 0  # text of no documents is not empty when compressed
    except OSError:
        return False


def make_texts(directory, given, others):
    """Of each FILE NAME.parquet among the other words, the text is written to DIR/NAME.parquet.KEY.zst, if it is not
    there. Returns words with these files instead. Ends with what failed."""
    options, files, rest = engine.parquet_words(others)
    check_names(options, files)
    keys = [key_of(file, options) for file in files]
    texts = [os.path.join(directory, f"{os.path.basename(file)}.{key}.zst") for file, key in zip(files, keys)]
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        engine.die("shard", f"{directory}: cannot create: {error.strerror}", 73)
    todo = [(file, key, text) for file, key, text in zip(files, keys, texts) if not text_is_there(text)]
    if todo:
        script = ["bash", "-c", TO_TEXT, os.path.join(os.path.dirname(engine.HERE), "parquet"), directory, *options]
        lines = open(os.memfd_create("todo"), "w+b", 0)
        lines.write("".join(f"{key} {file}\n" for file, key, _ in todo).encode("utf-8", "surrogateescape"))
        lines.seek(0)
        children = Children()
        status = engine.status_of(children.start([*engine.via(given), "--each", *script], stdin=lines))
        children.dismiss()
        if status > 128:
            engine.say("bpe ray shard", "what makes the text was killed; run the same command again")
        if status:
            sys.exit(status)
    for file, key, text in todo:
        if key_of(file, options) != key:
            os.unlink(text)
            engine.die("shard", f"{file}: changed while its text was made; run the same command again", 75)
    return [*rest, "-0", "--", *texts]


# ---- All ----


def run_both(shard, upload):
    """What both are told to end by ends them; without shards there is nothing more to upload."""
    children = Children()
    shards = children.start(shard)
    uploads = children.start(upload, stdout=2, stdin=subprocess.DEVNULL)
    status = engine.status_of(shards)
    if status:
        uploads.terminate()
    uploaded = engine.status_of(uploads)
    if not children.told and max(status, uploaded) > 128:
        engine.end_killed("shard", "shard" if status > 128 else "upload")
    return status or uploaded


def main():
    given, others = engine.arguments("shard", USAGE, (*engine.OPTIONS, "upload", "text"))
    others = [word for word in others if word != "--continue"]
    own = {name: value for name, value in given if name in ("upload", "text")}
    if own.get("text", "").startswith("-"):  # an option to mv, say
        own["text"] = "./" + own["text"]
    given = [(name, value) for name, value in given if name not in own]
    if "text" in own:
        others = make_texts(own["text"], given, others)
    model, directory = engine.value_of(others, "-m", "--model"), engine.value_of(others, "-o", "--output")
    words = engine.words("shard", [*given, ("send", model)] if model else given, others)
    if "upload" not in own:
        os.execvp(words[0], words)
    if not directory:
        engine.die("shard", "where do the shards go? give -o DIR; see --help")
    sys.exit(run_both(words, [os.path.join(os.path.dirname(engine.HERE), "upload"), "--", directory, own["upload"]]))


main()
