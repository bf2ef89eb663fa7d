# engine.py - what train.py, shard.py and tasks.py share: which of their options are for Ray, and the words that call
# fan_out.py, and `bpe train` and `bpe shard` with it
import itertools
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.dirname(HERE))
from failure import say

OPTIONS = ("address", "num-cpus", "in-flight", "results", "unit", "retries")  # of fan_out.py
HELP = """\
      --address=ADDRESS  the cluster: auto or HOST:PORT (default: RAY_ADDRESS, or one that is started)
      --num-cpus=N       of a cluster that is started on this machine (default: all cores)
      --in-flight=N      tasks at a time, with those whose result waits (default: 2 a CPU)
      --results=DIR      results go through files in DIR, which all machines see
      --unit=MB          text in a task, where it is sent to the machines (default 16)
      --retries=N        how often a task is done again (default 5)
"""  # on them


def die(command, message, status=64):
    say(f"bpe ray {command}", message)
    sys.exit(status)


def arguments(command, usage, names):
    """Of the command line: (options of these names, as pairs; the other words). An option is --name=value, or --name value.
    Prints the usage, and ends, if that is asked for."""
    given, others, words = [], [], iter(sys.argv[1:])
    for word in words:
        name, equals, value = word[2:].partition("=")
        if word == "--":
            others += [word, *words]
        elif not word.startswith("--") or name not in names:
            others.append(word)
        else:
            value = value if equals else next(words, None)
            if value is None:
                die(command, f"option --{name} needs an argument; see --help")
            given.append((name, value))
    if "-h" in others or "--help" in others:
        sys.stdout.write(usage)
        sys.exit(0)
    return given, others


def via(given):
    """fan_out.py with these options."""
    return [sys.executable, os.path.join(HERE, "fan_out.py"), *(f"--{name}={value}" for name, value in given)]


def words(command, given, others):
    """The command of bpe in which Ray starts the processes."""
    return ["bpe", command, f"--via={shlex.join(via(given))}", *others]


def value_of(words, short, long):
    """The argument of an option that stays among the words: the last one; "" if there is none."""
    value, before = "", ""
    for word in words:
        if word == "--":
            break
        if before in (short, long):
            value = word
        elif word.startswith(long + "="):
            value = word[len(long) + 1 :]
        elif word.startswith(short) and len(word) > 2:
            value = word[2:]
        before = word if before not in (short, long) else ""
    return value


def with_argument(command):
    """The options of a command of bpe whose argument may be the next word: as its --help has them."""
    run = subprocess.Popen(["bpe", command, "--help"], stdout=subprocess.PIPE)
    text = run.communicate()[0].decode("utf-8", "replace")
    if run.returncode:
        sys.exit(status_of(run))
    return {name for names in re.findall(r"(?:(-[A-Za-z0-9]),?\s+)?(--[a-z0-9-]+)=", text) for name in names if name}


def parquet_words(words):
    """(options of `bpe parquet`, all three, or none without --parquet; FILEs; the other words): of those of `bpe shard`."""
    takes, words = with_argument("shard"), iter(words)
    options, is_parquet, files, rest = {"column": "text", "nul-bytes": "error", "null-rows": "empty"}, False, [], []
    for word in words:
        name, _, value = word[2:].partition("=")
        if word == "--":
            files += words
        elif not word.startswith("-") or word == "-":
            files.append(word)
        elif name == "parquet":
            is_parquet, options["column"] = True, value if "=" in word else "text"
        elif name in options and name != "column":
            options[name] = value if "=" in word else next(words, "")
        else:
            rest.append(word)
            if word in takes:
                rest += itertools.islice(words, 1)
    return [f"--{name}={value}" for name, value in options.items()] if is_parquet else [], files, rest


def status_of(child):
    """Waits for it; its status as the shell has it."""
    status = child.wait()
    return status if status >= 0 else 128 - status


def end_killed(command, child):
    """Ends with 75: it was killed, and could not say so."""
    die(command, f"bpe {child} was killed; run the same command again", 75)
