#!/usr/bin/env python3
# train.py - `bpe ray train`: `bpe train` whose processes that count are tasks of a Ray cluster; bpe-engines(7)
#
# Exit status: that of `bpe train`.
import os
import sys

sys.dont_write_bytecode = True  # not into where this is installed
import engine

USAGE = """\
usage: bpe ray train -v N [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--results=DIR]
                     [--unit=MB] [--retries=N] [OPTION]... [FILE]...
Trains a tokenizer on FILEs, which are counted on the machines of a Ray cluster.
      --address=ADDRESS  the cluster: auto or HOST:PORT (default: RAY_ADDRESS, or one that is started)
      --num-cpus=N       of a cluster that is started on this machine (default: all cores)
      --in-flight=N      tasks at a time, with those whose result waits (default: 2 a CPU)
      --results=DIR      results go through files in DIR, which all machines see
      --unit=MB          text in a task, where it is sent to the machines (default 16)
      --retries=N        how often a task is done again (default 5)
  -h, --help             this text
All other OPTIONs are those of bpe train: see its --help.
"""


def main():
    given, others = engine.split("train", sys.argv[1:], engine.OPTIONS)
    if "-h" in others or "--help" in others:
        sys.stdout.write(USAGE)
        return
    words = engine.words("train", given, others)
    os.execv(words[0], words)


main()
