#!/usr/bin/env python3
# fan_out.py - passes the records of bpe-chunk, on standard input, to processes on the machines of a Ray cluster, and writes
# their output to standard output
#
#     bpe-chunk -m MODEL FILE... | fan_out.py --address=auto bpe-encode -m MODEL | bpe-shard -o DIR
#
# A Ray task has one record that refers to text, or a few MB of records of text. It runs the command with these records as
# standard input, and returns its output through the object store or, with --results, in a file of a directory that all
# machines share. Records may come in any order, so each result is passed on when it arrives. With --each, a task has one
# line of standard input, as the last argument of the command:
#
#     bpe tasks todo DIR | fan_out.py --each bpe tasks run DIR
#
# --in-flight limits the number of tasks at a time: those that run, and those whose result waits. Standard input is read no
# faster, so that neither a large text nor a slow reader takes more memory.
#
# A lost process, machine, or result is retried from here, not by Ray's own retries, so that each loss is reported and one
# limit covers them all. A result is passed on whole or not at all. Errors that a retry would repeat, such as bad text
# (ENDED), are reported in the output of the command, which is passed on; if there is no output, the error ends the whole
# job. A command with any other exit status is lost as well, because its output may be cut off. Exit status 75 means: run the
# same command again.
#
# Exit status: that of the first command that failed; 64 usage error, 66 a file to send is missing, 71 no cluster or out of
# memory, 73 or 74 a file that cannot be written or read, 75 a task that was lost too often for any other reason, 127 no Ray, or
# no such command on a machine.
import errno
import fcntl
import os
import queue
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import uuid

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import engine
import worker
from command import arguments, load, need_module
from failure import Failure, one_line, say
from records import lines_of, units_of

NAME = "bpe ray"
USAGE = f"""\
usage: fan_out.py [--address=ADDRESS] [--num-cpus=N] [--in-flight=N] [--results=DIR]
                  [--send=FILE]... [--unit=MB] [--each] [--retries=N] COMMAND [ARGUMENT]...
Runs COMMAND on a Ray cluster with records from standard input, and writes its output to standard output.
{engine.HELP}      --send=FILE        send this file, or directory of a model, to the machines; FILE is an ARGUMENT
      --each             run COMMAND for each line of standard input, as its last ARGUMENT
  -h, --help             show this help
"""
F_SETPIPE_SZ = 1031
MODEL_FILES = ("tokenizer.json", "vocab.json", "merges.txt", "encoder.json", "vocab.bpe")
told = []  # the signal that ended this process, because Ray replaces the exception


class Lost(Failure):
    """A task without complete output. The status becomes the exit status if all retries fail."""


# ---- In a task, on another machine ----


def put_files(directory, files):
    """Writes files into a new directory. files: a dict from name to bytes."""
    os.mkdir(directory)
    for name, content in files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)


def run_command(job, records, out):
    """Runs the command of the job: see worker.py."""
    command, env = list(job["command"]), {"PATH": os.environ.get("PATH", os.defpath) + os.pathsep + job["path"]}
    if job["each"]:
        command.append(records.decode("utf-8", "surrogateescape"))
        records = b""
    if not job["sent"]:
        return worker.run_command(command, env, job["directory"], records, out)
    with tempfile.TemporaryDirectory(prefix="bpe-ray-") as sent:
        for at, name, files in job["sent"]:
            directory = os.path.join(sent, str(at))
            put_files(directory, files)
            command[at] = os.path.join(directory, name)
        return worker.run_command(command, env, job["directory"], records, out)


def run_to_memory(job, records):
    with worker.in_memory("output") as out:
        status, said = run_command(job, records, out)
        out.seek(0)
        return status, said, out.read() if status in worker.ENDED else b""


def run_to_file(job, records):
    name = os.path.join(job["results"], uuid.uuid4().hex)
    with open(name + ".new", "wb", 0) as out:
        status, said = run_command(job, records, out)
    if status in worker.ENDED:
        os.rename(name + ".new", name)
    else:
        os.unlink(name + ".new")
    return status, said, name


def task(job, records):
    """Runs a task. Returns (status, machine, standard error), and the output or the name of a file with it."""
    machine = os.uname().nodename
    try:
        status, said, output = (run_to_file if job["results"] else run_to_memory)(job, records)
        return (status, machine, said), output
    except MemoryError:
        return (71, machine, "out of memory"), b""
    except OSError as error:
        status = 71 if error.errno in (errno.ENOMEM, errno.EAGAIN) else 74
        return (status, machine, f"{error.filename or job['command'][0]}: {error.strerror}"), b""


# ---- The input of tasks ----


def start_reader(source, options):
    """A queue with one unit at a time, then None or an error. A thread reads the source while tasks run."""
    units = queue.Queue(1)

    def read():
        try:
            with open(source, "rb", worker.PIECE) as stream:
                for unit in lines_of(stream) if options["each"] else units_of(stream, options["unit"] << 20):
                    units.put(unit.rstrip(b"\n") if options["each"] else unit)
            units.put(None)
        except Failure as failure:
            units.put(failure)
        except BaseException as error:  # the main thread must not wait forever
            units.put(Failure(71, f"standard input: {type(error).__name__}: {one_line(error)}"))

    threading.Thread(target=read, daemon=True).start()
    return units


def next_unit(units, wait):
    """The next unit, None at the end, or "" if there is none yet."""
    try:
        unit = units.get(wait)
    except queue.Empty:
        return ""
    if isinstance(unit, Failure):
        raise unit
    return unit


# ---- Results: bytes, or the name of a file ----


def is_empty(result):
    return not (len(result) if isinstance(result, bytes) else os.path.getsize(result))


def pass_on(output, result):
    if isinstance(result, bytes):
        worker.write_whole(output, result)
        return
    with open(result, "rb", 0) as file:
        while data := file.read(worker.PIECE):
            worker.write_whole(output, data)
    os.unlink(result)


# ---- Tasks ----


def submit(state, records, tries=0):
    """Submits a task. records: a Ray reference."""
    said, result = state["remote"].remote(state["job"], records)
    state["tasks"][result] = (said, records, tries)


def why_lost(error):
    """The first sentence of a long Ray error."""
    text = str(getattr(error, "cause", None) or error).strip() or type(error).__name__
    return text.splitlines()[0].split(". ")[0][:200]


def result_of(said, result):
    """(status, machine, standard error, result) of a task that was completed; otherwise raises Lost or Failure."""
    try:
        status, machine, text = ray.get(said)
        if status in worker.ENDED:
            return status, machine, text, ray.get(result)
    except ray.exceptions.RayError as error:
        raise Lost(75, why_lost(error)) from None
    if number := worker.signal_of(status):
        raise Lost(75, f"killed by signal {number} on {machine}")
    why = f"{one_line(text) if text else f'exit status {status}'} (on {machine})"
    if status in (126, 127):  # there is no such command
        raise Failure(status, why)
    raise Lost(status if status in (71, 73, 74) else 75, why)


def finish(state, result):
    """Handles a task that has ended."""
    said, records, tries = state["tasks"].pop(result)
    try:
        status, machine, text, data = result_of(said, result)
    except Lost as why:
        if tries < state["retries"]:
            say(NAME, f"{state['name']} was lost; running it again: {why}")
            submit(state, records, tries + 1)
        else:
            say(NAME, f"{state['name']} was lost {tries + 1} time{'s' * (tries > 0)}; giving up: {why}")
            state["status"] = state["status"] or why.status
        return
    if status and is_empty(data):
        raise Failure(status, f"{text or state['name'] + ' failed without a message'} (on {machine})")
    pass_on(state["output"], data)
    state["status"] = state["status"] or status


def room(state):
    """The maximum number of tasks, which changes as machines join and leave."""
    if not state["in-flight"] and time.monotonic() >= state["asked"] + 2:
        state["asked"] = time.monotonic()
        state["room"] = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    return state["in-flight"] or state["room"]


def run(state, units):
    ended = False
    while not ended or state["tasks"]:
        starved = False
        while not ended and not starved and len(state["tasks"]) < room(state):
            unit = next_unit(units, wait=not state["tasks"])
            ended, starved = unit is None, unit == ""
            if not ended and not starved:
                submit(state, ray.put(unit))
        if state["tasks"]:
            done, _ = ray.wait(list(state["tasks"]), num_returns=1, timeout=0.05 if starved else 2)
            for result in done:
                finish(state, result)
    return state["status"]


# ---- The cluster ----


def look_for(address):
    """Fails immediately if nothing answers at the address; Ray would retry for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), 10).close()
    except OSError as error:
        raise Failure(71, f"no cluster at {address}: {error.strerror or error}") from None


def connect(options):
    global ray
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # otherwise Ray warns of a planned change
    ray = load("ray")
    ray.cloudpickle.register_pickle_by_value(worker)
    look_for(options["address"] or os.environ.get("RAY_ADDRESS", ""))
    cpus = {"num_cpus": options["num-cpus"]} if options["num-cpus"] else {}
    try:
        ray.init(address=options["address"], log_to_driver=False, logging_level="ERROR", **cpus)
    except Exception as error:  # Ray raises many types
        raise Failure(71, f"no cluster: {why_lost(error)}") from None


def contents(path):
    """(name, dict from name to bytes) of a model: a file and NAME.json, if it exists, or a directory."""
    directory, name = (path, "") if os.path.isdir(path) else os.path.split(path)
    files = {}
    for each in (name, name + ".json") if name else MODEL_FILES:
        try:
            with open(os.path.join(directory, each), "rb") as file:
                files[each] = file.read()
        except FileNotFoundError:
            pass
    if not files:
        raise Failure(66, f"{path}: cannot open: No such file or directory")
    return name, files


def job_of(options, command, results):
    """The settings that all tasks share."""
    return {
        "command": command,
        "sent": [(at, *contents(word)) for at, word in enumerate(command) if at and word in options["send"]],
        "each": options["each"],
        "results": results,
        "directory": os.getcwd(),
        "path": os.environ.get("PATH", ""),
    }


def results_in(directory):
    """A new directory in it; "" without a directory."""
    if not directory:
        return ""
    try:
        return tempfile.mkdtemp(prefix="bpe-ray-", dir=os.path.abspath(directory))
    except OSError as error:
        raise Failure(73, f"{directory}: cannot make a directory there: {error.strerror}") from None


def run_on_cluster(options, command, job, source, output):
    try:
        state = {
            **options,
            "remote": ray.remote(num_cpus=1, num_returns=2, max_retries=0)(task),
            "job": ray.put(job),
            "name": "bpe " + command[1] if command[0] == "bpe" and command[1:] else os.path.basename(command[0]),
            "output": output,
            "room": 0,  # maximum number of tasks, without --in-flight
            "asked": float("-inf"),  # when the cluster was asked how many CPUs it has
            "tasks": {},  # by reference of the result: (reference of its status, reference of the records, tries)
            "status": 0,
        }
        return run(state, start_reader(source, options))
    except ray.exceptions.RayError as error:
        raise Failure(75, f"the cluster failed: {why_lost(error)}") from None


def end(number, _):
    """The first signal ends this process; later ones are ignored."""
    if not told:
        told.append(number)
        sys.exit(128 + number)


def fan_out(options, command, source, output):
    need_module("ray")
    results = results_in(options["results"])
    try:
        job = job_of(options, command, results)
        connect(options)
        for each in worker.ENDS:
            signal.signal(each, end)
        return run_on_cluster(options, command, job, source, output)
    finally:
        if results:
            shutil.rmtree(results, ignore_errors=True)


# ---- The command line ----


def number(option, value, least):
    if not value.isdecimal() or len(value) > 9 or int(value) < least:
        raise Failure(64, f"{option}={value}: must be a number of at least {least}")
    return int(value)


def parse():
    given, command = arguments(USAGE, (*engine.OPTIONS, "send"), ("each",))
    options = {"address": None, "num-cpus": 0, "in-flight": 0, "results": "", "unit": 16, "retries": 5, "send": [], "each": False}
    for name, value in given:
        if name == "send":
            options["send"].append(value)
        elif name in ("address", "results", "each"):
            options[name] = value
        else:
            options[name] = number(f"--{name}", value, 0 if name == "retries" else 1)
    return options, command


def own_pipes():
    """Takes over standard input and output, so that processes of Ray, and logs that it prints, do not use them."""
    source, output, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    try:
        fcntl.fcntl(output, F_SETPIPE_SZ, worker.PIECE)
    except OSError:
        pass  # not a pipe
    return source, output


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        options, command = parse()
        status = fan_out(options, command, *own_pipes())
    except Failure as failure:
        say(NAME, failure)
        status = failure.status
    except BrokenPipeError:
        status = 141
    except OSError as error:
        say(NAME, f"{error.filename or 'standard output'}: {error.strerror}")
        status = 74
    except BaseException:
        if not told:
            raise
    sys.exit(128 + told[0] if told else status)


main()
