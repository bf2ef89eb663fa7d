#!/usr/bin/env python3
"""step_peers.py - the steps of a pre_tokenizer split text as Hugging Face tokenizers does with the same steps. Prints TAP.

    step_peers.py [CASES]     compares CASES random steps and texts (default 3000), and a quarter of all characters (WHOLE=1: all)
    step_peers.py --write     writes steps.txt: some cases with the results of Hugging Face, for steps.t

Needs PyPI tokenizers. SEED=N sets the random seed.
"""
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import lib  # noqa: E402
import regex_peers  # noqa: E402
import vocabularies  # noqa: E402

try:
    from tokenizers import Tokenizer
except ImportError as why:
    lib.skip_all(why)

FILE = os.path.join(HERE, "steps.txt")
WRITTEN = 800  # cases in FILE
WRITTEN_AGAIN = 20  # every 20th model is rewritten, too
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
LINES = [r"\s+$", "$", "^", r"^\s+|\s+$", r"(?:\w+$)+", r"(?!^).|$\n", r"\n^", r"\s(?!^)"]
REGEXES = [r"\s+", r"\d", r"[0-9][0-9][0-9]", "a", "ab|b", "x*", "(?=b)", "(?=b)|c", "", r"\z", r"a|(?<=b)", r"\p{L}+", r" ?\p{L}+", r"[^\s]+",
             r"\w+", r"\b", r"\W", r"\d{1,3}(?=(?:\d{3})*\b)", r"[[:^word:]]", r"\B", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\p{Han}+", r"[^\W\d_]+",
             r"\p{N}", r"(?=(\d{3})+(?!\d))", r" ?[^\s\p{L}\p{N}]+", "é", "[Ġa]", "Ġ", "²|¼", *LINES, *regex_peers.KNOWN[:3]]
# Syntax of Oniguruma that our reader expands.
ONIGURUMA = [r"\w", r"\W", r"\h", r"\H", r"\b", r"\B", "[[:digit:]]", "[a[:^space:]]", "[^[:word:]]", "[[:xdigit:][:cntrl:]]", "[[:^ascii:]]", r"[^\W\d_]",
             r"[\w-]", "a{,2}", r"\w{,3}", "[a$^]", r"\$", r"\p{^L}"]
ENDS = [r"\A", r"\z", "^", "$", "$"]
STRINGS = [" ", "a", "ab", ".", "Ġ", "²", "--", "\n", "中"]
# Characters that are digits, punctuation or white space in some version of Unicode, or that stand for bytes in tokenizer.json.
CHARS = [*"abcx 019.,-_'\"\n\t", *"é中²¼Ġ٣Ⅷ，。​ ", "  ", "ab", "ba", "123", "...", "--", "\r\n", "\u0085", "\u180e", "\u061d", "\u166d",
         "\u2e52", "\u200d", "\u0301", "\u24b6", "\u203f", "\U00011de0", "\U000111c9", "\U0001f600", "a b", " a", "¾½¹³"]


DEEPSEEK = vocabularies.MADE["deepseek_llm_form"][1]["pre_tokenizer"]


def byte_level(prefix=False, use_regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


class Maker:
    """Random steps, and texts for them."""

    def __init__(self, rng):
        self.rng, self.regexes = rng, regex_peers.Maker(rng, ONIGURUMA, ENDS)

    def step(self):
        choice, kind = self.rng.choice, self.rng.random()
        if kind < .55:
            if self.rng.random() < .2:
                pattern = {"String": choice(STRINGS)}
            else:
                pattern = {"Regex": self.regexes.regex() if self.rng.random() < .3 else choice(REGEXES)}
            return {"type": "Split", "pattern": pattern, "behavior": choice(BEHAVIORS), "invert": self.rng.random() < .4}
        if kind < .7:
            return {"type": "Digits", "individual_digits": self.rng.random() < .5}
        if kind < .85:
            return {"type": "Punctuation", **({"behavior": choice(BEHAVIORS)} if self.rng.random() < .8 else {})}
        if kind < .95:
            return {"type": choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"])}
        return {"type": "CharDelimiterSplit", "delimiter": choice("a .é中-[")}

    def steps(self):
        if self.rng.random() < .01:
            return DEEPSEEK
        before = [self.step() for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3]))]
        after = [self.step() for _ in range(self.rng.choice([0, 0, 0, 1, 2]))]
        level = byte_level(not before and self.rng.random() < .5, self.rng.random() < .4)
        steps = [*before, level, *after]
        return level if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps}

    def text(self, steps):
        own = [c for c in json.dumps(steps, ensure_ascii=False) if not c.isascii()] or ["a"]
        made = "".join(self.rng.choice(CHARS if self.rng.random() < .9 else own) for _ in range(self.rng.randrange(30)))
        if self.rng.random() < .05:
            made = "".join(self.rng.choice(CHARS) * self.rng.choice([1, 30, 300, 1000]) for _ in range(3)) + made
        return made

    def case(self):
        steps = self.steps()
        return steps, self.text(steps)


def model(steps):
    return json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": steps,
                       "post_processor": None, "decoder": None,
                       "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                                 "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": lib.BYTE, "merges": []}})


def theirs(steps, text):
    """The pieces in hexadecimal, or the error as a string."""
    return pieces_of(model(steps), text)


def pieces_of(tokenizer_json, text):
    try:
        made = Tokenizer.from_str(tokenizer_json).pre_tokenizer.pre_tokenize_str(text)
        return [lib.unspell(piece).hex() for piece, _ in made]
    except BaseException as why:  # includes the exception that pyo3 makes of a panic
        if isinstance(why, KeyboardInterrupt):
            raise
        return str(why)


class Ours:
    """The pieces by our programs."""

    def __init__(self):
        self.process = subprocess.Popen(["pretok", "--models"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.path = "tokenizer.json"

    def __call__(self, steps, text):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(model(steps))
        self.process.stdin.write(f"{self.path} {text.encode().hex()}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        return line[2:].strip() if line.startswith("- ") else line.split()

    def written(self):
        """The last model, as bpe-model writes it."""
        return lib.must("bpe-model", self.path).decode()


def write():
    lib.own_directory(in_memory=True)
    maker, ours, cases = Maker(random.Random(20261127)), Ours(), []
    chosen = [(vocabularies.sequence(vocabularies.split(regex), byte_level()), text) for regex in LINES for text in ("a\n", "a  \n\n b\n\n", "b\r\na\u2028a\u0085b\r\n\r\n ")]
    chosen += [(DEEPSEEK, maker.text(DEEPSEEK)) for _ in range(10)]
    while len(cases) < WRITTEN:
        steps, text = chosen.pop() if chosen else maker.case()
        want = theirs(steps, text)
        if isinstance(want, str) or len(text) > 200 or isinstance(ours(steps, text), str):
            continue
        cases.append([steps, text, want])
    with open(FILE, "w", encoding="ascii") as f:
        f.write("# Made by step_peers.py --write: [pre_tokenizer, text, Hugging Face's pieces in hex]\n")
        f.writelines(json.dumps(case) + "\n" for case in cases)


def all_characters(ours, rng):
    """Compares characters between letters, for each step with its own character classes: for each, a random quarter, with WHOLE all."""
    steps = [{"type": "Digits", "individual_digits": True}, {"type": "Digits", "individual_digits": False}, {"type": "Punctuation"},
             {"type": "Punctuation", "behavior": "Contiguous"}, *({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Removed", "invert": True}
               for regex in (r"\w", r"\W", r"\h", r"\p{Han}", r"[[:digit:]]", r"[[:space:]]", r"[[:cntrl:]]", r"[[:ascii:]]", r"[[:word:]]", r"[\w]", r"[^\W]", r"\w\b")),
             {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}]
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    blocks, part = range(0, len(points), 1 << 13), 1 if os.environ.get("WHOLE") else 4
    for step in steps:
        sequence = {"type": "Sequence", "pretokenizers": [step, byte_level()]}
        wrong = []
        for i in rng.sample(blocks, len(blocks) // part):
            text = "".join(f"a{chr(c)}" for c in points[i:i + (1 << 13)])
            if theirs(sequence, text) != ours(sequence, text):
                wrong.append(f"from U+{points[i]:04X} on")
        lib.ok(not wrong, f"{json.dumps(step)}: characters", "\n".join(wrong))


def main():
    if sys.argv[1:] == ["--write"]:
        return write()
    lib.own_directory(in_memory=True)
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    rng = random.Random(lib.seed())
    maker, ours = Maker(rng), Ours()
    compared = refused = limits = 0
    differ = []
    while compared < wanted and len(differ) < 20:
        steps, text = maker.case()
        got = ours(steps, text)
        if isinstance(got, str):
            refused += 1
            continue
        want = theirs(steps, text)
        if isinstance(want, str) and regex_peers.is_limit(want):
            limits += 1
            continue
        compared += 1
        if got != want:
            differ.append(f"{json.dumps(steps)} on {text!r}: {got}, not {want}")
        elif compared % WRITTEN_AGAIN == 0 and pieces_of(ours.written(), text) != want:
            differ.append(f"{json.dumps(steps)} on {text!r}: different after bpe-model rewrote it")
    lib.ok(not differ, f"{compared} steps and texts: split as Hugging Face does ({refused} are refused, {limits} exceed its limits)",
           "\n".join(differ))
    all_characters(ours, rng)
    return lib.done()


sys.exit(main())
