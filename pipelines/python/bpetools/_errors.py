# _errors.py - what goes wrong, as exceptions: the program's or the library's message, place and exit status
from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than all the rest
if TYPE_CHECKING:
    from typing import Optional


class BpeError(RuntimeError):
    """An error of bpetools, with the message of its programs, which names the input, the place, and what to do.

    message    one line; also str(error)
    exit_code  the exit status of the program, see bpe(7): 64 wrong use, 65 bad data, 66 input missing,
               71 out of memory, 73 output cannot be created, 74 input or output error, 75 incomplete:
               run it again, 127 not installed
    input      the name of the file or text, or None
    offset     the byte in it, from 0, or None; of a str that is not valid Unicode the character
    line       the line in it, from 1, or None
    document   the index of the document in a batch or iterable, from 0, or None

    BpeValueError, which is also a ValueError, is for exit codes 64 and 65.
    """

    def __init__(
        self,
        message: str,
        exit_code: int = 70,
        input: Optional[str] = None,  # pylint: disable=redefined-builtin
        offset: Optional[int] = None,
        line: Optional[int] = None,
        document: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.input = input
        self.offset = offset
        self.line = line
        self.document = document


class BpeValueError(BpeError, ValueError):
    """Wrong use (exit_code 64) or bad data (65). See BpeError."""


def make_error(message: str, exit_code: int, document: Optional[int] = None, name: Optional[str] = None) -> BpeError:
    """The exception for a message, whose beginning may say the place: "FILE: byte N: ..." or "FILE: line N: ..."."""
    import re

    kind = BpeValueError if exit_code in (64, 65) else BpeError
    place = re.match(r"(.+?): (?:byte (\d+)|line (\d+)): ", message)
    if not place:
        return kind(message, exit_code, name, document=document)
    found, offset, line = place.groups()
    at, number = int(offset) if offset else None, int(line) if line else None
    return kind(message, exit_code, name or found, at, number, document)


def program_error(exit_code: int, stderr: bytes) -> BpeError:
    """The exception for a program that failed: its last line on standard error, without the program's name."""
    import re

    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else f"failed without a message, exit status {exit_code}"
    return make_error(re.sub(r"^bpe[a-z -]*: ", "", last), exit_code)
