# launch.py - what train.py, shard.py and fan_out.py share: the options of Spark, and how bpe is called with fan_out.py
import importlib.util
import os
import re
import shlex
import sys
import types

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.dirname(HERE))
from failure import Failure, say

OPTIONS = """\
  --master=URL      of the cluster, as spark-submit has it (spark://HOST:7077, yarn, k8s://..., local[8]);
                    default: what Spark's own settings say
  --conf=KEY=VALUE  a setting of Spark; may be given several times
  --tasks=N         at most N tasks in a job, of which two run at the same time (default 256)
"""
USAGE = """\
usage: bpe spark {command} [--master=URL] [--conf=KEY=VALUE]... [--tasks=N] [OPTION]... [FILE]...
As bpe {command}, but the work is done by the executors of a Spark cluster: see bpe-engines(7).
{options}  -h, --help        this text
All other OPTIONs are those of bpe {command}, but for -j and --via.
"""
FILTER_USAGE = """\
usage: fan_out.py [--master=URL] [--conf=KEY=VALUE]... [--tasks=N] COMMAND [ARGUMENT]...
Gives records of bpe-chunk, on standard input, to COMMANDs on a Spark cluster, and writes what they write.
{options}  -h, --help        this text
"""


def set_option(options, name, value):
    if name == "--master":
        options.master = value
    elif name == "--conf":
        key, equals, setting = value.partition("=")
        if not (key and equals):
            raise Failure(64, f"--conf={value}: must be KEY=VALUE")
        options.conf.append((key, setting))
    elif re.fullmatch("[1-9][0-9]{0,5}", value):
        options.tasks = int(value)
    else:
        raise Failure(64, f"--tasks={value}: not a number of tasks")


def print_usage(text, command):
    print(text.format(command=command, options=OPTIONS), end="")
    sys.exit(0)


def parse(command, arguments):
    """Takes the options of Spark from the arguments; returns them and the others. Those of fan_out.py end with the first
    word that is none, those of a command of bpe with `--`."""
    options, others = types.SimpleNamespace(master=None, conf=[], tasks=256), []
    is_filter = command == "fan_out.py"
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            print_usage(FILTER_USAGE if is_filter else USAGE, command)
        if name in ("--master", "--conf", "--tasks"):
            value = value if equals else next(rest, None)
            if value is None:
                raise Failure(64, f"option {name} needs an argument; see --help")
            set_option(options, name, value)
            continue
        if name == "--via":
            raise Failure(64, "--via: Spark starts the processes")
        others.append(word)
        if is_filter or word == "--":
            others += rest
    if is_filter and not others:
        raise Failure(64, "which command? see --help")
    return options, others


def launch(command):
    """bpe train or bpe shard with fan_out.py; does not return."""
    try:
        options, others = parse(command, sys.argv[1:])
        if not importlib.util.find_spec("pyspark"):
            raise Failure(127, f"Python's pyspark is not installed for {sys.executable}; pip install pyspark")
        words = [sys.executable, os.path.join(HERE, "fan_out.py"), f"--tasks={options.tasks}"]
        words += [f"--master={options.master}"] if options.master else []
        words += [f"--conf={key}={value}" for key, value in options.conf]
        os.execvp("bpe", ["bpe", command, "--via=" + shlex.join(words), *others])
    except Failure as failure:
        say("bpe spark", failure)
        sys.exit(failure.status)
