#!/usr/bin/env python3
# train.py - `bpe ray train`: `bpe train`, with counting in tasks of a Ray cluster; bpe-engines(7)
#
# Exit status: that of `bpe train`; 127 without Ray.
import os
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import engine
import command
from failure import run

USAGE = f"""\
usage: bpe ray train -v N [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--results=DIR]
                     [--unit=MB] [--retries=N] [OPTION]... [FILE]...
Trains a tokenizer on FILEs; counts on the machines of a Ray cluster.
{engine.HELP}  -h, --help             show this help
{command.all_other_options("train")}"""


def main():
    given, others = command.arguments(USAGE, engine.OPTIONS)
    command.refuse("train", others)
    command.need_module("ray")
    words = command.bpe_words("train", command.filter_words(engine.HERE, given), others)
    os.execvp(words[0], words)


run("bpe ray train", main)
