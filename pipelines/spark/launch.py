# launch.py - shared by train.py, shard.py and fan_out.py: the options for Spark, and calling bpe with fan_out.py
import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.dirname(HERE))
from command import all_other_options, arguments, bpe_words, filter_words, need_module, refuse
from failure import Failure, run

NAMES = ("master", "conf", "tasks")
OPTIONS = """\
  --master=URL      the cluster, as for spark-submit (spark://HOST:7077, yarn, k8s://..., local[8]);
                    default: Spark's own setting
  --conf=KEY=VALUE  set a Spark property; may be repeated
  --tasks=N         at most N tasks in a Spark job; two jobs run at the same time (default 256)
"""
USAGE = f"""\
usage: bpe spark {{command}} [--master=URL] [--conf=KEY=VALUE]... [--tasks=N] [OPTION]... [FILE]...
Like bpe {{command}}, but the executors of a Spark cluster do the work: see bpe-engines(7).
{OPTIONS}  -h, --help        show this help
{{others}}"""


def settings(given):
    """(master or "", settings as pairs, tasks in a job) from the options, which are pairs."""
    master, pairs, tasks = "", [], 256
    for name, value in given:
        if name == "master":
            master = value
        elif name == "conf":
            key, equals, setting = value.partition("=")
            if not (key and equals):
                raise Failure(64, f"--conf={value}: must be KEY=VALUE")
            pairs.append((key, setting))
        elif re.fullmatch("[1-9][0-9]{0,5}", value):
            tasks = int(value)
        else:
            raise Failure(64, f"--tasks={value}: not a number of tasks")
    return master, pairs, tasks


def launch(command):
    """Runs bpe train or bpe shard with fan_out.py; does not return."""

    def main():
        usage = USAGE.format(command=command, others=all_other_options(command, "--jobs"))
        given, others = arguments(usage, NAMES)
        settings(given)
        refuse(command, others, dict.fromkeys(("--jobs", "-j"), "leave it out; --tasks sets the number of tasks"))
        need_module("pyspark")
        words = bpe_words(command, filter_words(HERE, given), others)
        os.execvp(words[0], words)

    run("bpe spark", main)
