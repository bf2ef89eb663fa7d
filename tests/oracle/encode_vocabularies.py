#!/usr/bin/env python3
"""encode_vocabularies.py - bpe-encode by vocabularies that everybody has, against tiktoken and Hugging Face tokenizers: the same ids.

Of strings made to be awkward (those of KINDS), of each code point alone and between letters, of documents, and with special
tokens; at each level of vector instructions that there is. tiktoken has the ranks and the regex of those whose ids are ranks and
whose regex is one (not of DeepSeek's); Hugging Face tokenizers the same tokenizer.json as bpe-encode.

    encode_vocabularies.py [TEXT...]    needs tokenizers, tiktoken, numpy and BUILD; prints TAP

STRINGS: how many strings (1000000; if fewer than 100000, code points are 16 in a string); SEED; NAMES="llama3 ..."; WHOLE=1: the
documents of all of each TEXT, not of 2 MB.
"""
import base64
import functools
import itertools
import json
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import vocabularies  # noqa: E402
from lib import EOT, ok, skip  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # it would remember files by name
try:
    import numpy
    import tiktoken
    import tokenizers
    from tiktoken_ext import openai_public
except ImportError as why:
    lib.skip_all(why)

SEED = lib.seed()
STRINGS = int(os.environ.get("STRINGS") or 1000000)
WHOLE = bool(os.environ.get("WHOLE"))
SAMPLE = 2 << 20
BLOCK = 20000  # strings that a peer gets at once: Hugging Face's Encodings are large
PIECES = [
    " ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "a", "the", " the", "The", "THE",
    "iPhone", "'s", "'S", "'ſ", "'ll", "'", "don't", "’s", "1", "12", "123", "1234567", "٣", "½", "²", "é", "e\u0301",
    "ñ", "ß", "İ", "ǅ", "ʰ", "語", "日本語", "ひらがな", "カタカナ", "한국어", "ไทย", "हिन्दी", "عربي", "🙂", "👩‍💻", "🇩🇪", "\ufe0f",
    "\u200d", "\u0300", "\u0903", "\U0001d400", "\U000e0041", "\ue000", "\U0010ffff", "\ufffd", "\x00", "\x7f", ".", ",",
    "!?", "...", "/", "://", "#!", "{}", "\\n", "_", "__init__", "-", "—", "$", "€", "^", "`", "|", "<|", "|>",
    "<|endoftext", "aaaa", "=" * 20,
]
RUNS = [
    "a", "A", "-", "=", "_", ".", "*", "#", "/", "0", " ", "\t", "\n", "\r\n", " \n", "\u00a0", "ab", "ha", "-=", "<>",
    "é", "的", "の", "ๆ", "ไ", "\u0300", "🙂",
]
# Code points of scripts that are written without spaces.
UNSPACED = [
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x3041, 0x30FE), (0x0E01, 0x0E5B), (0xAC00, 0xD7A3), (0x0E80, 0x0EFF), (0x1000, 0x109F),
    (0x1780, 0x17FF),
]


# ---- Strings ----

def from_bytes(rng):
    return rng.randbytes(rng.randint(0, 40)).decode(errors=rng.choice(["replace", "ignore"]))


def from_unicode(rng):
    limit = rng.choice([0x80, 0x300, 0x3000, 0xD800, 0x20000])
    return "".join(chr(c) for c in (rng.randrange(limit) for _ in range(rng.randint(1, 16))) if not 0xD800 <= c < 0xE000)


def from_pieces(rng):
    return "".join(rng.choices(PIECES, k=rng.randint(1, 12)))


def long_length(rng, most):
    """As many short ones as long ones."""
    return int(most ** rng.random()) + 1


def from_run(rng):
    """A run, with something before it and after it; of two words in turn, too."""
    run = rng.choice(RUNS) * long_length(rng, 600)
    return rng.choice(["", " ", "a", "x ", "\n"]) + run + rng.choice(["", " ", "a", "\n", "."]) + (run[:7] if rng.random() < 0.2 else "")


def unspaced(rng):
    first, last = rng.choice(UNSPACED)
    if rng.random() < 0.5:  # few of them: they come again
        first += rng.randrange(last - first)
        last = min(last, first + 30)
    return "".join(map(chr, rng.choices(range(first, last + 1), k=long_length(rng, 400))))


def excerpt(texts, rng):
    text = rng.choice(texts)
    at = rng.randrange(len(text))
    return text[at:at + long_length(rng, 200)]


def corrupted(texts, rng):
    """An excerpt in which some characters are lost, doubled, changed or moved."""
    s = list(excerpt(texts, rng))
    for _ in range(rng.randint(0, 4)):
        i = rng.randrange(len(s))
        s[i] = rng.choice(["", s[i] * 2, s[i].swapcase(), s[-1], rng.choice(PIECES), chr(rng.randrange(0x3000))])
    return "".join(s)


def without_spaces(texts, rng):
    return "".join(excerpt(texts, rng).split())


def from_tokens(tokens, rng):
    return b"".join(rng.choices(tokens, k=rng.randint(1, 6))).decode(errors=rng.choice(["replace", "ignore"]))


# Each kind, and its part of STRINGS.
KINDS = {
    from_bytes: 0.15, from_unicode: 0.1, from_pieces: 0.15, from_run: 0.1, unspaced: 0.05, corrupted: 0.2, without_spaces: 0.05,
    from_tokens: 0.2,
}


def make(kind, *args):
    rng = random.Random(f"{SEED}/{kind.__name__}")
    return [kind(*args, rng) for _ in range(int(STRINGS * KINDS[kind]))]


@functools.lru_cache(maxsize=None)
def code_points():
    """What it is, and strings. Where there are few strings, these are few as well."""
    chars = [chr(c) for c in itertools.chain(range(0xD800), range(0xE000, 0x110000))]
    if STRINGS < 100000:
        texts = ["".join(f"{c}x {c}{c}\n" for c in chars[i:i + 16]) for i in range(0, len(chars), 16)]
        return [("each code point, 16 in a string", texts)]
    return [("each code point", chars), ("each between letters", [f"x{c}y" for c in chars])]


# ---- Those that encode: a list of strings becomes an array, the separator after the ids of each ----

class Ours:
    name = "bpe-encode"

    def __init__(self, options, level):
        self.options, self.level = options, level

    def encode(self, strings, special="text"):
        lines = "".join(json.dumps({"text": s}, ensure_ascii=False) + "\n" for s in strings).encode()
        raw = lib.must("env", f"BPE_SIMD={self.level}", "bpe-encode", *self.options, "--jsonl", f"--special={special}", "--eot=after",
                       "-d", "u32", data=lines)
        return numpy.frombuffer(raw, dtype="<u4")


def joined(lists, end):
    return numpy.fromiter(itertools.chain.from_iterable(itertools.chain(ids, (end,)) for ids in lists), dtype=numpy.uint32)


def in_blocks(encode, strings, end):
    return numpy.concatenate([joined(encode(strings[i:i + BLOCK]), end) for i in range(0, len(strings), BLOCK)])


class HuggingFace:
    name = "Hugging Face"

    def __init__(self, path, end):
        self.t, self.end = tokenizers.Tokenizer.from_file(path), end
        self.t.encode_special_tokens = True

    def encode(self, strings):
        def ids(some):
            return (e.ids for e in self.t.encode_batch_fast(some, add_special_tokens=False))
        return in_blocks(ids, strings, self.end)


class TikToken:
    name = "tiktoken"

    def __init__(self, regex, ranks, special):
        self.end = special[EOT]
        self.enc = tiktoken.Encoding("it", pat_str=regex, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, strings):
        return in_blocks(lambda some: map(self.enc.encode_ordinary, some), strings, self.end)


# ---- Models ----

class Vocabulary:
    """A vocabulary: options with which bpe-encode reads it, as tokenizer.json and as ranks, and the peers."""

    def __init__(self, name, tmp):
        self.path = vocabularies.get(name)
        with open(self.path, encoding="utf-8") as f:
            top = json.load(f)
        added = {t["content"]: t["id"] for t in top["added_tokens"]}
        self.end = added[EOT]
        self.token = {lib.unspell(t): i for t, i in top["model"]["vocab"].items() if t not in added}
        self.options = {".json": ["-m", self.path]}
        self.peers = [HuggingFace(self.path, self.end)]
        regex = self.regex(name, top["pre_tokenizer"])
        if not regex or min(self.token.values()) > 0:
            skip(f"{name} by tiktoken, or as .tiktoken", "its ids are not ranks, or it has several regexes")
            return
        special = vocabularies.SPECIAL.get(name, added)
        ranks = vocabularies.ranks_of(name) or f"{tmp}/{name}.tiktoken"
        if not os.path.exists(ranks):
            lib.write(ranks, b"".join(b"%s %d\n" % (base64.b64encode(t), i) for t, i in self.token.items()))
        self.options[".tiktoken"] = ["-m", ranks, "-p", name] + [arg for t, i in special.items() for arg in ("-s", f"{t}={i}")]
        self.peers.append(TikToken(regex, self.token, special))

    @staticmethod
    def regex(name, pre):
        """tiktoken's own, or the only one of the tokenizer.json, or None."""
        if name == "gpt2":
            return openai_public.r50k_pat_str
        if name in vocabularies.SPECIAL:
            load, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, lambda *_, **__: {}  # no download
            try:
                return getattr(openai_public, name + "_base")()["pat_str"]
            finally:
                openai_public.load_tiktoken_bpe = load
        found = [p["pattern"]["Regex"] for p in pre["pretokenizers"] if p["type"] == "Split"]
        return found[0] if len(found) == 1 else None


def levels():
    """Of vector instructions: the best is the first."""
    tried = ["avx512", "avx2", "sse2", "neon", "none"]
    return [l for l in tried if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=l))[0] == 0]


# ---- Comparisons ----

def difference(got, want, strings, end):
    """Which string it is, and its ids by both."""
    if len(got) == len(want) and (got == want).all():
        return ""
    n = min(len(got), len(want))
    at = int(numpy.append(numpy.flatnonzero(got[:n] != want[:n]), n)[0])
    ends = numpy.flatnonzero(want[:at] == end)
    number, begin = len(ends), int(ends[-1]) + 1 if len(ends) else 0
    if number == len(strings):
        return f"{len(got)} ids, not {len(want)}"

    def ids(a):
        return a[begin:begin + int(numpy.append(numpy.flatnonzero(a[begin:] == end), len(a))[0])].tolist()

    return f"string {number}: {strings[number]!r}\n{ids(got)}\nnot {ids(want)}"


def compare(name, v, what, strings, all_levels):
    wants = {peer.name: peer.encode(strings) for peer in v.peers}
    for form, options in v.options.items():
        for level in all_levels:
            got = Ours(options, level).encode(strings)
            bad = {peer: difference(got, want, strings, v.end) for peer, want in wants.items()}
            for peer, why in bad.items():
                ok(not why, f"{name}{form}, {level}: {what} as {peer}", why)


def check(name, v, lists, all_levels):
    begin = time.monotonic()
    lists = {**lists, "from_tokens": make(from_tokens, sorted(v.token))}
    strings = [s for made in lists.values() for s in made]
    random.Random(SEED).shuffle(strings)
    compare(name, v, f"{len(strings)} strings", strings, all_levels)
    for what, points in code_points():
        compare(name, v, what, points, all_levels[:1])
    strings = list(itertools.islice((s for s in strings if s and EOT not in s), 1000))
    got = Ours(v.options[".json"], all_levels[0]).encode([EOT.join(pair) for pair in zip(strings[::2], strings[1::2])], "token")
    for peer in v.peers:
        why = difference(got, peer.encode(strings), strings, v.end)
        ok(not why, f"{name}: special tokens as {peer.name}", why)
    print(f"# {name}: {time.monotonic() - begin:.0f} s", flush=True)


def documents(paths):
    for path in paths:
        with open(path, "rb") as f:
            yield from filter(None, f.read(-1 if WHOLE else SAMPLE).decode(errors="ignore").split(EOT))


def main():
    print(f"# {STRINGS} strings; tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        texts = list(documents(sys.argv[1:])) or list(filter(None, lib.text(9, 2000000).decode().split(EOT)))
        lists = {kind.__name__: make(kind) for kind in (from_bytes, from_unicode, from_pieces, from_run, unspaced)}
        lists.update({kind.__name__: make(kind, texts) for kind in (corrupted, without_spaces)})
        lists["documents"] = texts
        for name in (os.environ.get("NAMES") or " ".join(vocabularies.NAMES)).split():
            try:
                v = Vocabulary(name, tmp)
            except vocabularies.Missing as why:
                skip(f"{name}'s own vocabulary", why)
                continue
            check(name, v, lists, levels())
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
