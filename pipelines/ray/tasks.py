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
    tasks = os.path.join(os.path.dirname(engine.HERE), "tasks")
    todo = subprocess.run([tasks, "todo", *others], stdout=subprocess.PIPE)
    if todo.returncode:
        sys.exit(todo.returncode)
    if todo.stdout:
        fan_out = [*engine.via(given), "--each", tasks, "run", *others]
        sys.exit(subprocess.run(fan_out, input=todo.stdout).returncode)


main()
