# launch.py - what train.py, shard.py and fan_out.py share: the options of Spark, and how bpe is called with fan_out.py
import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.dirname(HERE))
from command import all_other_options, arguments, bpe_words, filter_words, need_module, refuse
from failure import Failure, run

NAMES = ("master", "conf", "tasks")
OPTIONS = """\
  --master=URL      of the cluster, as spark-submit has it (spark://HOST:7077, yarn, k8s://..., local[8]);
                    default: what Spark's own settings say
  --conf=KEY=VALUE  a setting of Spark; may be given several times
  --tasks=N         at most N tasks in a job, of which two run at the same time (default 256)
"""
USAGE = f"""\
usage: bpe spark {{command}} [--master=URL] [--conf=KEY=VALUE]... [--tasks=N] [OPTION]... [FILE]...
As bpe {{command}}, but the work is done by the executors of a Spark cluster: see bpe-engines(7).
{OPTIONS}  -h, --help        this text
{{others}}"""


def settings(given):
    """(master or "", settings as pairs, tasks in a job) of the options, which are pairs."""
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
    """bpe train or bpe shard with fan_out.py; does not return."""

    def main():
        usage = USAGE.format(command=command, others=all_other_options(command, "--jobs"))
        given, others = arguments(usage, NAMES)
        settings(given)
        refuse(command, others, dict.fromkeys(("--jobs", "-j"), "--tasks says how many; leave it out"))
        need_module("pyspark")
        words = bpe_words(command, filter_words(HERE, given), others)
        os.execvp(words[0], words)

    run("bpe spark", main)
