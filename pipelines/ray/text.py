#!/usr/bin/env python3
# text.py - writes the text of a Parquet file, compressed, to a directory that all machines share; a task of `bpe ray shard --text`
#
#     text.py DIR [OPTION]... "KEY FILE"
#
# DIR/NAME.KEY.zst appears when it is complete and on disk. Exit status: that of `bpe parquet`; 73 or 74 if the text cannot be
# written; 127 without zstd; 128 plus the signal if a process was killed.
import contextlib
import glob
import os
import signal
import sys
import uuid

sys.dont_write_bytecode = True  # keeps __pycache__ out of the installation
import engine
import worker
from command import need_program
from failure import Failure, run


def pack(words, new):
    """Runs a reader, and writes its output to the file, compressed. Returns the exit status."""
    reader = worker.start(words, stdout=-1)
    packer = worker.start(["zstd", "-q", "-1"], stdin=reader.stdout, stdout=new)
    reader.stdout.close()
    packed, read = worker.status_of(packer), worker.status_of(reader)
    return packed if worker.signal_of(packed) else 74 if packed else read


def main():
    directory, *options, task = sys.argv[1:]
    key, file = task.split(" ", 1)
    text = f"{os.path.basename(file)}.{key}.zst"
    new = os.path.join(directory, f".{text}.new.{uuid.uuid4().hex}")
    worker.end_with_parent(os.getppid())
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    need_program("zstd")
    try:
        with open(new, "xb") as output:
            status = pack(["bpe", "parquet", *options, "--", file], output)
            if status == 0:
                os.fsync(output.fileno())
        if status == 0:
            os.replace(new, os.path.join(directory, text))
            for left in glob.glob(os.path.join(glob.escape(directory), glob.escape(f".{text}.new.") + "*")):
                os.unlink(left)  # from a killed attempt
        return status
    except OSError as error:
        if os.path.exists(os.path.join(directory, text)):  # another attempt has made it
            return 0
        raise Failure(74, f"{new}: cannot write: {error.strerror}") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)


run("bpe ray shard", main)
