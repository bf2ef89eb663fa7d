#!/usr/bin/env python3
"""kinds.py - what is no text is told, whatever the options, and however it comes; text is not taken for it.

The files are made by Python's modules where it has one, else by hand from the formats' descriptions.
"""
import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import sqlite3
import sys
import tarfile
import zipfile

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


ASCII = TEXT.decode()
XZ = lzma.compress(TEXT)
ICONV = "iconv -f {0} -t UTF-8 FILE | "
KINDS = [
    ("xz", XZ, "xz data", "xz -dc FILE | "),
    ("bzip2", bz2.compress(TEXT), "bzip2 data", "bzip2 -dc FILE | "),
    ("bzip2 of no bytes", bz2.compress(b""), "bzip2 data", "bzip2 -dc FILE | "),
    ("lz4", bytes.fromhex("04224d186440a7") + TEXT, "lz4 data", "lz4 -dc FILE | "),
    ("lz4 -l", bytes.fromhex("02214c18") + TEXT, "lz4 data", "lz4 -dc FILE | "),
    ("compress", b"\x1f\x9d\x90" + TEXT, "data of compress", "gzip -dc FILE | "),
    ("ustar", tar(tarfile.USTAR_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("GNU tar", tar(tarfile.GNU_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("pax", tar(tarfile.PAX_FORMAT), "a tar archive", "tar -xOf FILE | "),
    ("zip", a_zip("a.txt", "b.txt"), "a zip archive", "unzip -p FILE | "),
    ("zip of no files", a_zip(), "a zip archive", "unzip -p FILE | "),
    ("7z", b"7z\xbc\xaf\x27\x1c\x00\x04" + TEXT, "a 7z archive", "7z x -so FILE | "),
    ("Parquet", b"PAR1\x15\x04\x15\x20" + TEXT + b"PAR1", "a Parquet file", "bpe parquet FILE | "),
    ("Arrow IPC file", b"ARROW1\0\0\xff\xff\xff\xff\xa8\0\0\0" + TEXT, "an Arrow IPC file", "bpe parquet"),
    ("Arrow IPC stream", b"\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0" + TEXT, "an Arrow IPC stream", "bpe parquet"),
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


def told(program, args, place, kind, hint, data=b""):
    code, _, err = lib.run([program, *args], data)
    hint = hint + program if hint.endswith("| ") else hint
    start = f"{program}: {place}: this is {kind}, and no text in UTF-8; "
    return "" if code == 65 and err.startswith(start) and hint in err and err.count("\n") == 1 else f"{args}: exit {code}: {err}"


def told_by_either(args, place, kind, hint):
    """By bpe-chunk, or by bpe-count if the text is read there."""
    code, chunks, first = lib.run(["bpe-chunk", *args])
    later, _, second = lib.run(["bpe-count"], chunks)
    hint = hint + "bpe-chunk" if hint.endswith("| ") else hint
    want = f": {place}: this is {kind}, and no text in UTF-8; "
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
    lib.ok(not bad, f"{name} is told", "\n".join(bad))


def taken(name, data, *options):
    """Text is counted: as many bytes as it has."""
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

bpe = "a record of bpetools (chunks, counts or tokens)"
lib.write("made.chunks", lib.must("bpe-chunk", "text"))
lib.write("made.sum", counts)
for file in ("made.chunks", "made.sum"):
    wrong = [told("bpe-chunk", [*how, file], file, bpe, "bpe-count") for how in ([], ["--inline"], ["--invalid=bytes"])]
    wrong.append(told("bpe-chunk", [], "standard input", bpe, "bpe-count", lib.read(file)))
    lib.ok(not any(wrong), f"{file} is told", "\n".join(wrong))

twice = gzip.compress(gzip.compress(TEXT))
lib.write("twice.gz", twice)
why = told("bpe-chunk", ["twice.gz"], "twice.gz", "gzip data inside compressed data", "zstdcat FILE | zstdcat | ")
lib.ok(not why, "gzip in gzip is told", why)

HONEST = ["PK", "PK is Pakistan", "BZh", "BZh9 is how it begins", "%PDF", "%PDF-1.4 is its first line", "%PDF-1.7\n", "%PDF-1.7\nis the first line of 1 0 obj",
          "PAR1", "PAR1S", "ustar", "ARROW1 is a name", "SQLite format 3", "7z", "Rar!", "LZIP", "WARC/1.0", "x" * 257 + "ustarx",
          "x" * 257 + "ustar is the mark of tar", "x" * 257 + "ustar  ", "{}", "[1, 2]",
          "\ufeffThe cat"]
for text in HONEST:
    taken(repr(text[:30]), text.encode())
taken("text with some NUL bytes", b"a\0b\0cd\0" * 200)
taken("a document that ends where tar has its mark", b"x" * 257 + b"ustar\0the next\0", "-0")
taken("two bytes", b"a\0")
taken("documents of a letter", b"a\0b\0c\0" * 200, "-0")
taken("no bytes", b"")
taken("letters before each NUL that are not ASCII", "é\0".encode() * 300)

# Each start of a file is either told or text, and never a crash.
crashed = []
for (name, data, _, _), n in itertools.product(KINDS, [1, 2, 3, 4, 5, 7, 8, 15, 16, 26, 27, 258, 262, 263, 511, 512, 513]):
    code, _, err = lib.run(["bpe-chunk"], data[:n])
    if code not in (0, 65):
        crashed.append(f"{name}[:{n}]: exit {code}: {err}")
lib.ok(not crashed, "cut off anywhere, it is told or text", "\n".join(crashed))
sys.exit(lib.done())
