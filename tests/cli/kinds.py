#!/usr/bin/env python3
"""kinds.py - binary data is refused with a message that names its format, for all options and ways of input; text is never refused.

The files are made by Python's modules if there is one, else by hand from the formats' specifications.
"""
import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import sqlite3
import struct
import sys
import tarfile
import zipfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # pylint: disable=wrong-import-position

TEXT = b"The cat sat.\nThe dog sat.\n" * 40


def tar(kind):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as t:
        info = tarfile.TarInfo("a.txt")
        info.size = len(TEXT)
        t.addfile(info, io.BytesIO(TEXT))
    return out.getvalue()


def a_zip(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name in names:
            z.writestr(name, TEXT)
    return out.getvalue()


def sqlite():
    if os.path.exists("made.db"):
        os.unlink("made.db")
    db = sqlite3.connect("made.db")
    db.execute("create table t (text)")
    db.execute("insert into t values ('The cat')")
    db.commit()
    db.close()
    return lib.read("made.db")


def pdf(comment):
    return b"%PDF-1.7\n" + comment + b"1 0 obj\n<< /Type /Catalog >>\nendobj\n" + TEXT


def avro():
    """An Avro file of one record with a string: header, block, and a sync marker after each."""
    def string(s):
        return bytes([2 * len(s)]) + s if len(s) < 64 else bytes([2 * len(s) % 128 + 128, 2 * len(s) // 128]) + s

    schema = b'{"type": "record", "name": "r", "fields": [{"name": "text", "type": "string"}]}'
    head = b"Obj\1" + b"\2" + string(b"avro.schema") + string(schema) + b"\0" + b"0123456789abcdef"
    return head + b"\2" + bytes([2 * len(string(b"The cat"))]) + string(b"The cat") + b"0123456789abcdef"


def png():
    def part(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"\0\0")) + part(b"IEND", b"")


def numpy():
    head = b"{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes([1, 0, 2, 0, 3, 0])


# The start of files of pyarrow's ORC writer: with and without rows, plain and compressed.
ORC = {
    "of rows": "0a 07 12 05 08 e8 07 50 00 0a 29 0a 03 00 00 00 12 22 08 e8 07 22 1b 0a 0c",
    "of no rows": "08 03 10 00 22 11 08 0c 12 01 01 1a 04 74 65 78 74 20 00 28 00 30 00",
    "with zlib": "13 00 00 0a 07 12 05 08 e8 07 50 00 54 00 00 e3 d2 e6 62 65 00 01 21 25",
    "of no rows with zlib": "74 00 00 e3 60 16 60 50 12 e4 e0 11 62 64 94 62 29 49 ad 28 51",
    "of no rows with snappy": "7c 00 00 3f 68 08 03 10 00 22 11 08 0c 12 01 01 1a 04 74 65 78 74",
}


def by_pyarrow():
    """Files made by pyarrow, if it is installed."""
    try:
        import pyarrow  # pylint: disable=import-error,import-outside-toplevel
        from pyarrow import feather, ipc, orc, parquet  # pylint: disable=import-error,import-outside-toplevel
    except ImportError:
        return
    table = pyarrow.table({"text": ["The cat sat.", "The dog sat."] * 200})
    for name in ("uncompressed", "zlib", "snappy", "zstd"):
        for rows in (table, table[:1], table[:0]):
            orc.write_table(rows, "made", compression=name)
            yield f"{rows.num_rows} rows by ORC, {name}", lib.read("made"), "an ORC file", "bpe parquet"
    if hasattr(feather, "write_feather"):
        feather.write_feather(table, "made")
        yield "Feather", lib.read("made"), "an Arrow IPC file", "bpe parquet"
    with ipc.new_stream("made", table.schema) as stream:
        stream.write_table(table)
    yield "Arrow IPC stream by pyarrow", lib.read("made"), "an Arrow IPC stream", "bpe parquet"
    parquet.write_table(table, "made")
    yield "Parquet by pyarrow", lib.read("made"), "a Parquet file", "bpe parquet FILE | "


ASCII = TEXT.decode()
XZ = lzma.compress(TEXT)
ICONV = "iconv -f {0} -t UTF-8 FILE | "
KINDS = [
    ("xz", XZ, "xz data", "xz -dc FILE | "),
    ("bzip2", bz2.compress(TEXT), "bzip2 data", "bzip2 -dc FILE | "),
    ("bzip2 of no bytes", bz2.compress(b""), "bzip2 data", "bzip2 -dc FILE | "),
    ("lz4", bytes.fromhex("04224d186440a7") + TEXT, "lz4 data", "lz4 -dc FILE | "),
    ("lz4 -l", bytes.fromhex("02214c18") + TEXT, "lz4 data", "lz4 -dc FILE | "),
    ("compress", b"\x1f\x9d\x90" + TEXT, "compress data", "gzip -dc FILE | "),
    ("ustar", tar(tarfile.USTAR_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("GNU tar", tar(tarfile.GNU_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("pax", tar(tarfile.PAX_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("zip", a_zip("a.txt", "b.txt"), "a zip archive", "unzip -p FILE | "),
    ("zip of no files", a_zip(), "a zip archive", "unzip -p FILE | "),
    ("7z", b"7z\xbc\xaf\x27\x1c\x00\x04" + TEXT, "a 7z archive", "7z x -so FILE | "),
    ("Parquet", b"PAR1\x15\x04\x15\x20" + TEXT + b"PAR1", "a Parquet file", "bpe parquet FILE | "),
    ("Arrow IPC file", b"ARROW1\0\0\xff\xff\xff\xff\xa8\0\0\0" + TEXT, "an Arrow IPC file", "bpe parquet"),
    ("Arrow IPC stream", b"\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0" + TEXT, "an Arrow IPC stream", "bpe parquet"),
    # As pyarrow writes it: magic numbers at both ends, columns padded to multiples of 8.
    ("Feather of version 1", b"FEA1\0\0\0\0" + TEXT[:80] + b"FEA1", "a Feather file", "write it as Parquet"),
    *((f"ORC {name}", b"ORC" + bytes.fromhex(start) + TEXT, "an ORC file", "bpe parquet") for name, start in ORC.items()),
    ("Avro", avro(), "an Avro file", "bpe parquet"),
    ("HDF5", b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0" + TEXT, "an HDF5 file", "for -0"),
    ("NumPy", numpy(), "a NumPy array", "for -0"),
    ("ELF", b"\x7fELF\2\1\1" + bytes(9) + b"\3\0\x3e\0" + TEXT, "a program or library (ELF)", "leave it out"),
    ("PNG", png(), "an image (PNG)", "leave it out"),
    ("JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1" + TEXT, "an image (JPEG)", "leave it out"),
    *by_pyarrow(),
    ("SQLite", sqlite(), "an SQLite database", "sqlite3 FILE"),
    ("PDF", pdf(b"%\xe2\xe3\xcf\xd3\n"), "a PDF document", "pdftotext FILE - | "),
    ("PDF without a comment", pdf(b""), "a PDF document", "pdftotext FILE - | "),
    ("UTF-16", ASCII.encode("utf-16"), "text in UTF-16", ICONV.format("UTF-16")),
    ("UTF-16BE with a mark", b"\xfe\xff" + ASCII.encode("utf-16-be"), "text in UTF-16", ICONV.format("UTF-16")),
    ("UTF-16 of Chinese", "我们在这里".encode("utf-16"), "text in UTF-16", ICONV.format("UTF-16")),
    ("UTF-32", ASCII.encode("utf-32"), "text in UTF-32", ICONV.format("UTF-32")),
    ("UTF-32BE with a mark", b"\0\0\xfe\xff" + ASCII.encode("utf-32-be"), "text in UTF-32", ICONV.format("UTF-32")),
    ("UTF-16LE without a mark", ASCII.encode("utf-16-le"), "text in UTF-16LE", ICONV.format("UTF-16LE")),
    ("UTF-16BE without a mark", ASCII.encode("utf-16-be"), "text in UTF-16BE", ICONV.format("UTF-16BE")),
    ("UTF-32LE without a mark", ASCII.encode("utf-32-le"), "text in UTF-32LE", ICONV.format("UTF-32LE")),
    ("UTF-32BE without a mark", ASCII.encode("utf-32-be"), "text in UTF-32BE", ICONV.format("UTF-32BE")),
]


def shown(hint, place):
    """The hint as a message shows it: with the file's name, unless the file is compressed, and "..." for the program."""
    hint = hint if place == "standard input" or place.endswith(".gz") else hint.replace("FILE", place, 1)
    return hint + "..." if hint.endswith("| ") else hint


def told(program, args, place, kind, hint, data=b""):
    code, _, err = lib.run([program, *args], data)
    hint = shown(hint, place)
    start = f"{program}: {place}: this is {kind}, not UTF-8 text; "
    return "" if code == 65 and err.startswith(start) and hint in err and err.count("\n") == 1 else f"{args}: exit {code}: {err}"


def told_by_either(args, place, kind, hint):
    """Like told, but bpe-count reports it if the text is read there."""
    code, chunks, first = lib.run(["bpe-chunk", *args])
    later, _, second = lib.run(["bpe-count"], chunks)
    hint = shown(hint, place)
    want = f": {place}: this is {kind}, not UTF-8 text; "
    good = (code or later) == 65 and want in (first or second) and hint in (first or second)
    return "" if good else f"{args}: exits {code}, {later}: {first}{second}"


def refused(name, data, kind, hint):
    lib.write("in", data)
    lib.write("in.gz", gzip.compress(data))
    chunk, encode = "bpe-chunk", ["-m", "model.json"]
    bad = [told(chunk, [*options, "in"], "in", kind, hint)
           for options in ([], ["--inline"], ["-b", "1", "--inline"], ["--jsonl"], ["--wet"], ["--invalid=replace"], ["--invalid=bytes"])]
    bad += [told(chunk, ["in.gz"], "in.gz", kind, hint), told_by_either(["in.gz", "in.gz"], "in.gz", kind, hint),
            told(chunk, [], "standard input", kind, hint, data), told("bpe-encode", [*encode, "in"], "in", kind, hint),
            told("bpe-encode", [*encode, "--invalid=bytes"], "standard input", kind, hint, gzip.compress(data))]
    if not name.endswith("without a mark"):
        bad.append(told(chunk, ["-0", "in"], "in", kind, hint))
    bad = [b for b in bad if b]
    lib.ok(not bad, f"{name} is refused with its format", "\n".join(bad))


def taken(name, data, *options):
    """Text must be counted, with the right number of bytes."""
    bad = []
    lib.write("in", data)
    for args in (["in"], ["--inline", "in"], ["-"]):
        chunks = lib.run(["bpe-chunk", *options, *args], data)
        code, _, err = lib.run(["bpe-sum"], lib.run(["bpe-count"], chunks[1])[1])
        out = lib.run(["bpe-view"], chunks[1])[1].decode()
        if chunks[0] or code or not re.search(f"source number=0 .* bytes={len(data)}\\b", out):
            bad.append(f"{args}: {chunks[2]}{err}{out}")
    code, _, err = lib.run(["bpe-encode", "-m", "model.json", *options, "in"])
    if code:
        bad.append(err)
    lib.ok(not bad, f"{name} is text", "\n".join(bad))


lib.write("text", TEXT)
counts = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "text")))
lib.write("model.json", lib.must("bpe-merge", "-v", "300", data=counts))

for row in KINDS:
    refused(*row)

bpe = "a bpetools record (chunks, counts or tokens)"
lib.write("made.chunks", lib.must("bpe-chunk", "text"))
lib.write("made.sum", counts)
for file in ("made.chunks", "made.sum"):
    wrong = [told("bpe-chunk", [*how, file], file, bpe, "bpe-count") for how in ([], ["--inline"], ["--invalid=bytes"])]
    wrong.append(told("bpe-chunk", [], "standard input", bpe, "bpe-count", lib.read(file)))
    lib.ok(not any(wrong), f"{file} is refused with its format", "\n".join(wrong))

twice = gzip.compress(gzip.compress(TEXT))
lib.write("twice.gz", twice)
why = told("bpe-chunk", ["twice.gz"], "twice.gz", "gzip data inside compressed data", "zstdcat FILE | zstdcat | ")
lib.ok(not why, "gzip in gzip is refused with its format", why)

HONEST = ["PK", "PK is Pakistan", "BZh", "BZh9 is how it begins", "%PDF", "%PDF-1.4 is its first line", "%PDF-1.7\n", "%PDF-1.7\nis the first line of 1 0 obj",
          "PAR1", "PAR1S", "ustar", "ARROW1 is a name", "SQLite format 3", "7z", "Rar!", "LZIP", "WARC/1.0", "x" * 257 + "ustarx",
          "x" * 257 + "ustar is the mark of tar", "x" * 257 + "ustar  ", "{}", "[1, 2]",
          "\ufeffThe cat", "ORC", "ORC\n\tis a format\r\nof columns", "ORC\0", "Obj", "Obj 1", "ELF", "HDF\r\n", "NUMPY", "\x7fEL",
          "PNG", "FEA1", "FEA1 is a mark", "[{", "[{}]", '[{"a"}]', "WARC/1.0\r\nWARC-Type: x\r\n"]
for text in HONEST:
    taken(repr(text[:30]), text.encode())
taken("text with some NUL bytes", b"a\0b\0cd\0" * 200)
taken("a document that ends at tar's magic number", b"x" * 257 + b"ustar\0the next\0", "-0")
taken("two bytes", b"a\0")
taken("documents of one letter", b"a\0b\0c\0" * 200, "-0")
taken("documents that begin with ORC", b"ORC\0is\0a\0form\0", "-0")
taken("no bytes", b"")
taken("non-ASCII letters before each NUL", "é\0".encode() * 300)

# Any start of a file is either refused or read as text, without a crash.
crashed = []
for (name, data, _, _), n in itertools.product(KINDS, [1, 2, 3, 4, 5, 7, 8, 15, 16, 26, 27, 258, 262, 263, 511, 512, 513]):
    code, _, err = lib.run(["bpe-chunk"], data[:n])
    if code not in (0, 65):
        crashed.append(f"{name}[:{n}]: exit {code}: {err}")
lib.ok(not crashed, "files cut off anywhere are refused or read as text", "\n".join(crashed))
sys.exit(lib.done())
