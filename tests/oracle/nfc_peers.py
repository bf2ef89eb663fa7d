#!/usr/bin/env python3
"""nfc_peers.py - compares our NFC with that of Hugging Face tokenizers (PyPI tokenizers). Prints TAP.

    nfc_peers.py [TEXT...]

Compares each code point before and after others; each starter with each character that composes; each pair of marks; Hangul; random
sequences; and the TEXT files.
STRINGS=N random sequences (20000), SEED=N their seed. nfc.t makes the same comparison with Python's unicodedata.
"""
import os
import random
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

STRINGS = int(os.environ.get("STRINGS") or 20000)
EVERY = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]  # NUL separates texts
JAMO = [chr(c) for c in [*range(0x1100, 0x1200), 0xAC00, 0xAC01, 0xAC1C, 0xD788, 0xD7A3, 0xA960, 0xD7B0, 0xD7CB]]


def texts(known, rng, strings):
    """(name, list of texts): texts made of the characters in known."""
    marks = [c for c in known if unicodedata.combining(c)]
    pairs = {c: [chr(int(x, 16)) for x in d.split()] for c, d in zip(known, map(unicodedata.decomposition, known)) if d and d[0] != "<"}
    firsts = sorted({p[0] for p in pairs.values()})
    seconds = sorted({p[1] for p in pairs.values() if len(p) > 1} & set(known))
    composed = [c for c in pairs if not unicodedata.combining(c)]
    yield "each character", [f"{c}\0e{c}\0{c}\u0301\0e\u0323{c}\u0316" for c in known]
    starters = sorted({*firsts, *composed, "x"})
    yield "each starter and each character that composes", [a + b for a in starters for b in seconds]
    yield "each mark after each", [f"e{a}{b}" for a in marks for b in marks]
    yield "Hangul", [a + b + c for a in JAMO for b in JAMO for c in ("", "\u11A8", "\u1161", "\u0301")]
    kinds = [marks, seconds, firsts, composed, JAMO, known, [*"aeo "], [chr(c) for c in range(0xAC00, 0xD7A4)]]
    yield "random sequences", ["".join(rng.choice(rng.choice(kinds)) for _ in range(rng.randrange(1, 12))) for _ in range(strings)]
    yield "long runs of marks", ["e" + "".join(rng.choice(marks) for _ in range(n)) for n in (15, 16, 17, 18, 40, 500, 3000)]


def compare(name, items, normalize):
    """Compares all items at once, separated by NUL."""
    whole = "\0".join(items)
    found, want = lib.must("nfc", data=whole.encode()).decode(), normalize(whole)
    wrong = []
    if found != want:
        wrong = [three for three in zip(whole.split("\0"), found.split("\0"), want.split("\0")) if three[1] != three[2]]
    lib.ok(found == want, f"{name} ({len(items)})", " ".join(map(ascii, wrong[0])) if wrong else "")


def main():
    try:
        from tokenizers import normalizers
    except ImportError:
        lib.skip_all("no tokenizers")
    normalize = normalizers.NFC().normalize_str
    for name, items in texts(EVERY, random.Random(lib.seed()), STRINGS):
        compare(name, items, normalize)
    for path in sys.argv[1:]:
        compare(os.path.basename(path), [lib.read(path)[:40 << 20].decode(errors="replace").replace("\0", " ")], normalize)
    sys.exit(lib.done())


if __name__ == "__main__":
    main()
