#!/usr/bin/env python3
"""jsonr.t - JSON is read as strictly as the specification demands: compares random JSON, well-formed and not, with Python's json module.

Python accepts two more things: NaN and Infinity, which are errors for us, and lone surrogates, which are errors for our strict
reader. Our lenient reader turns each into a byte 0xFF, and accepts invalid UTF-8 in strings, as errors="surrogateescape" does.
"""
import codecs
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

SEED, DOCUMENTS = lib.seed(), 20000
rng = random.Random(SEED)

BITS = ["a", "é", "語", "🙂", "\x7f", "/", "\u2028", "abcdefgh", "0123456789abcdef", "\\n", "\\\"", "\\\\", "\\/", "\\b", "\\u0000", "\\u00e9", "\\uFFFF",
        "\\ud83d\\ude42", "\\uD83D\\uDE42", "Ġ", "Ġthe"]
NUMBERS = ["0", "-0", "7", "-17", "3.25", "1e5", "1E+5", "2e-7", "1e999", "9" * 400, "0.5", "123456", "18446744073709551616"]
SPACES = ["", "", "", " ", "\n", "\n  ", "\n        ", "\r\n\t", " " * 17, "\n" + " " * 40]
BROKEN = ["}", "]", ",", "{", "[", ":", '"', "x", "\x00", "\x0c", "\x1f", "\xa0", "//", "null", "tru", "NaN", "-Infinity", "01", "1.", ".5", "-", "1e", "+1",
          "\\", "\\u12", "\\ud800", "\\udc00", "\\ud800\\u0041", "\\x41", "\ufeff", "'", ";", "\n", "nul", "True"]
BAD_BYTES = [b"\xff", b"\x80", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x99", b"\xf5\x80\x80\x80", b"\xc3"]


def space():
    return rng.choice(SPACES)


def string():
    return '"' + "".join(rng.choice(BITS) for _ in range(rng.choice((0, 1, 1, 2, 3, 9)))) + '"'


def value(depth=0):
    kind = rng.randrange(9 if depth < 6 else 4)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return rng.choice(("true", "false", "null"))
    if kind <= 3:
        return string()
    n = rng.choice((0, 1, 2, 2, 5))
    if kind == 4:  # an array of two strings, which is read in one step
        items = (space() + "[" + space() + string() + space() + "," + space() + string() + space() + "]" + space() for _ in range(n))
        return "[" + (",".join(items) or space()) + "]"
    if kind <= 6:
        items = (space() + value(depth + 1) + space() for _ in range(n))
        return "[" + (",".join(items) or space()) + "]"
    items = (space() + string() + space() + ":" + space() + value(depth + 1) + space() for _ in range(n))
    return "{" + (",".join(items) or space()) + "}"


def document():
    doc = (space() + value() + space()).encode()
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2))):
        at, how = rng.randrange(len(doc) + 1), rng.randrange(6)
        if how == 0:
            doc = doc[:at] + rng.choice(BROKEN).encode() + doc[at:]
        elif how == 1:
            doc = doc[:at] + doc[at + rng.choice((1, 1, 2, 10)):]
        elif how == 2:
            doc = doc[:at]
        elif how == 4:
            at = rng.choice([i for i, c in enumerate(doc) if c in b'[]{},:"'] or [0])
            doc = doc[:at] + rng.choice(b'[]{},:"x 0').to_bytes(1, "big") + doc[at + 1:]
        elif how == 3:
            doc = doc[:at] + rng.choice(BAD_BYTES) + doc[at:]
        else:
            other = rng.randrange(len(doc) + 1)
            doc = doc[:at] + doc[other:other + rng.randrange(20)] + doc[at:]
    return doc


class Pairs(list):
    """An object, in which keys may be duplicates."""


def no_constant(word):
    raise ValueError(word)


def plain(v):
    if isinstance(v, Pairs):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + plain(x) for k, x in v) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(plain, v)) + "]"
    return json.dumps(v, ensure_ascii=False)


def surrogate(e):
    """Encodes a surrogate: an invalid byte of the input, or half a pair."""
    c = ord(e.object[e.start])
    return (bytes([c - 0xDC00 if 0xDC80 <= c < 0xDD00 else 0xFF]), e.start + 1)


codecs.register_error("surrogate", surrogate)


# An escape that would be mistaken for surrogateescape's representation of an invalid byte; not in a pair, nor after an escaped backslash.
LIKE_A_BYTE = re.compile(r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][cC][89a-fA-F][0-9a-fA-F]")


def python(doc, lenient):
    """What json_read must print, or None."""
    try:
        text = doc.decode("utf-8", "surrogateescape" if lenient else "strict")
        if lenient:
            text = LIKE_A_BYTE.sub(lambda m: m[1] or r"\udc00", text)
        v = json.loads(text, parse_constant=no_constant, parse_int=lambda s: 0, parse_float=lambda s: 0, object_pairs_hook=Pairs)
        return plain(v).encode("utf-8", "surrogate" if lenient else "strict")
    except ValueError:
        return None


def check(docs):
    heads = [rng.choice((0, 1, len(d) // 2, len(d), rng.randrange(len(d) + 1))) for d in docs]
    lines = "".join(f"{n} {d.hex()}\n" for n, d in zip(heads, docs)).encode()
    got = subprocess.run(["json_read"], input=lines, stdout=subprocess.PIPE, check=True).stdout.split(b"\n")[:-1]
    if len(got) != len(docs):
        raise SystemExit(f"not ok - {len(docs)} documents, {len(got)} answers")
    good = 0
    for n, doc, line in zip(heads, docs, got):
        want = [python(doc, False), python(doc, True)]
        good += want[0] is not None
        if want != [None if part.startswith(b"bad: ") else part for part in line.split(b"\t")]:
            raise SystemExit(f"not ok - seed {SEED}: {doc!r}, first {n} bytes: we say {line!r}, Python {want!r}")
    return good


def main():
    done = good = 0
    while done < DOCUMENTS:
        docs = [document() for _ in range(2000)]
        good += check(docs)
        done += len(docs)
    lib.ok(DOCUMENTS // 5 < good < done, f"{done} documents, of which Python and we accept the same {good}")
    # Documents longer than the window, and the limit of nesting.
    big = json.dumps(["x" * 200000, "é\\" * 50000, {"k" * 70000: ["y"] * 30000}], ensure_ascii=False, indent=1).encode()
    cut = [big[:n] for n in (1000, 65536, 200003, len(big) - 1)]
    deep = [b"[" * n + b"]" * n for n in (1, 127)]
    lib.ok(check([big, *cut, *deep]) == 3, "documents longer than the window, and 127 levels")
    got = subprocess.run(["json_read"], input=b"0 " + (b"[" * 128 + b"]" * 128).hex().encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout
    lib.ok(got.startswith(b"bad: json: byte 128: more than 127 levels"), "128 levels are refused", repr(got))
    return lib.done()


sys.exit(main())
