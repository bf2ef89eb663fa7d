#!/usr/bin/env python3
"""count_lines.t - bpe-count --counts reads random lines of counts as a slow reader does: the same counts, or an error in the same line.

The counts of text that bpe-view shows are read back, by every pattern. The program pretok knows how a pattern splits a string.
"""
import gzip
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from filters import view  # noqa: E402

lib.own_directory()
SEED, FILES = lib.seed(), 120
rng = random.Random(SEED)
MOST = 2**64 - 1
SHORT = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\", b"0": b"\0", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"'": b"'"}
LETTER = {byte: letter for letter, byte in SHORT.items()}
PATTERNS = [line.split("\t")[0] for line in lib.must("pretok", "--regexes").decode().split("\n") if line and line[0] != "\t"] + ["bytes"]


# ---- The slow reader ----

class Wrong(Exception):
    pass


def decode(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Wrong from None


def unescape(word):
    def one(m):
        if m[1]:
            return bytes([int(m[1], 16)])
        if m[2] in SHORT:
            return SHORT[m[2]]
        raise Wrong
    return re.sub(rb"\\(?:x([0-9A-Fa-f]{2})|(.?))", one, word, flags=re.S)


PIECES = {}


def is_split(pattern, word):
    if (pattern, word) not in PIECES:
        PIECES[pattern, word] = lib.must("pretok", pattern, data=word).count(b"\n")
    return PIECES[pattern, word] != 1


def check(word, pattern, special):
    if not word or any(s in word for s in special):
        raise Wrong
    try:
        word.decode()
    except UnicodeDecodeError:
        if len(word) > 1:
            raise Wrong from None
        return
    if pattern and is_split(pattern, word):
        raise Wrong


def split(line, order, separator):
    if order == "last":
        m = re.fullmatch(rb"(.*)\t([0-9]+)", line, re.S)
        word, count = (m[1], m[2]) if m else (None, None)
    else:
        m = re.fullmatch(rb"([0-9]+)(\t)(.*)", line, re.S) or re.fullmatch(rb" *([0-9]+)( )(.*)", line, re.S)
        word, count = (m[3], m[1]) if m else (None, None)
        if m and (separator or m[2]) != m[2]:
            raise Wrong
        separator = m and m[2]
    if not m or int(count) > MOST:
        raise Wrong
    return word, int(count), separator


def slow(data, order, raw, pattern, special):
    """The counts, or the number of the first wrong line."""
    counts, total, separator = {}, 0, None
    lines = data.split(b"\n")
    rest = lines.pop()
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            decode(line)
            word, count, separator = split(line, order, separator)
            if not raw:
                if re.search(rb"[\t\r]", word):
                    raise Wrong
                word = unescape(word)
            check(word, pattern, special)
            total += count
            if total > MOST:
                raise Wrong
            if count:
                counts[word] = counts.get(word, 0) + count
        number += 1
        if rest:
            raise Wrong
    except Wrong:
        return number
    return counts


# ---- Random lines ----

GOOD = ["the", " the", "The", " a", "'s", "\n", "\n\n", "\r", "\t", " ", "  ", "\r\n", "\x00", "\x08", "\x0b", "\x0c", "\x7f", "\x85", "é", " été", "日本語", "😀",
        "\\", "\\\\", "'", "''", '"', "123", " 7", "#", "##", " #", "...", "e\u0301", "\u00a0", "\u2028", "x" * 300, " " + "語" * 200]
SPLIT = ["don't", "a b", "the ", "\na", "a\n", "x1", "fooBar", "!a", "a\tb", "1234", "<|endoftext|>", "x<|endoftext|>", "<s>", "é!", "\n \n"]
BYTES = [b"\xe9", b"\xff", b"\x80", b"\xc3", b"\xe9\xe8", b"a\xff", b"\xf0\x9f\x98"]
COUNTS = ["0", "1", "2", "3", "17", "007", "4294967295", "4294967296", "123456789012345678"]
LARGE = [str(MOST), str(MOST + 1), "9" * 30, str(2**63)]
NO_COUNTS = ["", "-1", "+1", "1.0", "1e3", " ", "x", "0x10", "1,000", "٣"]


def escape(word):
    """A random spelling; bytes that need an escape have one."""
    out = bytearray()
    for i in range(len(word)):
        byte = word[i:i + 1]
        if byte in LETTER and rng.random() < 0.8:
            out += b"\\" + LETTER[byte]
        elif byte in b"\t\n\r\\" or rng.random() < 0.05:
            out += (b"\\x%02X" if rng.random() < 0.5 else b"\\x%02x") % byte[0]
        else:
            out += byte
    try:
        out.decode()
    except UnicodeDecodeError:
        return b"".join(b"\\x%02X" % b for b in word)
    return bytes(out)


def make_line(order, raw, separator, odd):
    word = rng.choice(GOOD).encode()
    count = rng.choice(COUNTS)
    kind = rng.randrange(7) if odd else -1
    if kind == 0:
        word = rng.choice(SPLIT).encode()
    if kind == 1:
        word = rng.choice(BYTES)
    if kind == 2:
        count = rng.choice(LARGE)
    if kind == 3:
        count = rng.choice(NO_COUNTS)
    if not raw and not (kind == 1 and rng.random() < 0.3):
        word = escape(word)
    if raw:
        word = word.replace(b"\n", b"")
    if kind == 4:
        word = rng.choice([b"", word + b"\r", word + b"\t", word + b"\\", word + b"\\q", word + b"\\x4", b"\\u00e9", word + b"\0"])
    count = count.encode()
    if order == "last":
        line = word + b"\t" + count
    elif separator == b" ":
        line = b"%s%s %s" % (b" " * rng.randrange(8), count, word)
    else:
        line = count + b"\t" + word
    if kind == 5:
        line = rng.choice([b"", b" ", b"\t", line + b"\r", b" " + line, line.replace(b"\t", b" "), line.replace(b"\t", b""), b"#" + line])
    return line


def make_file(order, raw):
    separator = rng.choice([b"\t", b" "])
    n, odd = rng.choice([0, 1, 2, 10, 60]), rng.random() < 0.6
    chosen = rng.randrange(max(n, 1)) if odd else None
    lines = [make_line(order, raw, separator, i == chosen) for i in range(n)]
    if raw:
        lines = [line for line in lines if re.search(rb"\t." if order == "first" else rb".\t", line, re.S) or rng.random() < 0.2]
    data = b"".join(line + b"\n" for line in lines)
    return data[:-1] if rng.random() < 0.05 else data


def sum_of(*args, data=b""):
    """(exit status, counts or message) of bpe-count ARGS | bpe-sum."""
    code, out, err = lib.run(["bpe-count", *args], data)
    status, total, why = lib.run(["bpe-sum"], out)
    if code:
        return (code, err) if status == code and why.split(": ", 1)[1:] == err.split(": ", 1)[1:] else (f"{code}, but bpe-sum {status}", err + why)
    return status, view(total) if status == 0 else why


def one(number):
    order, raw = rng.choice(["first", "last"]), rng.random() < 0.3
    pattern = rng.choice(["gpt2", "gpt2", "o200k", "bytes", None])
    special = rng.choice([["<|endoftext|>"], ["<s>", "<|endoftext|>"], [], ["'s"]])
    data = make_file(order, raw)
    want = slow(data, order, raw, pattern, [s.encode() for s in special])
    args = [rng.choice(["--counts", "--counts=first"]) if order == "first" else "--counts=last", *["--raw"] * raw]
    args += ["-p", pattern] if pattern else ["-e", r"(.|\s)+"]
    args += [a for s in special for a in ("-s", s)] if special else ["--no-special"]
    how = rng.choice(["file", "stdin", "gzip", "zstd"])
    lib.write("in.tsv", gzip.compress(data) if how == "gzip" else lib.zstd_frame(data) if how == "zstd" else data)
    if how == "stdin":
        code, got = sum_of(*args, data=data)
    else:
        code, got = sum_of(*args, "in.tsv")
    name = "standard input" if how == "stdin" else "in.tsv"
    if isinstance(want, dict):
        good = code == 0 and got == want
    else:
        good = code == 65 and got.startswith(f"bpe-count: {name}: line {want}: ")
    if not good:
        lib.write(f"wrong.{number}", data)
        print(f"# {args} {how}: {data[:300]!r}\n#   got {code} {str(got)[:300]!r}\n#   want {str(want)[:300]!r}")
    return good, isinstance(want, dict)


results = [one(number) for number in range(FILES)]
read = sum(ok for _, ok in results)
lib.ok(all(good for good, _ in results), f"{read} random files give the counts of the slow reader, {FILES - read} an error in the same line")
lib.ok(min(read, FILES - read) > FILES // 10, "there are enough of both")

# ---- The counts of text can be read back ----

TEXT = lib.text(SEED, 30000)
PARTS = GOOD + SPLIT + ["\u200d", "\u0301", "ſ", "ǅ", "ª", "ʰ", "한", "に", "'S", "'LL", "’s", "/", "_", "12", "٣"]
for doc in range(200):
    TEXT += b"\xfe" + b"".join(rng.choice(BYTES) if rng.random() < 0.03 else rng.choice(PARTS).encode() for _ in range(rng.choice([1, 3, 10, 40])))
TEXT += b"\xfe"
for p in PATTERNS:
    options = ["-p", p, *rng.choice([[], ["--normalize=nfc"]]), *rng.choice([[], ["--no-special"], ["-s", "<s>", "-s", "'s"]])]
    total = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "--fe", "--invalid=bytes", *options, data=TEXT)))
    shown = lib.must("bpe-view", data=total)
    code, again = sum_of("--counts", *options, data=shown)
    lib.ok(code == 0 and again == view(total), f"{' '.join(options)}: all pretokens of a text can be read back", again)

# ---- The words that are not checked, because they are surely pretokens ----

WORDS = {rng.choice(["", " "]) + "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(1, 12))) for _ in range(500)}
WORDS |= {w[:-1].capitalize() if w[0] != " " else " " + w[1:].capitalize() for w in WORDS if len(w) > 2}
DOCUMENTS = b"".join(w.encode() + b"\0" for w in WORDS)
bad = [p for p in PATTERNS if set(view(lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-0", "-p", p, data=DOCUMENTS)))))
       != {w.encode() for w in WORDS}]
lib.ok(not bad, "no pattern splits a letter and lower-case letters, with or without a space", bad)
sys.exit(lib.done())
