#!/usr/bin/env python3
"""figures.t [--write] - the tables of README show the last benchmark, section bench-peers of tests/bench/figures.txt.
--write puts its figures there."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

README, FIGURES = os.path.join(lib.TOP, "README"), os.path.join(lib.TOP, "tests", "bench", "figures.txt")
# The heading of each table and what its columns show: (row of bench-peers, is memory). Lines: the subjects of peers.py.
TABLES = {
    "tool, command                           English  30 languages  memory": (
        ["bpe train -v 32000, en", "bpe train -v 32000, multi", "all processes (PSS), en"],
        {"bpe train -v 32000": None, "bpe-chunk | ... | bpe-merge -v 32000": "pipeline", "gigabpe 0.1.0, train_tokenizer": "gigabpe",
         "tokenizers 0.23.3, train_from_iterator": "tokenizers"}),
    "tool, command (English)                 32k      Llama 3  o200k    memory": (
        ["bpe encode, en, own", "bpe encode, en, llama3", "bpe encode, en, o200k", "all processes (PSS), o200k"],
        {"bpe encode -m MODEL": None, "gigatoken 0.10.0, encode_files": "gigatoken", "snaptokens 0.2.6, encode_batch_flat": "snaptokens",
         "tokenizers 1.0.0rc3, encode_batch": "tokenizers_rc3", "tiktoken 0.14.0, encode_ordinary_batch": "tiktoken"}),
}


def measured():
    """{row: {subject: what is shown}}; ours is None."""
    with open(FIGURES, encoding="utf-8") as f:
        section = f.read().partition("\n== bench-peers\n")[2].partition("\n== ")[0]
    rows, row = {}, None
    for line in section.splitlines():
        what, *cells = re.split(r" {2,}", line)
        if what and cells and re.fullmatch(r"[\d.]+ (s|MB)( \(n=\d+\))?", cells[0]):
            number, unit = cells.pop(0).split()[:2]
            row = rows[what] = {None: number + " " + unit}
        elif what:
            row = None
        if row is not None and cells:
            subject, found = re.match(r"(\S+?)(?:-\w+)? \w+(?: ([\d.]+)|:)", cells[0]).groups()
            row[subject] = f"{found} {unit}" if found else "> 120 s" if "not done" in cells[0] else "-"
    return rows


def line_of(heading, name, cells):
    """A line of a table, each cell below the word of the heading that begins its column."""
    line = "    " + name
    for start, cell in zip((m.start() for m in re.finditer(r"(?<=  )\S", heading)), cells):
        line = line.ljust(4 + start) + cell
    return line


def main():
    rows = measured()
    with open(README, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for heading, (columns, subjects) in TABLES.items():
        if not lib.ok("    " + heading in lines, f"README has a table: {heading}"):
            continue
        at = lines.index("    " + heading)
        for number, (name, subject) in enumerate(subjects.items(), at + 1):
            wanted = line_of(heading, name, [rows[column][subject] for column in columns])
            if "--write" in sys.argv:
                lines[number] = wanted
            lib.ok(lines[number] == wanted, f"{name}: as measured", f"{lines[number]}\n# measured: {wanted}")
    if "--write" in sys.argv:
        with open(README, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
    return lib.done()


sys.exit(main())
