#!/usr/bin/env python3
"""linear.py - make check-linear: for twice the text, bpe-encode takes at most 2.3 times the CPU time. Prints TAP.

It combines models of each form that a tokenizer.json may have (FORMS) with texts that are the worst case of some part of encoding
(TEXTS). Each text is long enough to take 0.1 s. If twice the text seems to take more, the medians are measured with one that takes 0.4 s.
If it still takes more, but the next doubling does not, it is a step, for example where another method is tried first: the test
passes, and shows the figures. A form that bpe-encode refuses is skipped.

    linear.py [NAME...]      the forms and texts of these names; needs BUILD
"""
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

SECONDS, SURE_SECONDS, LONGEST, FIRST = 0.1, 0.4, 16 << 20, 1 << 18
LIMIT, SURE, AGAIN = 2.3, 2.15, 5
SPACE = "\u2581"
EOT = "<|endoftext|>"


# ---- Models ----

def doubled(symbol, times):
    """Merges that make 2, 4, 8, ... of the symbol."""
    return [[symbol * 2 ** i] * 2 for i in range(times)]


def bpe(byte_level):
    """A few merges that occur in the texts below; a model of characters has byte fallback and an unknown token."""
    space = lib.SPELLED[32] if byte_level else SPACE
    newline = lib.SPELLED[10] if byte_level else "\n"
    merges = doubled("a", 6) + doubled(space, 5) + doubled(newline, 3) + [["a", "b"], ["ab", "ab"], [space, "a"], ["b", "c"], ["c", "a"], ["1", "2"]]
    tokens = sorted(lib.BYTE) if byte_level else ["<unk>", *(f"<0x{b:02X}>" for b in range(256)), *"abcdefghijklmnopqrstuvwxyz123.", SPACE, "\n", "é", "語", "\u0301"]
    tokens = list(dict.fromkeys(tokens + [left + right for left, right in merges]))
    return {"type": "BPE", "dropout": None, "unk_token": None if byte_level else "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": not byte_level, "byte_fallback": not byte_level, "ignore_merges": False,
            "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges}


def token(content, **flags):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags}


def model(steps=None, normalizer=None, tokens=(), byte_level=True, **settings):
    """steps: the pre_tokenizer; ByteLevel is appended to a list that does not end with it."""
    made = {**bpe(byte_level), **settings}
    vocab, added = made["vocab"], []
    for t in [token(EOT), *tokens]:
        new = len(vocab) + sum(other["content"] not in vocab for other in added)
        added.append({"id": vocab.get(t["content"], new), **t})
    if isinstance(steps, list):
        last = [] if steps[-1]["type"] == "ByteLevel" else [gpt2(use_regex=False)]
        steps = {"type": "Sequence", "pretokenizers": steps + last}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": steps,
            "post_processor": None, "decoder": None, "model": made}


def split(regex, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: regex}, "behavior": behavior, "invert": invert}


def gpt2(**settings):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **settings}


def metaspace(scheme, apart):
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": apart}


def replace(old, new):
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN3_5 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
NFC = {"type": "NFC"}
PREPEND = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE)]}
STRIPS = [token("<mask>", lstrip=True), token("<end>", rstrip=True), token("<both>", lstrip=True, rstrip=True)]
FORMS = {
    "gpt2": model(gpt2()),
    "none": model(gpt2(use_regex=False)),
    "prefix": model(gpt2(add_prefix_space=True)),
    "nfc": model(gpt2(), NFC),
    "nfc-none": model(gpt2(use_regex=False), NFC),
    "nfc-added": model(gpt2(), NFC, [token("é<", normalized=True), token("a\u0323", normalized=True), *STRIPS]),
    "tekken": model([split(O200K)]),
    "qwen3.5": model([split(QWEN3_5)], NFC),
    "single-digits": model([{"type": "Digits", "individual_digits": True}, gpt2()]),
    "runs": model([{"type": "Digits", "individual_digits": False}, {"type": "Punctuation", "behavior": "Contiguous"}, gpt2()]),
    "white": model([{"type": "Whitespace"}]),
    "regex": model([split(r"\p{L}+|\s+(?!\S)|\s+|[^\s\p{L}]+(?=\p{L})")]),
    "removed": model([split(r"\s+", "Removed")]),
    "kept": model([split(r"[ab]+", "Removed", True)]),
    "previous": model([split(r"\s", "MergedWithPrevious")]),
    "next": model([split(r"\s", "MergedWithNext")]),
    "contiguous": model([split(r"\s|b", "Contiguous")]),
    "strips": model(gpt2(), None, STRIPS),
    "whole-words": model(gpt2(), None, [token("ab", single_word=True), token("aaaa", single_word=True), token("<w>", single_word=True, lstrip=True)]),
    "long-tokens": model(gpt2(), None, [token("a" * 60 + "!"), token(" " * 60 + "x"), token("\u0301" * 40 + "z"), token("ab" * 30 + "c"), token("<" * 50)]),
    "many": model(gpt2(), None, [token(f"<tok_{i}>") for i in range(10000)]),
    "llama2": model(None, PREPEND, byte_level=False),
    "llama2-unk": model(None, PREPEND, byte_level=False, byte_fallback=False),
    "llama2-strips": model(None, PREPEND, STRIPS, byte_level=False),
    "gemma": model(split(" ", "MergedWithPrevious", kind="String"), replace(" ", SPACE), byte_level=False),
    "metaspace": model(metaspace("always", False), byte_level=False),
    "metaspace-split": model(metaspace("first", True), byte_level=False),
    "metaspace-whole": model(metaspace("never", True), byte_level=False, ignore_merges=True),
}


# ---- Texts: n bytes of each, or a little less ----

def filled(unit, before="", after=""):
    """The unit, repeated."""
    size = len(unit.encode())
    return lambda n: before + unit * (n // size) + after


def one_in(unit, other, times):
    return filled(unit * times + other)


def thirds(*units):
    """Equal parts of each unit."""
    return lambda n: "".join(unit * (n // len(units) // len(unit.encode())) for unit in units)


def mixed(n):
    """Letters in an order with a long period."""
    x, made = 1, []
    for _ in range(min(n, 1 << 16)):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
        made.append("abca"[x >> 16 & 3])
    return "".join(made) * (n // len(made))


TEXTS = {
    "letter": filled("a"),
    "letters": mixed,
    "pair": filled("ab"),
    "spaces": filled(" "),
    "spaces-end": filled(" ", "a", "a"),
    "lines": filled("\n"),
    "spaces-lines": filled("  \n "),
    "spaces-then-line": lambda n: ("\n" + " " * 1000) * (n // 1001),
    "returns": filled("\r\n\t"),
    "digits": filled("12"),
    "points": filled(".-!"),
    "words": filled("ab caa b "),
    "one-mark": filled("\u0301", "a"),
    "marks": filled("\u0301\u0323\u0345\u0327", "a"),
    "marks-sorted-late": thirds("\u0301", "\u0327", "\u0323"),
    "letters-marks": filled("a\u0323\u0301e\u0301"),
    "jamo": filled("\u1100\u1161\u11a8"),
    "jamo-vowels": filled("\u1161", "\u1100"),
    "singletons": filled("\u212b\u0958"),
    "ideographs": filled("語中"),
    "unknown": filled("\U0001f642\u0416"),
    "marker": filled(SPACE),
    "space-marker": filled(SPACE + " "),
    "near": filled("<|endoftext"),
    "nearer": filled("<|endoftext|"),
    "tokens": filled(EOT),
    "before-token": lambda n: " " * (n - 12) + "<mask>" + "<both>",
    "after-token": lambda n: "<end><both>" + " " * (n - 12),
    "tokens-spaces": one_in(" ", "<mask>", 1000),
    "spaces-of-both": one_in("\u3000", "<both>a", 400),
    "no-word": one_in("ab", " ab ", 50),
    "angles": filled("<"),
    "some-tokens": filled("<tok_77><tok_7"),
    "nul": filled("\0"),
}


# ---- Measuring ----

class Refused(Exception):
    """bpe-encode refused the text: a regex takes too many steps."""


def cpu(argv):
    """User time of a program. Its only permitted failure is to refuse the text."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) == os.EX_DATAERR:
        raise Refused
    if status:
        raise SystemExit(f"{' '.join(argv)}: status {status}")
    return used.ru_utime


class Pair:
    """A model and a text, of n bytes and of 2 n."""

    def __init__(self, place, form, text):
        self.model, self.text, self.path = f"{place}/{form}.json", TEXTS[text], f"{place}/text"

    def seconds(self, n):
        lib.write(self.path, self.text(n))
        return cpu(["bpe-encode", "-m", self.model, "-d", "u32", self.path])

    def length(self, n, seconds):
        """Doubles n until the text takes that many seconds; returns n and its time."""
        took = self.seconds(n)
        while n < LONGEST and took < seconds:
            n *= 2
            took = self.seconds(n)
        return n, took

    def medians(self, n):
        times = [(self.seconds(n), self.seconds(2 * n)) for _ in range(AGAIN)]
        return [statistics.median(some) for some in zip(*times)]

    def check(self):
        """Whether the time is linear, and the figures."""
        n, once = self.length(FIRST, SECONDS)
        twice = self.seconds(2 * n)
        if twice > SURE * once and twice > SECONDS:
            n, _ = self.length(n, SURE_SECONDS)
            once, twice = self.medians(n)
        good, note = twice <= LIMIT * once or twice < SECONDS, ""
        if not good:
            later = self.medians(2 * n)
            good, note = later[1] <= LIMIT * later[0], f", four times {later[1] / once:.2f}"
        return good, f"{n >> 10} KiB {once:.2f} s, twice as much {twice / max(once, 0.001):.2f} times{note}"


def main():
    names = sys.argv[1:]
    unknown = set(names) - set(FORMS) - set(TEXTS)
    if unknown:
        raise SystemExit(f"linear.py: unknown form or text: {' '.join(unknown)}")
    assert not set(FORMS) & set(TEXTS)
    forms, texts = ([name for name in every if name in names] or list(every) for every in (FORMS, TEXTS))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
        for form in forms:
            lib.write(f"{place}/{form}.json", json.dumps(FORMS[form]))
            code, _, err = lib.run(["bpe-encode", "-m", f"{place}/{form}.json", os.devnull])
            if code:
                lib.skip(f"{form}: all texts", err.strip().split(".json: ")[-1])
                continue
            for text in texts:
                try:
                    good, figures = Pair(place, form, text).check()
                except Refused:
                    good, figures = form == "regex", "refused"
                lib.ok(good, f"{form}, {text}: {figures}")
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
