# engine.py - shared by train.py, shard.py and tasks.py: the options for Ray, and parsing those of bpe shard
import itertools
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.dirname(HERE))
from failure import Failure

OPTIONS = ("address", "num-cpus", "in-flight", "results", "unit", "retries")  # of fan_out.py
HELP = """\
      --address=ADDRESS  the cluster: auto or HOST:PORT (default: RAY_ADDRESS, or start one)
      --num-cpus=N       CPUs of a cluster that is started on this machine (default: all cores)
      --in-flight=N      tasks at a time, including those with unwritten results (default: 2 per CPU)
      --results=DIR      pass results through files in DIR, which all machines share
      --unit=MB          text in each task, if it is sent to the machines (default 16)
      --retries=N        run a lost task again up to N times (default 5)
"""


def with_argument(command):
    """The options of a bpe command whose argument may be the next word, from its --help."""
    run = subprocess.run(["bpe", command, "--help"], stdout=subprocess.PIPE)
    if run.returncode:
        raise Failure(75, f"bpe {command} --help was killed, or failed; run the same command again")
    text = run.stdout.decode("utf-8", "replace")
    return {name for names in re.findall(r"(?:(-[A-Za-z0-9]),?\s+)?(--[a-z0-9-]+)=", text) for name in names if name}


def scan(words):
    """Parses the words of `bpe shard`: yields (option, its argument or None, its words), and for each FILE ("", FILE, ...)."""
    takes, words = with_argument("shard"), iter(words)
    for word in words:
        if word == "--":
            yield from (("", file, [file]) for file in words)
        elif word == "-" or not word.startswith("-"):
            yield "", word, [word]
        else:
            name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
            more = list(itertools.islice(words, 0 if equals else name in takes))
            yield name, value if equals else "".join(more) if more else None, [word, *more]


def value_of(words, *names):
    """The last argument of an option; "" if there is none."""
    return ([value for name, value, _ in scan(words) if name in names] or [""])[-1] or ""


def parquet_words(words):
    """Splits the words of `bpe shard`: (all three options of `bpe parquet`, or none without --parquet; FILEs; the other words)."""
    options, is_parquet, files, rest = {"--column": "text", "--nul-bytes": "error", "--null-rows": "empty"}, False, [], []
    for name, value, both in scan(words):
        if not name:
            files.append(value)
        elif name == "--parquet":
            is_parquet, options["--column"] = True, "text" if value is None else value
        elif name in ("--nul-bytes", "--null-rows"):
            options[name] = value or ""
        else:
            rest += both
    return [f"{name}={value}" for name, value in options.items()] if is_parquet else [], files, rest
