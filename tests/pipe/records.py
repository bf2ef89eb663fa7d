"""records.py - an independent reader and writer of records, according to man/bpe-records.5, for tests.

It does not compute checksums: tests move whole records, or make them with record_make (tests/oracle).
"""
import collections
import fractions
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

HEADER = 27
Range = collections.namedtuple("Range", "run source begin end")


class Bad(Exception):
    pass


def split(stream):
    """The records of a stream, as bytes."""
    out = stream.split(b"\n")
    if out.pop():
        raise Bad("cut off")
    return [r + b"\n" for r in out]


def kind(record):
    if record[:2] != b"\xff1" or len(record) != HEADER + int(record[3:11], 16) + 1 or record[-1:] != b"\n":
        raise Bad("frame")
    return chr(record[2])


def payload(record):
    """The payload without byte stuffing."""
    data, out, i = record[HEADER:-1], bytearray(), 0
    while i < len(data):
        n = (data[i] ^ 0x0A) - 1
        if n < 0 or n > 254 or i + 1 + n > len(data):
            raise Bad("stuffing")
        out += data[i + 1:i + 1 + n]
        i += 1 + n
        if n < 254 and i < len(data):
            out.append(0x0A)
    return bytes(out)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        if n > len(self.data) - self.at:
            raise Bad("fields")
        self.at += n
        return self.data[self.at - n:self.at]

    def n(self):
        v = shift = 0
        while True:
            b = self.bytes(1)[0]
            v |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return v

    def s(self):
        return self.bytes(self.n())

    def id(self):
        return self.bytes(16)

    def rest(self):
        return self.bytes(len(self.data) - self.at)


def n(v):
    """An integer in the encoding of records."""
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def s(v):
    return n(len(v)) + v


def batch_of(record):
    """The batch of a counts, tokens, commit or summary record."""
    c = Cursor(payload(record))
    if kind(record) in "WT":
        c.id()
    return c.id()


def run_of(record):
    return payload(record)[:16]


def words(stream):
    """The counts of a stream, added up over all batches; fractions if they have a denominator."""
    out, long = collections.Counter(), []
    for record in split(stream):
        if kind(record) != "W":
            continue
        c = Cursor(payload(record))
        c.id()
        batch, number, how = c.id(), c.n(), c.n()
        unit = fractions.Fraction(1, c.n()) if how in (3, 4) else 1
        if how in (0, 3):
            while c.at < len(c.data):
                word = c.s()
                out[word] += c.n() * unit
        elif how in (1, 4):
            long.append((batch, number, c.n(), c.n() * unit, c.rest()))
        else:
            long.append((batch, number, None, None, c.rest()))
    word = b""
    for _, _, length, count, part in sorted(long, key=lambda x: x[:2]):
        if length is not None:
            want, times, word = length, count, b""
        word += part
        if len(word) == want:
            out[word] += times
    return out


Tokens = collections.namedtuple("Tokens", "run batch number model source begin end first width ends ids marks tail")
Mark = collections.namedtuple("Mark", "ids gap len lines id")  # the end of a document
Tail = collections.namedtuple("Tail", "gap open text lines")


def tokens(record):
    """The contents of a tokens record; ids, ends and marks are lists; tail is None except in the last record of a piece."""
    c = Cursor(payload(record))
    run, batch, number, model, source, begin, end, first, width = (c.id(), c.id(), c.n(), c.bytes(8), c.n(), c.n(), c.n(), c.n(),
                                                                 c.n())
    tail = Tail(c.n(), c.n(), c.n(), c.n()) if c.n() else None  # only in the last record of its piece
    ends, marks = [], []
    for _ in range(c.n()):
        marks.append(Mark((ends[-1] if ends else 0) + c.n(), c.n(), c.n(), c.n(), c.s()))
        ends.append(marks[-1].ids)
    ids = c.rest()
    if width not in (2, 4) or len(ids) % width:
        raise Bad("ids")
    ids = [int.from_bytes(ids[i:i + width], "little") for i in range(0, len(ids), width)]
    return Tokens(run, batch, number, model, source, begin, end, first, width, ends, ids, marks, tail)


def ends(stream):
    """The contents of the commits and summaries of a stream."""
    parts = collections.defaultdict(dict)
    for record in split(stream):
        if kind(record) in "KS":
            c = Cursor(payload(record))
            batch, _, part, n_parts = c.id(), c.n(), c.n(), c.n()
            parts[batch, n_parts][part] = c.rest()
    return [b"".join(part[i] for i in range(n_parts)) for (_, n_parts), part in parts.items() if len(part) == n_parts]


def covered(stream):
    """The ranges that the commits and summaries of a stream cover, and the runs that they declare complete."""
    out, whole = [], set()
    for content in ends(stream):
        c = Cursor(content)
        c.n(), c.s(), c.n(), c.bytes(8), c.n()
        for _ in range(c.n()):
            run = c.id()
            c.n(), c.n(), c.s()
            if c.n():
                whole.add(run)
            c.n()
            out += [Range(run, c.n(), c.n(), c.n()) for _ in range(c.n())]
    return out, whole


def weights(stream):
    """{run: (weight, {weight of sources: bytes covered})}, from the extension "weights" of all commits and summaries."""
    out = {}
    for content in ends(stream):
        c, runs = Cursor(content), []
        c.n(), c.s(), c.n(), c.bytes(8), c.n()
        for _ in range(c.n()):
            runs.append(c.id())
            c.n(), c.n(), c.s(), c.n(), c.n()
            for _ in range(c.n()):
                c.n(), c.n(), c.n()
        while c.at < len(c.data):
            name, required, value = c.s(), c.n(), Cursor(c.s())
            if name != b"weights":
                continue
            if not required:
                raise Bad("weights that are not required")
            for run in runs:
                weight = fractions.Fraction(value.n(), value.n())
                out[run] = weight, {fractions.Fraction(value.n(), value.n()): value.n() for _ in range(value.n())}
    return out


def pieces(record):
    """The ranges in a chunk or range record."""
    c = Cursor(payload(record))
    run = c.id()
    c.s()
    if kind(record) == "C":
        c.s()
        source = c.n()
        c.s()
        begin = c.n()
        c.n(), c.n(), c.n()
        return [Range(run, source, begin, begin + len(c.rest()))]
    out = []
    c.n()
    for _ in range(c.n()):
        source = c.n()
        c.s(), c.s(), c.n(), c.n(), c.n(), c.n()
        for _ in range(c.n()):
            begin = c.n()
            out.append(Range(run, source, begin, begin + c.n()))
    return out


def make(*records):
    """Records from (type, payload), with correct checksums."""
    text = "".join("%s %s\n" % (t, p.hex()) for t, p in records)
    return lib.must("record_make", data=text.encode())
