#!/usr/bin/env python3
"""jsonl.py SEED LINES - random JSON Lines, well-formed and not, counted, and read by Python's json module.

Each text is one word (-p bytes), so the words of the sum are the documents themselves.
"""
import codecs
import json
import random
import re
import sys

from filters import count, differ, split, tally

END = b"<|endoftext|>"
BAD_BYTES = [b"\xff", b"\x80", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x99", b"\xf5\x80\x80\x80", b"\xc3", b"\xe9"]
BITS = ["a", "b", " ", "é", "語", "🙂", "\ufffd", "\ufdd0", "\ufdd1", "\ufdef", "\uffff", "\u2028", "\x7f", "'", "/", "{", "}", "[", ",", ":",
        "<", "|", "<|endoftext|>", "<|endof", "text|>",
        "\\n", "\\t", "\\r", "\\b", "\\f", "\\\"", "\\\\", "\\/", "\\u0000", "\\u0001", "\\u00e9", "\\u00E9", "\\ud83d\\ude42", "\\uD83D\\uDE42",
        "\\ufdd0", "\\ufffd", "\\ufeff", "\\\\u0041", "\\\\ud800", "\\u003c|endoftext|>", "\\u003C\\u007cendoftext|>", "\\u000a", "\\u0022"]
LONE = ["\\ud800", "\\udc00", "\\uDBFF", "\\udfff", "\\ude42\\ud83d", "\\ud83d\\ud83d\\ude42", "\\ud83d\\u0041", "\\ud83d\\n", "\\ud83d\\\\ude42"]
NUMBERS = ["0", "-0", "1", "-17", "3.25", "1e5", "1E+5", "2e-7", "1e999", "-1e9999", "9" * 400, "-" + "1" * 25, "0." + "3" * 400, "1e-999",
           "18446744073709551616", "0e0"]
NOT_NUMBERS = ["01", "-", "+1", "1.", ".5", "1e", "0x10", "1_0", "--1", "NaN", "Infinity", "-Infinity", "nan", "-NaN", "00", "1e+", "1.e5", "٣"]
SPACES = ["", "", "", " ", "\t", "  ", " \r "]
BROKEN = ["", "}", "]", ",", "{}", "x", "\x00", "\x0c", "\x0b", "\u00a0", "//", "null", ";"]


class Lines:
    """Makes random lines, for one policy of --invalid."""

    def __init__(self, rng, invalid):
        self.rng = rng
        self.invalid = invalid

    def pick(self, *from_):
        return self.rng.choice(from_)

    def string(self, lone=None):
        bits = [self.rng.choice(BITS) for _ in range(self.rng.choice([0, 1, 2, 5, 12]))]
        if lone if lone is not None else self.rng.random() < 0.15:
            bits.insert(self.rng.randint(0, len(bits)), self.rng.choice(LONE))
        return '"' + "".join(bits) + '"'

    def space(self):
        return self.rng.choice(SPACES)

    def value(self, depth=0):
        x = self.rng.random()
        if x < 0.25 and depth < 4:
            return "[" + ",".join(self.space() + self.value(depth + 1) + self.space() for _ in range(self.rng.randint(0, 3))) + "]"
        if x < 0.5 and depth < 4:
            return self.object(depth + 1)
        if x < 0.7:
            return self.string()
        if x < 0.97:
            return self.rng.choice(NUMBERS + ["true", "false", "null"])
        return self.rng.choice(NOT_NUMBERS)

    def member(self, key, value):
        return self.space() + key + self.space() + ":" + self.space() + value + self.space()

    def object(self, depth):
        members = [self.member(self.pick('"k"', '"text"', '"a"', '"b"', '""', '"\\u0000"', '"te\\u0078t"', '"text\\u0000"', self.string()),
                               self.value(depth)) for _ in range(self.rng.randint(0, 3))]
        return "{" + ",".join(members) + "}"

    def line(self):
        rng = self.rng
        text = lambda: self.string(None if self.invalid != "error" else False)
        members = [self.member(self.pick('"text"', '"text"', '"te\\u0078t"'), text()) for _ in range(rng.choice([1, 1, 1, 1, 2, 0]))]
        for _ in range(rng.randint(0, 3)):
            members.append(self.member(self.pick('"k"', '"id"', '"a"', '"Text"', '"text "', '"\\ud800"', '"x\\u0000"', self.string()), self.value()))
        if rng.random() < 0.04:
            members.append('"text":' + self.value())
        rng.shuffle(members)
        line = self.space() + "{" + ",".join(members) + "}" + self.space()
        x = rng.random()
        if x < 0.02:
            line = line[:rng.randint(0, len(line))]
        elif x < 0.04:
            line += rng.choice(BROKEN)
        elif x < 0.05:
            line = self.value()
        elif x < 0.06:
            at = rng.randint(0, len(line))
            line = line[:at] + rng.choice(BROKEN + ["\x01", "\t", '"', "\\", "\\x", "\\u12", "\\u12g4"]) + line[at:]
        elif x < 0.08:
            line = rng.choice(["", " ", "\t \r", "   "])
        elif x < 0.10:
            line = "\ufeff" + line
        elif x < 0.105:
            line = "\ufeff\ufeff" + line
        line = line.encode()
        if self.invalid != "error" and rng.random() < 0.15:
            for _ in range(rng.randint(1, 3)):
                at = rng.randint(0, len(line))
                while b"\\" in line[max(0, at - 6):at]:  # inside an escape it is no JSON, whatever the policy
                    at -= 1
                line = line[:at] + rng.choice(BAD_BYTES) + line[at:]
        return line.replace(b"\n", b"") + (b"\r\n" if rng.random() < 0.1 else b"\n")


def no_constant(name):
    raise ValueError(name + " is no JSON")


MARK = "\ue000"  # stands for a stretch of bytes that are no UTF-8; in no line otherwise
codecs.register_error("mark", lambda e: (MARK, e.end))


def clean(text, invalid):
    """A document: each surrogate or mark is one place that is no text."""
    return re.sub("[\ud800-\udfff" + MARK + "]", "\ufffd" if invalid == "replace" else "", text).encode()


def read(line, invalid):
    """None: blank; else the text, surrogates and marks for what is no text in it. ValueError: no JSON, or no such string."""
    if line.startswith(codecs.BOM_UTF8):
        line = line[3:]
    # --invalid=skip leaves out what is invalid before the JSON is read, as errors="ignore" would; but in the text its place still
    # matters to special tokens, so there it goes later.
    marked = line.decode(errors="mark")
    if invalid == "skip":
        out, in_string, i = [], False, 0
        while i < len(marked):
            c = marked[i]
            if c == '"':
                in_string = not in_string
            if in_string and c == "\\":
                out.append(marked[i:i + 2])
                i += 2
                continue
            if in_string or c != MARK:
                out.append(c)
            i += 1
        marked = "".join(out)
    if not marked.strip(" \t\r\n"):
        return None
    keys = lambda pairs: {k.replace(MARK, "") if invalid == "skip" else k: v for k, v in pairs}
    value = json.loads(marked, parse_constant=no_constant, parse_int=lambda s: 0, parse_float=lambda s: 0, object_pairs_hook=keys)
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise ValueError("no string at text")
    return text


def has_lone(line):
    try:
        return re.search("[\ud800-\udfff]", read(line, "error") or "") is not None
    except ValueError:
        return False


def main():
    seed, n = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    bad = 0
    for invalid in ["error", "replace", "skip"]:
        maker = Lines(rng, invalid)
        lines = [maker.line() for _ in range(n)]
        if invalid == "error":
            lines = [line for line in lines if not has_lone(line)]  # each would be the end
        if rng.random() < 0.5:
            lines[-1] = lines[-1].rstrip(b"\r\n")
        docs, skipped, first = [], 0, 0
        for i, line in enumerate(lines):
            try:
                text = read(line, invalid)
            except ValueError:
                skipped += 1
                first = first or i + 1
                continue
            if text is not None:
                for doc in split(text.encode("utf-8", "surrogatepass"), [END]):
                    docs.append(clean(doc.decode("utf-8", "surrogatepass"), invalid))
        want = tally(docs)
        data = b"".join(lines)
        for how, block, jobs in [("file", None, 1), ("inline", None, 1), ("stdin", None, 1), ("file", 100, 1), ("inline", 700, 4), ("stdin", 1, 3)]:
            options = ["--jsonl", "-p", "bytes", "--invalid=" + invalid, "--on-error=skip"] + (["-b", str(block)] if block else [])
            code, got, err = count(options, data, how, jobs)
            about = f"--invalid={invalid} {how} -b {block} {jobs} jobs"
            if code:
                print(f"# exit {code}: {err}")
            bad += differ(got, want, about)
            name = "standard input" if how == "stdin" else "in.txt"
            note = f"bpe-sum: {skipped} lines that are no JSON or lack the string were left out (the first: {name}: line {first})\n"
            if err != note and skipped > 1:  # one reads "1 line that is"
                print(f"# {about}: says\n#   {err.strip()}\n# wanted\n#   {note.strip()}")
                bad += 1
        if bad:  # which line is it?
            for i, line in enumerate(lines):
                try:
                    text = read(line, invalid)
                except ValueError:
                    text = None
                one = [] if text is None else [clean(d.decode("utf-8", "surrogatepass"), invalid)
                                               for d in split(text.encode("utf-8", "surrogatepass"), [END])]
                options = ["--jsonl", "-p", "bytes", "--invalid=" + invalid, "--on-error=skip"]
                if differ(count(options, line, "stdin")[1], tally(one), f"line {i + 1}, --invalid={invalid}: {line!r}"):
                    bad += 1
                    if bad > 10:
                        return 1
        print(f"# --invalid={invalid}: {len(lines)} lines, {len(docs)} documents, {skipped} lines skipped")
    print(f"# seed {seed}: {bad} bad")
    return bad != 0


sys.exit(main())
