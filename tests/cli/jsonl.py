#!/usr/bin/env python3
"""jsonl.py SEED LINES - compares the counts of random JSON Lines, well-formed and not, with Python's json module.

Each text is one pretoken (-p bytes), so the pretokens of the sum are the documents.
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


# Valid and invalid values that readers of JSON often get wrong, as bytes. Each is put at several positions of a line.
CASES = [
    # structure
    b"[]", b"{}", b"[[]]", b"[{}]", b'{"":0}', b'{"a":[{"b":[]}]}', b"[1,2]", b"[ 1 , 2 ]", b"[", b"]", b"{", b"}", b"[]]", b"{}}", b"[}", b"{]", b"[[]", b"[1",
    b"[1,", b"[1,]", b"[,1]", b"[,]", b"[1,,2]", b"[1 2]", b"[1:2]", b'["a":1]', b'["a" "b"]', b'{"a"}', b'{"a":}', b'{:1}', b'{"a" 1}', b'{"a"::1}', b'{"a":1,}',
    b'{,"a":1}', b'{"a":1,,"b":2}', b'{"a":1 "b":2}', b'{"a","b"}', b'{a:1}', b"{'a':1}", b"{1:1}", b"{null:1}", b'{"a":1,b:2}', b'{[]:1}', b'{"a":1]', b'["a"}',
    b'{"a":1}x', b"[]x", b"[] []", b"[],[]", b"[1]2", b'""""', b'"a""b"', b"", b",", b":", b"*", b"#", b"// a\n1".replace(b"\n", b" "), b"/* a */1", b"1/**/", b"[1]//",
    b'{"a":"b"}/**/', b"<null>", b"a", b"[a]", b"$", b"`1`", b"(1)", b"{{}}", b'{"a":{}', b'{"a":1,"a":2}', b'{"a":1,"a":1}', b'{"a":[],"a":{}}', b"[\x00]", b"\x00",
    b"[1]\x00", b"1\x00", b'"a"\x00',
    # words
    b"true", b"false", b"null", b"tru", b"fals", b"nul", b"truee", b"nulll", b"True", b"TRUE", b"None", b"nil", b"undefined", b"true false", b"truefalse", b"[nul]",
    b"[fals", b"[tru", b"NaN", b"-NaN", b"nan", b"Infinity", b"-Infinity", b"+Infinity", b"Inf", b"-Inf", b"[NaN]", b'{"a":Infinity}', b"t", b"n", b"-foo",
    # numbers
    b"0", b"-0", b"0.0", b"-0.0", b"1", b"-1", b"10", b"123456789", b"1.5", b"0.1", b"1e1", b"1E1", b"1e+1", b"1e-1", b"1E-1", b"1.5e10", b"0e1", b"0e+1", b"0E0",
    b"-1.5E-10", b"-123", b"20e1", b"1e0007", b"0.000000000000000000000000000000000000000000000000000000000001", b"1e400", b"-1e400", b"1e-400",
    b"1" + b"0" * 500, b"-" + b"9" * 1000, b"0." + b"1" * 1000, b"1e" + b"9" * 1000, b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
    b"+1", b"++1", b"--1", b"-", b"-a", b"- 1", b"+", b"01", b"-01", b"00", b"012", b"0123.5", b"1.", b"-1.", b"1.e1", b".1", b"-.1", b".", b"1.2.3", b"1e", b"1E+", b"1e-",
    b"1e+", b"0e", b"0e+", b"1e1e1", b"1e1.5", b"1 e1", b"1e 1", b"1_000", b"1,000", b"0x1", b"0x", b"0b1", b"0o7", b"1a", b"1f", b"1L", b"1-", b"1+1", b"1--1", b"1 000",
    b"[1+2]", b"[-]", b"[1.]", b"[.1]", b"2.e+3", b"2.e3", b"9.e+", b"\xef\xbc\x91", b"\xd9\xa3", b"-\xd9\xa3", b"1\xd9\xa3", b"1\xef\xbc\x8e5",
    # strings
    b'""', b'"a"', b'" "', b'"\x7f"', b'"/"', b'"a b"', b'"\xc3\xa9"', b'"\xf0\x9f\x99\x82"', b'"\xef\xbf\xbf"', b'"\xe2\x80\xa8"', b'"\xef\xbb\xbf"', b'"\xf4\x8f\xbf\xbf"',
    b'"', b'"a', b'a"', b"'a'", b"'", b'"a\'', b'"\x00"', b'"\x01"', b'"\t"', b'"\x1f"', b'"\r"', b'"\x0c"', b'["a\x00b"]', b'"\x00', b'"a"b', b'"a" "b"', b'[""a]',
    b'\\"a\\"', b'["a"', b'{"a":"b', b'"' + b"a" * 5000 + b'"', b'"' + b"a" * 5000,
    # escapes
    b'"\\""', b'"\\\\"', b'"\\/"', b'"\\b\\f\\n\\r\\t"', b'"\\u0041"', b'"\\u00e9"', b'"\\u00E9"', b'"\\uABCD"', b'"\\uabcd"', b'"\\u0000"', b'"\\u001f"', b'"\\u0022"',
    b'"\\u005c"', b'"\\u005C\\u0022"', b'"\\uFFFF"', b'"\\uFFFE"', b'"\\uFDD0"', b'"\\ufeff"', b'"\\u2028\\u2029"', b'"\\ud83d\\ude42"', b'"\\uD83D\\uDE42"', b'"\\udbff\\udfff"',
    b'"\\ud800\\udc00"', b'"\\\\u0041"', b'"\\\\\\u0041"', b'"\\\\n"', b'"\\\\"a', b'"\\"', b'"\\', b'"\\\\\\"', b'"\\a"', b'"\\x41"', b'"\\0"', b'"\\\'"', b'"\\e"', b'"\\v"',
    b'"\\U00000041"', b'"\\N"', b'"\\ "', b'"\\\t"', b'"\\\x00"', b'"\\\xc3\xa9"', b'"\\\xf0\x9f\x99\x82"', b'"\\u"', b'"\\u1"', b'"\\u12"', b'"\\u123"', b'"\\u123g"', b'"\\u00G0"',
    b'"\\u 041"', b'"\\u+041"', b'"\\u-041"', b'"\\u0x41"', b'"\\u00 1"', b'"\\u{41}"', b'"\\u', b'"\\u0', b'"\\u00A', b'"\\u00A0', b'"\\u\xc3\xa9\xc3\xa9"', b'\\u0022a\\u0022', b"\\n", b"[\\n]",
    # halves of surrogate pairs
    b'"\\ud800"', b'"\\udc00"', b'"\\udbff"', b'"\\udfff"', b'"\\uD800"', b'"\\ud800a"', b'"a\\ud800"', b'"\\ud800\\n"', b'"\\ud800\\u0041"', b'"\\ud800\\ud800"', b'"\\udc00\\ud800"',
    b'"\\ud800\\ud800\\udc00"', b'"\\ud800\\udc00\\udc00"', b'"\\ud800\\udbff\\udfff"', b'"\\ud800\\\\udc00"', b'"\\ud800\\', b'"\\ud800\\"', b'"\\ud800\\u"', b'"\\ud800\\u1"',
    b'"\\ud800\\u1x"', b'"\\ud800\\udc0"', b'"\\ud800\\udc0g"', b'"\\ud800\\x"', b'"\\ud800\\uXXXX"', b'"\\ud83d\xf0\x9f\x99\x82\\ude42"', b'{"\\ud800":"\\udc00"}',
    # whitespace, and bytes that are not whitespace in JSON
    b" 1 ", b"\t1\t", b"\r1\r", b" [ ] ", b" { } ", b'{ "a" : 1 }', b'{\t"a"\r:\t1\r}', b"1\x0c", b"\x0b1", b"1\x08", b"\xc2\xa01", b"1\xc2\xa0", b"\xe2\x81\xa01", b"\xe2\x80\x8b1", b"\xe3\x80\x801",
    b"\xe2\x80\xa81", b"\xc2\x851", b"[\x0c]", b"[1\x0c]", b"[\x1f1]", b"\x1e1", b"1\\n", b" ", b"  ", b"\t",
    # encodings and byte order marks
    b"\xef\xbb\xbf1", b"1\xef\xbb\xbf", b"\xef\xbb1", b"\xef\xbb\xbf", b"[\xef\xbb\xbf]", b"\xe9", b"\xc3\xa9", b"[\xe2\x82\xac]", b"\xf0\x9f\x99\x82", b'{\xc3\xa9:1}', b"\xfe\xff\x00[\x00]", b"\xff\xfe[\x00]\x00",
    b"[\x00]\x00",
    # invalid UTF-8
    b'"\xff"', b'"\x80"', b'"\xc0\xaf"', b'"\xc1\xbf"', b'"\xc3"', b'"\xe2\x82"', b'"\xe0\x80\x80"', b'"\xe0\x9f\xbf"', b'"\xed\xa0\x80"', b'"\xed\xa0\xbd\xed\xb9\x82"', b'"\xf0\x80\x80\x80"', b'"\xf0\x9f\x99"',
    b'"\xf4\x90\x80\x80"', b'"\xf5\x80\x80\x80"', b'"\xf8\x88\x80\x80\x80"', b'"\xfe\xff"', b'"\xbf\xbf"', b'"\xe2\x82x"', b'"\xe2\x82\\u00ac"', b'"\xe2\x82\\n"', b'"\\n\xac"', b'"\\ud83d\xff\\ude42"', b'"\\ud83d\\ude42\xff"',
    b'"\xff', b'\xff"', b'{"\xff":1}', b'{"a\xff":1,"a":2}', b'{"a":1\xff}', b"\xff", b"\xff1", b"1\xff", b"1\xff2", b"0\xff1", b"-\xff1", b"1.\xff5", b"1e\xff5", b"tr\xffue", b"nul\xffl", b"[\xff]", b"[1,\xff]", b"[\xe2\x82]",
    b"[1\xff,2]", b'["a"\xff,"b"]', b'["a"\xff:"b"]', b'{"a"\xff:\xff1}', b'{"a"\xe2\x82 \xff : 1}', b"\xff\xef\xbb\xbf1", b"\xe2\x82\xff\x80", b"\xff \xff", b'\xff"a"\xff',
]


def suite(invalid):
    """A line for each case in each position. Each line has a different text, so that differences can be attributed."""
    lines = []

    def add(line):
        lines.append(line.replace(b"@", b"%d" % len(lines)) + b"\n")

    for case in CASES:
        add(b'{"text":"@","x":%b}' % case)
        add(b'{"x":%b,"text":"@"}' % case)
        add(b'{"x":[0,%b],"text":"@"}' % case)
        add(b'{"x":{"text":[%b]},"text":"@"}' % case)
        add(b'%b{"text":"@"}' % case)
        add(b'{"text":"@"}%b' % case)
        add(b'{%b:1,"text":"@"}' % case)
        add(b'{"text":"@",%b}' % case)
        add(b'{"text"%b:"@"}' % case)
        add(b'{"text":%b"@"}' % case)
        add(case)
        add(b'{"text":%b}' % case)  # as the text itself
        add(b'{"text":"no","text":%b}' % case)
        add(b'{"text":%b,"text":"@"}' % case)
        if case[:1] == b'"' and case[-1:] == b'"':
            add(b'{"text":"@ %b @"}' % case[1:-1])
            add(b'{"text%b":"@"}' % case[1:-1])
    for n in (1, 2, 50, 900):
        add(b'{"x":' + b"[" * n + b"]" * n + b',"text":"@"}')
        add(b'{"x":' + b'{"text":' * n + b"0" + b"}" * n + b',"text":"@"}')
        add(b'{"x":' + b"[" * n + b"]" * (n - 1) + b',"text":"@"}')
        add(b'{"x":' + b"[" * n + b"]" * (n + 1) + b',"text":"@"}')
        add(b'{"x":' + b'[{"text":' * (n // 2) + b"0" + b"}]" * (n // 2) + b',"text":"@"}')
        add(b'{"x":' + b'[{"text":' * (n // 2) + b"0" + b"]}" * (n // 2) + b',"text":"@"}')
    return [line for line in lines if invalid != "error" or not is_the_end(line)]


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
                while b"\\" in line[max(0, at - 6):at]:  # a bad byte inside an escape is invalid JSON under each policy
                    at -= 1
                line = line[:at] + rng.choice(BAD_BYTES) + line[at:]
        return line.replace(b"\n", b"") + (b"\r\n" if rng.random() < 0.1 else b"\n")


def no_constant(name):
    raise ValueError(name + " is no JSON")


MARK = "\ue000"  # stands for a sequence of invalid UTF-8; the lines do not contain it
codecs.register_error("mark", lambda e: (MARK, e.end))


def clean(text, invalid):
    """A document as UTF-8, in which each surrogate or mark is replaced or skipped."""
    return re.sub("[\ud800-\udfff" + MARK + "]", "\ufffd" if invalid == "replace" else "", text).encode()


def read(line, invalid):
    """The text of a line, with surrogates and marks; None if the line is blank. ValueError: not JSON, or no string at "text"."""
    if line.startswith(codecs.BOM_UTF8):
        line = line[3:]
    # --invalid=skip removes invalid bytes before the JSON is read, as errors="ignore" does. In strings, they still separate the parts of
    # what would otherwise be a special token, so there they are removed later.
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


def is_the_end(line):
    """Whether --invalid=error fails at this line."""
    try:
        line.decode()
        return re.search("[\ud800-\udfff]", read(line, "error") or "") is not None
    except UnicodeDecodeError:
        return True
    except ValueError:
        return False


def text_of(line, invalid):
    """The documents of a line, cleaned; None if it is blank. ValueError: as in read."""
    text = read(line, invalid)
    return None if text is None else [clean(doc.decode("utf-8", "surrogatepass"), invalid) for doc in split(text.encode("utf-8", "surrogatepass"), [END])]


def check(lines, invalid, ways):
    """Compares the counts, made in several ways, with what Python reads. Returns the number of differences."""
    docs, skipped, first, bad = [], 0, 0, 0
    for i, line in enumerate(lines):
        try:
            docs += text_of(line, invalid) or []
        except ValueError:
            skipped += 1
            first = first or i + 1
    want = tally(docs)
    data = b"".join(lines)
    for how, block, jobs in ways:
        options = ["--jsonl", "-p", "bytes", "--invalid=" + invalid, "--on-error=skip"] + (["-b", str(block)] if block else [])
        code, got, err = count(options, data, how, jobs)
        about = f"--invalid={invalid} {how} -b {block} {jobs} jobs"
        if code:
            print(f"# exit {code}: {err}")
        bad += differ(got, want, about)
        name = "standard input" if how == "stdin" else "in.txt"
        note = f"bpe-sum: {skipped} lines that are not JSON or lack the string were left out (the first: {name}: line {first})\n"
        if err != note and skipped > 1:  # for one line, the message says "1 line that is"
            print(f"# {about}: says\n#   {err.strip()}\n# wanted\n#   {note.strip()}")
            bad += 1
    print(f"# --invalid={invalid}: {len(lines)} lines, {len(docs)} documents, {skipped} lines skipped")
    if bad:  # find the line
        for i, line in enumerate(lines):
            try:
                one = text_of(line, invalid) or []
            except ValueError:
                one = []
            options = ["--jsonl", "-p", "bytes", "--invalid=" + invalid, "--on-error=skip"]
            if differ(count(options, line, "stdin")[1], tally(one), f"line {i + 1}, --invalid={invalid}: {line!r}"):
                bad += 1
                if bad > 10:
                    break
    return bad


def main():
    seed, n = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    bad = 0
    for invalid in ["error", "replace", "skip"]:
        bad += check(suite(invalid), invalid, [("file", None, 1), ("inline", 700, 1)])
        maker = Lines(rng, invalid)
        lines = [maker.line() for _ in range(n)]
        if invalid == "error":
            lines = [line for line in lines if not is_the_end(line)]
        if rng.random() < 0.5:
            lines[-1] = lines[-1].rstrip(b"\r\n")
        bad += check(lines, invalid, [("file", None, 1), ("inline", None, 1), ("stdin", None, 1), ("file", 100, 1), ("inline", 700, 4), ("stdin", 1, 3)])
        if bad > 10:
            break
    print(f"# seed {seed}: {bad} bad")
    return bad != 0


sys.exit(main())
