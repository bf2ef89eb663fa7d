# records.py - reads whole records (bpe-records(5)) from a stream, for the engines in Python
#
# Only the boundaries of records are checked here. The programs that get the records check the checksum and content.
import re

from failure import Failure

HEADER = re.compile(rb"\xff1.([0-9a-f]{8})[0-9a-f]{16}", re.DOTALL)
HEADER_LEN = 27
MOST = 1 << 30  # bytes of a payload


def wrong(record, offset):
    """An error message about the bytes up to a line feed, or to the end of the stream; "" if they are a record."""
    header, is_line = HEADER.match(record), record.endswith(b"\n")
    want = HEADER_LEN + int(header[1], 16) + 1 if header else HEADER_LEN
    if record[:1] != b"\xff" and offset:
        return "no record begins here: the stream is damaged"
    if record[:1] != b"\xff":
        return "this is not a stream of records (see bpe-records(5)); pass text through bpe-chunk first"
    if len(record) < HEADER_LEN and not is_line:
        return "the stream is cut off inside a record"
    if record[1:2] != b"1":
        return "a record of a version this program does not know; use one version of bpetools everywhere"
    if not header or want > HEADER_LEN + MOST + 1:
        return "a record with a damaged header"
    if len(record) < want and not is_line:
        return "the stream is cut off inside a record"
    return "" if len(record) == want and is_line else "a record with a damaged length"


def lines_of(stream):
    """The lines of standard input, a binary stream, with their line feeds."""
    try:
        while line := stream.readline(HEADER_LEN + MOST + 2):
            yield line
    except OSError as error:
        raise Failure(74, f"standard input: cannot read: {error.strerror}") from None


def records_of(stream):
    """Each record of standard input, as bytes."""
    at = 0
    for record in lines_of(stream):
        if why := wrong(record, at):
            raise Failure(65, f"standard input: byte {at}: {why}")
        yield record
        at += len(record)


def units_of(stream, size):
    """The unit of work of each task: one record that refers to text (type R), or records of at least size bytes in total."""
    unit, n = [], 0
    for record in records_of(stream):
        unit.append(record)
        n += len(record)
        if n >= size or record[2:3] == b"R":
            yield b"".join(unit)
            unit, n = [], 0
    if unit:
        yield b"".join(unit)
