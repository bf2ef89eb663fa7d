#!/usr/bin/env python3
# tasks.py - `bpe ray tasks`: runs the tasks of `bpe tasks` that have no result yet on a Ray cluster; bpe-engines(7)
#
# Exit status: that of `bpe tasks` or, if that is 0, of fan_out.py; 75: the same command resumes; 127 without Ray.
import os
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import engine
import worker
from command import arguments, filter_words, need_module, need_program
from failure import Failure, run

USAGE = """\
usage: bpe ray tasks [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--retries=N] DIR
Runs the tasks of bpe tasks in DIR that have no result on a Ray cluster whose machines share DIR.
      --address=ADDRESS  the cluster: auto or HOST:PORT (default: RAY_ADDRESS, or start one)
      --num-cpus=N       CPUs of a cluster that is started on this machine (default: all cores)
      --in-flight=N      tasks at a time (default: 2 per CPU)
      --retries=N        run a lost task again up to N times (default 5)
  -h, --help             show this help
"""


def main():
    given, others = arguments(USAGE, ("address", "num-cpus", "in-flight", "retries"))
    if len(others) != 1 or others[0].startswith("-"):
        raise Failure(64, "missing DIR; see --help")
    need_module("ray")
    need_program("bpe")
    todo = os.memfd_create("todo")
    status = worker.status_of(worker.start(["bpe", "tasks", "todo", *others], stdout=todo))
    if worker.signal_of(status):
        raise Failure(75, "bpe tasks was killed; run the same command again")
    if status or not os.fstat(todo).st_size:
        return status
    os.lseek(todo, 0, os.SEEK_SET)
    os.dup2(todo, 0)
    fan_out = [*filter_words(engine.HERE, given), "--each", "bpe", "tasks", "run", *others]
    os.execv(fan_out[0], fan_out)  # replaces this process, so that signals reach fan_out.py


run("bpe ray tasks", main)
