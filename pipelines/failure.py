# failure.py - errors in the Python scripts, as an exit status and one line
import contextlib
import os
import re
import sys


class Failure(Exception):
    """An error: the exit status, and the line to print."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def one_line(error):
    return re.split(r"[\r\n]", str(error).strip())[0][:300] or type(error).__name__


def say(program, message):
    """Prints a line on standard error, over a progress line of another process."""
    clear = "\r\033[K" if os.isatty(2) else ""
    with contextlib.suppress(OSError):  # without a reader, the exit status still reports the error
        os.write(2, f"{clear}{program}: {message}\n".encode("utf-8", "surrogateescape"))


def run(program, main):
    """Exits with the result of main, or with the failure that it raises."""
    try:
        sys.exit(main())
    except Failure as failure:
        say(program, failure)
        sys.exit(failure.status)
