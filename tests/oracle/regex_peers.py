#!/usr/bin/env python3
"""regex_peers.py - regexes that we accept split text as Hugging Face tokenizers does with the same regex. Prints TAP.

    regex_peers.py [CASES]     compares CASES random regexes and texts (default 20000)
    regex_peers.py --write     writes regexes.txt: some cases with the results of Hugging Face, for regexes.t

Regexes come from a grammar larger than ours (common/pretok/regex.h), include syntax that engines read differently, and are sometimes
damaged. Regexes that we refuse are not compared; Hugging Face must accept those that we accept. Needs PyPI tokenizers. SEED=N sets the
random seed.
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

try:
    from tokenizers import Regex, pre_tokenizers
except ImportError as why:
    lib.skip_all(why)

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regexes.txt")
WRITTEN = 1000  # cases in FILE

# Characters that have case, fold to or from several characters, are newer than Unicode 14, or are white space in some engines.
CHARS = [*"abcfiltskSKxyz019 _-'\"", *"éÉßẞ中。ſKﬁﬆİıⅧⅷⓐ", "\u0301", "\u0345", "\u180e", "\u00a0", "\u0085", "\u2028", "\u200d",
         "\u203f", "\u1c89", "\u0897", "\U0001fae8", "\U0002ebf0", "\U0001171e", "\n", "\r", "\t"]
ATOMS = CHARS + ["ss", "SS", "fi", "st", "ff", "ffi", "  ", "\r\n", "aa", "bb", "ab", "ba", "11", "aaa", "  \n", *"ABFILT{}[]&~\\.*",
                 "\u02bcn", "\u0149", "i\u0307", "\u01f0", "\ufb00", "\ufb03", "12345", "中、文。"]
ESCAPES = [rf"\{c}" for c in r""".*[]{}-/'" #~&nrtfae<_\^$|()+?@%,:;=!`"""] + [r"\x41", r"\x{e9}", r"\x{4e2d}"]
CATEGORIES = ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Po", "S", "Sm", "Sc",
              "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Cn", "Co"]
OTHERWISE = [r"\w", r"\W", r"\b", r"\B", r"\h", r"\H", r"\v", r"\R", r"\X", r"\K", r"\Z", r"\G", r"\Qa.\E", r"\pL", r"\p{Han}",
             r"\p{Greek}", r"\p{alpha}", r"\p{l}", r"\p{Letter}", "(?m:.)", "(?s:.)", "(?x: a )", "(?#c)", r"\1", "{,2}", "a{2}?",
             "[[:alpha:]]", "[a&&b]", "[a[bc]]", "(?m)", "(?i)", "^", "$", r"\u0041", r"\012", r"\0", r"\cA", r"\O", r"\N", "(?~a)",
             "(?<n>a)", r"\k<n>", r"\g<n>", "(?P<n>a)", "(?'n'a)", "(?(1)a|b)", "(*FAIL)", "a{2}{3}", "a**", "a+*", "x{1,2}+", r"\xE9",
             r"\x4", r"\y", r"\i", r"\é", r"[\w-]", r"[^\W\d]", r"[\h]", r"[\v]", r"[\b]", "(?i)ss", "(?i)ß", "(?i)fi"]
# Regexes of widely used models, and others that deserve special attention.
KNOWN = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]"
    r"|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "[一-龥ࠀ-一가-퟿]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s?\p{L}+", r"\s?\p{P}+", r"[\r\n]", r"\p{N}+", r"\p{N}", "[0-9][0-9][0-9]",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)", r"(?=(\d{3})+(?!\d))", r"[\s\S]", r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
    r" ?[^(\s|[.,!?…。，、।۔،])]+", r"[\p{Han}]+|[\p{L}&&[^\p{Han}]]+", r"(?<!\d)\d{1,2}|\D", r"(?>\p{N}{1,3})+|[^\p{N}]", r"\P{Lo}*\P{Nd}", "x*", "(?=a)|ab", "(?<=a)b|a", "|a", "", r"\z", r"\A.",
]


class Maker:
    """Random regexes, and texts for them."""

    def __init__(self, rng, more=(), ends=(r"\A", r"\z")):
        self.rng, self.more, self.ends = rng, more, ends  # more: additional classes

    def char(self):
        return self.rng.choice(CHARS if self.rng.random() < .75 else ESCAPES)

    def group_of_chars(self):
        if self.more and self.rng.random() < .3:
            return self.rng.choice(self.more)
        if self.rng.random() < .3:
            return self.rng.choice([".", r"\d", r"\D", r"\s", r"\S", r"\p{Han}", r"\P{Han}"])
        return rf"\{self.rng.choice('ppP')}{{{self.rng.choice(['', '', '^'])}{self.rng.choice(CATEGORIES)}}}"

    def member(self):
        kind = self.rng.random()
        if kind < .5:
            return self.char()
        if kind < .75:
            return "-".join(sorted(self.rng.choices(CHARS, k=2)))
        if kind < .78:
            return self.rng.choice(["-", "[", "&&", "^", "]", "~~", "--"])
        return self.group_of_chars()

    def brackets(self, depth=2):
        members = "".join(self.member() for _ in range(self.rng.randrange(1, 5)))
        if depth and self.rng.random() < .25:
            members += self.rng.choice(["", "", "&&"]) + self.brackets(depth - 1) + self.rng.choice(["", self.member(), "&&" + self.member()])
        return f"[{self.rng.choice(['', '', '^'])}{self.rng.choice(['', '', '', '-', ']'])}{members}{self.rng.choice(['', '', '', '-'])}]"

    def item(self, depth):
        kind, choice = self.rng.random(), self.rng.choice
        if kind < .02:
            return choice(OTHERWISE)
        if kind < .45 or depth <= 0:
            atom = self.char()
        elif kind < .65:
            atom = self.group_of_chars()
        elif kind < .8:
            atom = self.brackets()
        elif kind < .92:
            atom = choice(["(?:", "(?:", "(?:", "(", "(?i:", "(?-i:", "(?>", "(?<n>"]) + self.branches(depth - 1) + ")"
        elif kind < .97:
            atom = choice(["(?=", "(?!", "(?<=", "(?<!"]) + self.branches(depth - 1) + ")"
        else:
            return choice(self.ends)
        if self.rng.random() < .4:
            atom += choice(["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{0}", "{3,3}"]) + choice(["", "", "", "?", "+"])
        return atom

    def branches(self, depth):
        return "|".join("".join(self.item(depth) for _ in range(self.rng.choice([0, 1, 1, 1, 2, 2, 3])))
                        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])))

    def damaged(self, regex):
        chars = list(regex)
        for _ in range(self.rng.randrange(1, 3)):
            at = self.rng.randrange(len(chars) + 1)
            if self.rng.random() < .5 and at < len(chars):
                del chars[at]
            else:
                chars.insert(at, self.rng.choice(r"()[]{}*+?|\^$-&~.,:=!<>1p{}isA"))
        return "".join(chars)

    def regex(self):
        if self.rng.random() < .02:
            return self.rng.choice(KNOWN)
        made = self.rng.choice(["", "", "", "(?i)"]) + self.branches(3)
        return self.damaged(made) if self.rng.random() < .1 else made

    def text(self, regexes):
        own = [c for c in "".join(regexes) if c.isalnum() or ord(c) > 127 or c in " '-_"] or ["a"]

        def atom():
            return self.rng.choice(own if self.rng.random() < .5 else ATOMS)

        made = "".join(atom() for _ in range(self.rng.randrange(1, 25)))
        if self.rng.random() < .05:  # longer than the window in which a match is first tried
            made = "".join(atom() * self.rng.choice([1, 30, 100, 300, 1000]) for _ in range(3)) + made
        return made

    def case(self):
        regexes = [self.regex() for _ in range(self.rng.choice([1, 1, 1, 1, 2, 3]))]
        return regexes, self.text(regexes)


def theirs(regexes, text):
    """The lengths of the pieces, or the error as a string."""
    try:
        steps = [pre_tokenizers.Split(Regex(regex), "isolated") for regex in regexes]
        return [len(piece.encode()) for piece, _ in pre_tokenizers.Sequence(steps).pre_tokenize_str(text) if piece]
    except BaseException as why:  # includes the exception that pyo3 makes of a panic: Oniguruma has limits, too
        if isinstance(why, KeyboardInterrupt):
            raise
        return str(why)


class Ours:
    """Our lengths of the pieces, or our error as a string."""

    def __init__(self):
        self.process = subprocess.Popen(["pretok", "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, regexes, text):
        self.process.stdin.write(" ".join(part.encode().hex() for part in [*regexes, text]).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        return line[2:].strip() if line.startswith("- ") else [int(n) for n in line.split()]


def is_limit(reason):
    return any(words in reason for words in ("retry-limit", "backtracks too much", "too many steps"))


def write():
    maker, ours, cases = Maker(random.Random(20241124)), Ours(), []
    chosen = [([regex], maker.text([regex])) for regex in KNOWN for _ in range(8)] + [([regex], "ab" + regex) for regex in OTHERWISE]
    while len(cases) < WRITTEN:
        regexes, text = chosen.pop(0) if chosen else maker.case()
        want, got = theirs(regexes, text), ours(regexes, text)
        if isinstance(want, str) or len(text) > 400 or (isinstance(got, str) and len(cases) % 4 and not chosen):
            continue  # a few refused regexes are enough
        cases.append([regexes, text, want, isinstance(got, str)])
    with open(FILE, "w", encoding="ascii") as f:
        f.write("# Made by regex_peers.py --write: [regexes, text, lengths of Hugging Face's pieces, whether we refuse the regex]\n")
        f.writelines(json.dumps(case) + "\n" for case in cases)


def main():
    if sys.argv[1:] == ["--write"]:
        return write()
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    maker, ours = Maker(random.Random(lib.seed())), Ours()
    compared = refused = limits = 0
    differ = []
    while compared < wanted and len(differ) < 20:
        regexes, text = maker.case()
        got = ours(regexes, text)
        if isinstance(got, str):  # not passed to Oniguruma, which uses up all memory for some regexes
            refused += 1
            continue
        want = theirs(regexes, text)
        if isinstance(want, str) and is_limit(want):
            limits += 1
        else:
            compared += 1
            if got != want:
                differ.append(f"{regexes!r} on {text!r}: {got}, not {want}")
    lib.ok(not differ, f"{compared} regexes and texts: split as Hugging Face does ({refused} are refused, {limits} exceed its limits)",
           "\n".join(differ))
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
