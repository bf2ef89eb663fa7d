# failure.py - what the scripts in Python share: what went wrong, as an exit status and one line
import contextlib
import os
import re
import sys


class Failure(Exception):
    """The exit status, and the line to print."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def one_line(error):
    return re.split(r"[\r\n]", str(error).strip())[0][:300] or type(error).__name__


def say(program, message):
    """A line on standard error, and no more of a progress line that another process shows there."""
    clear = "\r\033[K" if os.isatty(2) else ""
    with contextlib.suppress(OSError):  # if nobody reads it, the exit status still says it
        os.write(2, f"{clear}{program}: {message}\n".encode("utf-8", "surrogateescape"))


def run(program, main):
    """Ends with what main returns, or the failure in it."""
    try:
        sys.exit(main())
    except Failure as failure:
        say(program, failure)
        sys.exit(failure.status)
