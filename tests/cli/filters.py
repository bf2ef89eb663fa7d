"""filters.py - runs the filters from Python, for tests that compare them with a few obvious lines of Python.

    code, words, stderr = count(["-p", "bytes"], b"some text", how="file")

The programs must be on PATH (lib.sh puts them there); files are created in the current directory.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import run, unescape  # noqa: E402


def view(records):
    """The counts of a sum, as {pretoken: count}."""
    code, out, err = run(["bpe-view"], records)
    assert code == 0, err
    lines = []
    for line in out.split(b"\n"):
        if line and not line.startswith(b"#"):
            n, word = line.split(b"\t")
            if n:
                lines.append([unescape(word), int(n)])
            else:  # the next part of a long pretoken
                lines[-1][0] += unescape(word)
    words = dict(lines)
    assert len(words) == len(lines), "a word twice in a sum"
    return words


def count(options, data, how="file", jobs=1, name="in.txt"):
    """Counts data with bpe-chunk, `jobs` bpe-counts and bpe-sum: (exit status, counts, messages). how: file, inline, or stdin."""
    args = ["bpe-chunk"] + options
    if how == "stdin":
        code, chunks, err = run(args, data)
    else:
        with open(name, "wb") as f:
            f.write(data)
        code, chunks, err = run(args + (["--inline"] if how == "inline" else []) + ["--", name])
    records = [r + b"\n" for r in chunks.split(b"\n")[:-1]]
    counts = b""
    for j in range(jobs):
        code, out, more = run(["bpe-count"], b"".join(records[j::jobs]))
        counts += out
        err += more
    code, total, more = run(["bpe-sum"], counts)
    return code, (view(total) if code == 0 else None), err + more


def tally(words):
    """{word: how often}, without empty words, which the programs do not count."""
    out = {}
    for w in words:
        if w:
            out[w] = out.get(w, 0) + 1
    return out


def split(data, tokens):
    """The documents between special tokens: the leftmost match wins, then the longest."""
    if not tokens:
        return [data]
    return re.split(b"|".join(re.escape(t) for t in sorted(tokens, key=len, reverse=True)), data)


def differ(got, want, about):
    """Returns whether the counts differ, and prints the differences as TAP comments."""
    if got == want:
        return False
    print("#", about)
    got = got or {}
    for w in sorted(set(got) | set(want), key=repr)[:2000]:
        if got.get(w) != want.get(w):
            print(f"#   {w[:100]!r}: counted {got.get(w, 0)}, wanted {want.get(w, 0)}")
    sys.stdout.flush()
    return True
