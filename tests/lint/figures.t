#!/usr/bin/env python3
"""figures.t [--write] - the times in README are those of the last benchmarks, tests/bench/figures.txt, all that there are.
--write puts them there, with as many decimals as the figure that was there."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

README, FIGURES = os.path.join(lib.TOP, "README"), os.path.join(lib.TOP, "tests", "bench", "figures.txt")
# The heading of each table, and what each column shows: the first of these subjects that was measured with a text.
TABLES = {
    "text                            pipeline   bpe train   gigabpe   Hugging Face":
        ("line", "xargs train parquet", "gigabpe-32000", "hf-32000"),
    "text                            one core   gigatoken   two cores, bpe encode   gigatoken, two cores":
        ("null-own", "gigatoken1-own", "two-own parquet-own", "gigatoken2-own"),
}
TEXTS = {
    "200 MB of English": "en", "100 MB in thirty languages": "multi", "1 GB of all sorts": "big",
    "the English as JSON Lines": "en.jsonl", "  20 .jsonl.zst": "parts.jsonl.zst", "  four Parquet files": "en.parquet",
}
NONE = "-"


def measured():
    """The median wall seconds of each subject and text, from the tables of medians."""
    with open(FIGURES, encoding="utf-8") as f:
        rows = re.findall(r"^(\S+) +(\S+) +(\d+\.\d+)  ", f.read(), re.M)
    return {(subject, text): float(wall) for subject, text, wall in reversed(rows)}


def shown(seconds, like):
    """A figure as README has it: with as many decimals as in the one that was there, so that it has two digits at least."""
    decimals = len(like.partition(".")[2].partition(" ")[0]) if like != NONE else 2
    while decimals < 2 and seconds < 10 ** (1 - decimals):
        decimals += 1
    return f"{seconds:.{decimals}f} s"


def cells(line):
    """The text, with the spaces before it, and the cells."""
    text = re.match(r" {4}( *\S+(?: \S+)*)", line).group(1)
    return text, re.split(r" {2,}", line[4 + len(text):].strip())


def row(heading, text, others):
    """A line of a table, each cell below the word of the heading that names its column."""
    line = "    " + text
    for start, cell in zip((m.start() for m in re.finditer(r"(?<=  )\S", heading)), others):
        line = line.ljust(4 + start) + cell
    return line


def main():
    figures = measured()
    with open(README, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for heading, columns in TABLES.items():
        if not lib.ok("    " + heading in lines, f"README has a table: {heading}"):
            continue
        at = lines.index("    " + heading) + 1
        while lines[at]:
            text, others = cells(lines[at])
            lib.ok(text in TEXTS and len(others) == len(columns), f"a text that is known, and its cells: {lines[at]}")
            wanted = []
            for subjects, cell in zip(columns, others):
                found = [figures[s, TEXTS[text]] for s in subjects.split() if (s, TEXTS[text]) in figures]
                wanted.append(shown(found[0], cell) if found else NONE)
                if "--write" not in sys.argv:
                    lib.ok(cell == wanted[-1], f"{text.strip()}, {subjects}: {cell}", f"measured: {found or 'not'}")
            lines[at] = row(heading, text, wanted)
            at += 1
    if "--write" in sys.argv:
        lib.write(README, "\n".join(lines))
    return lib.done()


sys.exit(main())
