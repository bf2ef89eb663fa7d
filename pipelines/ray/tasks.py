#!/usr/bin/env python3
# tasks.py - `bpe ray tasks`: the tasks of `bpe tasks` that have no result yet, on a Ray cluster; bpe-engines(7)
#
# Exit status: that of `bpe tasks` or, if that is 0, of fan_out.py; 75: the same command again goes on.
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # not into where this is installed
import engine

USAGE = """\
usage: bpe ray tasks [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--retries=N] DIR
Does the tasks of bpe tasks in DIR that have no result, on a Ray cluster whose machines see DIR.
      --address=ADDRESS  the cluster: auto or HOST:PORT (default: RAY_ADDRESS, or one that is started)
      --num-cpus=N       of a cluster that is started on this machine (default: all cores)
      --in-flight=N      tasks at a time (default: 2 a CPU)
      --retries=N        how often a task is done again (default 5)
  -h, --help             this text
"""


def main():
    given, others = engine.arguments("tasks", USAGE, ("address", "num-cpus", "in-flight", "retries"))
    if len(others) != 1 or others[0].startswith("-"):
        engine.die("tasks", "which directory? see --help")
    todo = os.memfd_create("todo")
    status = engine.status_of(subprocess.Popen(["bpe", "tasks", "todo", *others], stdout=todo))
    if status > 128:
        engine.end_killed("tasks", "tasks")
    if status:
        sys.exit(status)
    if os.fstat(todo).st_size:
        os.lseek(todo, 0, os.SEEK_SET)
        os.dup2(todo, 0)
        fan_out = [*engine.via(given), "--each", "bpe", "tasks", "run", *others]
        os.execv(fan_out[0], fan_out)  # so that a signal ends it, and no process of another name


main()
