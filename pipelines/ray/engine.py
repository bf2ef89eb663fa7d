# engine.py - what train.py, shard.py and tasks.py share: which of their options are for Ray, and the words that call
# fan_out.py, and `bpe train` and `bpe shard` with it
import os
import shlex
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


def die(command, message):
    say(f"bpe ray {command}", message)
    sys.exit(64)


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
    return [os.path.join(os.path.dirname(HERE), command), f"--via={shlex.join(via(given))}", *others]


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


def parquet_words(words):
    """(options of `bpe parquet`, files NAME.parquet, the other words): of those of `bpe shard --parquet`."""
    options, files, rest = [], [], []
    for word in words:
        if word.startswith("--parquet="):
            options.append("--column=" + word.partition("=")[2])
        elif word.startswith(("--nul-bytes=", "--null-rows=")):
            options.append(word)
        elif word.endswith(".parquet") and not word.startswith("-"):
            files.append(word)
        elif word not in ("--parquet", "--"):
            rest.append(word)
    return options, files, rest


def status_of(child):
    """Waits for it; its status as the shell has it."""
    status = child.wait()
    return status if status >= 0 else 128 - status
