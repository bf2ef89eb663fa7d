#!/usr/bin/env python3
# fan_out.py - passes the records of bpe-chunk to Spark tasks, and writes their output: a filter for --via
#
#     bpe-chunk owt.txt | fan_out.py [OPTION]... bpe-count | bpe-sum | bpe-merge -v 32000
#
# A task is a partition of an RDD: one record that refers to text, or TEXT bytes of records of text. On an executor, it runs the
# command with these records as standard input, and returns its output. If the command was killed, or ran out of memory or disk,
# the task fails, and Spark retries it. An error that a retry would repeat, such as bad text, is a result: a failure record,
# which ends the pipeline with its exit status.
#
# Records are passed in jobs, JOBS at a time, of at most --tasks tasks, so that neither the records nor the results must fit
# into the memory of this process and its JVM: the results of a job are kept on the disks of the executors until all tasks of
# the job are done, and then fetched one by one. A task that runs twice, or again after its executor was lost with its results,
# writes the same batch, or another batch of the same text; only one of them counts.
#
# Exit status: 0 even after a failure that a record reports; 64 usage error; 65 the input is cut off; 71 Spark does not start; 74
# standard input or output failed; 75 a task failed in every attempt, or Spark ended; 127 pyspark is missing, or a command on an
# executor; that of a command that fails without output.
import collections
import concurrent.futures
import contextlib
import functools
import os
import re
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import launch  # first, because it sets the path of the other modules
import worker
from command import arguments, load
from failure import Failure, one_line, run
from records import units_of

TEXT = 4 << 20  # bytes of records of text that make a task
MOST = 192 << 20  # maximum bytes of records in a job
JOBS = 2  # at the same time: while the first job ends, the second has work for idle executors
USAGE = f"""\
usage: fan_out.py [--master=URL] [--conf=KEY=VALUE]... [--tasks=N] COMMAND [ARGUMENT]...
Passes records of bpe-chunk, from standard input, to COMMANDs on a Spark cluster, and writes their output.
{launch.OPTIONS}  -h, --help        show this help
"""


class Unread(Exception):
    """The reader of standard output has ended, and reports why."""


# ---- On an executor ----


def work(command, env, directory, units):
    """The output of the command for each unit, in pieces."""
    for records in units:
        with tempfile.TemporaryFile(dir=os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None) as out:
            status, said = worker.run_command(command, env, directory, records, out)
            os.write(2, f"{said}\n".encode() if said else b"")
            if status not in worker.ENDED or (status and not os.path.getsize(out.fileno())):
                raise RuntimeError(": ".join([f"its programs ended with exit status {status}", *said.splitlines()[:1]]))
            out.seek(0)
            while piece := out.read(worker.PIECE):
                yield piece


# ---- Jobs ----


def jobs_of(tasks, most_tasks):
    """Yields jobs, which are lists of tasks."""
    job, size = [], 0
    for task in tasks:
        job.append(task)
        size += len(task)
        if len(job) >= most_tasks or size >= MOST:
            yield job
            job, size = [], 0
    if job:
        yield job


# ---- Spark ----


def start(master, settings):
    """Starts Spark, and returns the SparkContext."""
    pyspark = load("pyspark")
    from py4j.protocol import Py4JError

    pyspark.cloudpickle.register_pickle_by_value(worker)
    conf = pyspark.SparkConf()
    conf.setIfMissing("spark.app.name", "bpetools")
    conf.setIfMissing("spark.log.level", "OFF")  # errors are reported here, in one line
    conf.setIfMissing("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    if master:
        conf.setMaster(master)
    conf.setAll(settings)
    try:
        return pyspark.SparkContext(conf=conf)
    except (Py4JError, pyspark.errors.PySparkException) as error:
        raise Failure(71, f"Spark does not start: {reason(error)}") from None


def reason(error):
    """The most useful line of a long Spark error."""
    java = getattr(error, "java_exception", None)
    return one_line(java.getMessage() if java else error)


class Runner:
    """Runs jobs, and writes their results to a stream."""

    def __init__(self, context, command, out):
        env = {name: os.environ[name] for name in ("TMPDIR", "BPE_SIMD") if name in os.environ}
        env["PATH"] = os.environ.get("PATH", os.defpath)
        self.context, self.out, self.work = context, out, functools.partial(work, command, env, os.getcwd())
        self.level = load("pyspark").StorageLevel.DISK_ONLY
        self.writing, self.torn = threading.Lock(), False

    def write(self, piece):
        """Writes to standard output. Its errors are distinguished from those of Spark."""
        try:
            worker.write_whole(self.out, piece)
        except BrokenPipeError:
            raise Unread from None
        except OSError as error:
            raise Failure(74, f"standard output: cannot write: {error.strerror}") from None

    def run(self, job):
        results = self.context.parallelize(job, len(job)).mapPartitions(self.work)
        results.persist(self.level)
        results.count()
        with self.writing:
            if self.torn:  # the output may end inside a record
                return
            self.torn = True
            for piece in results.toLocalIterator(prefetchPartitions=True):
                self.write(piece)
            self.torn = False
        results.unpersist()

    def run_all(self, jobs):
        running = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            try:
                for job in jobs:
                    running.append(pool.submit(self.run, job))
                    if len(running) == JOBS:
                        running.popleft().result()
                while running:
                    running.popleft().result()
            except BaseException:
                with contextlib.suppress(Exception):  # Spark may have ended
                    self.context.cancelAllJobs()
                raise


def main():
    given, command = arguments(USAGE, launch.NAMES, flags=())
    master, settings, tasks = launch.settings(given)
    # Spark and its JVM may write to standard output, which is for records. Give them standard error instead.
    out = os.dup(1)
    os.dup2(2, 1)
    context = start(master, settings)
    try:
        with open(0, "rb", worker.PIECE, closefd=False) as records:
            Runner(context, command, out).run_all(jobs_of(units_of(records, TEXT), tasks))
    except Unread:
        os._exit(141)
    except KeyboardInterrupt:
        return 130
    except Failure:
        raise
    except Exception as error:
        what = "a task failed in every attempt" if hasattr(error, "java_exception") else "Spark does not answer"
        ended = re.search(r"RuntimeError: (its programs ended with exit status (\d+).*)", str(error))
        status = int(ended[2]) if ended else 75
        raise Failure(status if status in (*worker.ENDED, 127) else 75, f"{what}: {ended[1] if ended else reason(error)}") from None
    finally:
        with contextlib.suppress(Exception):
            context.stop()


run("bpe spark", main)
