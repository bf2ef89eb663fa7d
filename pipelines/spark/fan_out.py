#!/usr/bin/env python3
# fan_out.py - gives the records of bpe-chunk to tasks of Spark, and writes what they write: a filter for --via
#
#     bpe-chunk owt.txt | fan_out.py [OPTION]... bpe-count | bpe-sum | bpe-merge -v 32000
#
# A task is a partition of an RDD: one record that says where text is, or TEXT bytes of records of text. RDD.pipe runs
#
#     bpe-view --dearmor | bpe-count | bpe-sum --partial -q | bpe-view --armor
#
# on an executor; Spark carries lines of UTF-8 alone, so records are lines of base64 there. A task whose programs were
# killed, or had no memory or disk, fails, and is tried again by Spark. What another try would not mend, bad text say, is a
# result: a record of the failure, which ends the line with its exit status.
#
# Records are handed over by jobs, JOBS at a time, of as many tasks as --tasks says at most, so that neither the records nor
# what comes of them must fit into the memory of this process and its JVM: the results of a job are kept on the disks of the
# executors until all tasks of the job are done, and then fetched one by one. A task that ran twice, or was run again after
# its executor was lost with its results, writes the same batch or another one of the same text, of which one counts.
#
# Exit status: 0 even after a failure that a record tells of; 64 wrong use; 65 what came is cut off; 71 Spark does not
# start; 74 standard input or output failed; 75 a task failed as often as Spark tries it, or Spark ended; 127 pyspark is
# missing.
import binascii
import collections
import concurrent.futures
import contextlib
import os
import re
import shlex
import sys
import threading

sys.dont_write_bytecode = True  # not into where this is installed
from launch import parse
from failure import Failure, one_line, say

TEXT = 4 << 20  # bytes of records of text that make a task
MOST = 192 << 20  # bytes of records in a job
JOBS = 2  # at the same time: the second has work for what is idle at the end of the first
WORKER = """
cd "$1" 2>/dev/null # relative names; where there is none, the programs say what they do not find
shift
failed=0 # here, as an assignment sets PIPESTATUS
if [ "$1" = bpe-count ]; then
    bpe-view --dearmor | "$@" | bpe-sum --partial -q | bpe-view --armor
else
    bpe-view --dearmor | "$@" | bpe-view --armor
fi
for code in "${PIPESTATUS[@]}"; do
    case $code in
    0 | 64 | 65 | 66 | 70) ;; # a record says so, and would again
    141) [ "$failed" != 0 ] || failed=141 ;; # the next program has failed
    *) failed=$code ;;
    esac
done
exit "$failed"
"""


class Unread(Exception):
    """What reads standard output has ended, and says why."""


# ---- Records to jobs ----


def records_of(descriptor):
    try:
        with open(descriptor, "rb", 1 << 20, closefd=False) as stream:
            yield from stream
    except OSError as error:
        raise Failure(74, f"standard input: cannot read: {error.strerror}") from None


def tasks_of(stream):
    """The lines of each task."""
    lines, size = [], 0
    for record in stream:
        if not record.endswith(b"\n"):
            raise Failure(65, "standard input is cut off inside a record")
        lines.append(binascii.b2a_base64(record, newline=False).decode("ascii"))
        size += len(record)
        if size >= TEXT or record[2:3] == b"R":
            yield "\n".join(lines)
            lines, size = [], 0
    if lines:
        yield "\n".join(lines)


def jobs_of(stream, most_tasks):
    """Lists of tasks."""
    job, size = [], 0
    for task in tasks_of(stream):
        job.append(task)
        size += len(task)
        if len(job) >= most_tasks or size >= MOST:
            yield job
            job, size = [], 0
    if job:
        yield job


# ---- Spark ----


def start(options):
    """The SparkContext."""
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
        from py4j.protocol import Py4JError
    except ImportError as error:
        raise Failure(127, f"Python's pyspark does not load: {one_line(error)}; pip install pyspark") from None
    conf = SparkConf()
    conf.setIfMissing("spark.app.name", "bpetools")
    conf.setIfMissing("spark.log.level", "OFF")  # its errors are told here, in one line
    conf.setIfMissing("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    if options.master:
        conf.setMaster(options.master)
    for key, value in options.conf:
        conf.set(key, value)
    try:
        return SparkContext(conf=conf)
    except (Py4JError, PySparkException) as error:
        raise Failure(71, f"Spark does not start: {reason(error)}") from None


def reason(error):
    """What of the many lines of an error of Spark says most."""
    exited = re.search(r"exited with error code (-?\d+)", str(error))
    if exited:
        return f"its programs ended with exit status {exited[1]}"
    java = getattr(error, "java_exception", None)
    return one_line(java.getMessage() if java else error)


class Runner:
    """Runs jobs, and writes their results to a stream."""

    def __init__(self, context, command, out):
        from pyspark import StorageLevel

        self.context, self.out, self.level = context, out, StorageLevel.DISK_ONLY
        self.command = shlex.join(["bash", "-c", WORKER, "bpe", os.getcwd(), *command])
        self.env = {name: os.environ[name] for name in ("PATH", "TMPDIR", "BPE_SIMD") if name in os.environ}
        self.writing, self.torn = threading.Lock(), False

    def write(self, lines):
        """The records of these lines, to a file or a pipe; what fails there is told apart from what fails in Spark."""
        data = memoryview(b"".join(map(binascii.a2b_base64, lines)))
        try:
            while data:
                data = data[os.write(self.out, data) :]
        except BrokenPipeError:
            raise Unread from None
        except OSError as error:
            raise Failure(74, f"standard output: cannot write: {error.strerror}") from None

    def run(self, job):
        results = self.context.parallelize(job, len(job)).pipe(self.command, self.env, checkCode=True)
        results.persist(self.level)
        results.count()
        with self.writing:
            if self.torn:  # what was written may end inside a record
                return
            self.torn = True
            lines, size = [], 0
            for line in results.toLocalIterator(prefetchPartitions=True):
                lines.append(line)
                size += len(line)
                if size >= 1 << 20:
                    self.write(lines)
                    lines, size = [], 0
            self.write(lines)
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
                with contextlib.suppress(Exception):  # if it is Spark that ended
                    self.context.cancelAllJobs()
                raise


def main(arguments):
    options, command = parse("fan_out.py", arguments)
    # Spark and its JVM may write to standard output, which is for records: for them it becomes standard error.
    out = os.dup(1)
    os.dup2(2, 1)
    context = start(options)
    try:
        Runner(context, command, out).run_all(jobs_of(records_of(0), options.tasks))
    except Unread:
        os._exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
    except Failure:
        raise
    except Exception as error:
        what = "a task failed as often as Spark tries it" if hasattr(error, "java_exception") else "Spark does not answer"
        raise Failure(75, f"{what}: {reason(error)}") from None
    finally:
        with contextlib.suppress(Exception):
            context.stop()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        say("bpe spark", failure)
        sys.exit(failure.status)
