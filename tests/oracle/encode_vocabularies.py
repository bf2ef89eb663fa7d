#!/usr/bin/env python3
"""encode_vocabularies.py - bpe-encode with published vocabularies produces the same ids as tiktoken and Hugging Face tokenizers.

Compares awkward strings (see KINDS), each code point alone and between letters, documents, and strings with added tokens, at each
available level of vector instructions; and chunks by reference, encoded by several processes. Hugging Face tokenizers reads the same
tokenizer.json as bpe-encode. tiktoken gets ranks and regex if the ids are ranks and there is only one regex (unlike DeepSeek's); it is not
compared for files taken exactly as published. A file that bpe-encode refuses is a failure unless REFUSED lists the reason.

    encode_vocabularies.py [TEXT...]    needs tokenizers, tiktoken, numpy and BUILD; prints TAP

STRINGS: number of strings (1000000; with fewer than 100000, code points are grouped by 16, and texts are shorter); SEED;
NAMES="llama3 ..."; WHOLE=1: all documents of each TEXT, WHOLE=multi.txt: all of that one;
otherwise only those in its first SAMPLE bytes.
"""
import base64
import functools
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import vocabularies  # noqa: E402
from lib import EOT, ok, skip  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # its cache identifies files by name
os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    import numpy
    import tiktoken
    import tokenizers
    from tiktoken_ext import openai_public
except ImportError as why:
    lib.skip_all(why)

SEED = lib.seed()
STRINGS = int(os.environ.get("STRINGS") or 1000000)
WHOLE = os.environ.get("WHOLE") or ""
SAMPLE = 2 << 20 if STRINGS >= 100000 else 1 << 18  # bytes of each TEXT
BLOCK = 1 << 20  # characters per call of a peer: Hugging Face's Encodings are large
REFUSED = {"claude": 'normalizer "NFKC"'}
PIECES = [
    " ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "a", "the", " the", "The", "THE",
    "iPhone", "'s", "'S", "'ſ", "'ll", "'", "don't", "’s", "1", "12", "123", "1234567", "٣", "½", "²", "é", "e\u0301",
    "ñ", "ß", "İ", "ǅ", "ʰ", "語", "日本語", "ひらがな", "カタカナ", "한국어", "ไทย", "हिन्दी", "عربي", "🙂", "👩‍💻", "🇩🇪", "\ufe0f",
    "\u200d", "\u0300", "\u0903", "\U0001d400", "\U000e0041", "\ue000", "\U0010ffff", "\ufffd", "\x00", "\x7f", ".", ",",
    "!?", "...", "/", "://", "#!", "{}", "\\n", "_", "__init__", "-", "—", "$", "€", "^", "`", "|", "<|", "|>",
    "<|endoftext", "aaaa", "=" * 20, "\u2581", "\u2581\u2581", "\u2581the", "ᄀ", "ᅡ", "ᆨ", "각", "Å", "\u212b", "\u0958",
]
RUNS = [
    "a", "A", "-", "=", "_", ".", "*", "#", "/", "0", " ", "\t", "\n", "\r\n", " \n", "\u00a0", "ab", "ha", "-=", "<>",
    "é", "的", "の", "ๆ", "ไ", "\u0300", "🙂",
]
# Code points of scripts written without spaces.
UNSPACED = [
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x3041, 0x30FE), (0x0E01, 0x0E5B), (0xAC00, 0xD7A3), (0x0E80, 0x0EFF), (0x1000, 0x109F),
    (0x1780, 0x17FF),
]
MARKS = [chr(c) for c in range(0x20000) if unicodedata.combining(chr(c))]
COMPOSED = [chr(c) for c in range(0x20000) if unicodedata.decomposition(chr(c)) and unicodedata.decomposition(chr(c))[0] != "<"]
COMPOSING = sorted(set("".join(unicodedata.normalize("NFD", c) for c in COMPOSED)) - set(MARKS))
JAMO = [(0x1100, 0x1112), (0x1161, 0x1175), (0x11A7, 0x11C2), (0xAC00, 0xD7A3), (0x1113, 0x11FF)]
EMOJI = ["🙂", "👍", "👩", "👨", "💻", "❤", "☺", "🏳", "🌈", "1", "#", "🇩", "🇪", "🇺", "\u200d", "\u200d", "\ufe0f", "\ufe0e", "\u20e3", "🏻", "🏿", "🫨", "\U000e0067",
         "\U000e007f"]
WHITE = [" ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x85", "\u00a0", "\u1680", "\u180e", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b",
         "\ufeff", "\r\n"]


# ---- Strings ----

def from_bytes(rng):
    return rng.randbytes(rng.randint(0, 40)).decode(errors=rng.choice(["replace", "ignore"]))


def from_unicode(rng):
    limit = rng.choice([0x80, 0x300, 0x3000, 0xD800, 0x20000])
    return "".join(chr(c) for c in (rng.randrange(limit) for _ in range(rng.randint(1, 16))) if not 0xD800 <= c < 0xE000)


def from_pieces(rng):
    return "".join(rng.choices(PIECES, k=rng.randint(1, 12)))


def long_length(rng, most):
    """A random length up to most, with a logarithmic distribution."""
    return int(most ** rng.random()) + 1


def from_run(rng):
    """A run of one or two characters, with text before and after it."""
    run = rng.choice(RUNS) * long_length(rng, 600)
    return rng.choice(["", " ", "a", "x ", "\n"]) + run + rng.choice(["", " ", "a", "\n", "."]) + (run[:7] if rng.random() < 0.2 else "")


def unspaced(rng):
    first, last = rng.choice(UNSPACED)
    if rng.random() < 0.5:  # only a few, so that they repeat
        first += rng.randrange(last - first)
        last = min(last, first + 30)
    return "".join(map(chr, rng.choices(range(first, last + 1), k=long_length(rng, 400))))


def marks(rng):
    """Letters, marks in any order, characters that compose, and decomposed Hangul syllables."""
    made = []
    for _ in range(rng.randint(1, 6)):
        if rng.random() < 0.3:
            made += [chr(rng.randint(*rng.choice(JAMO))) for _ in range(rng.randint(1, 4))]
        else:
            made.append(rng.choice([rng.choice(COMPOSING), rng.choice(COMPOSED), rng.choice("aeou A1")]))
        made += rng.choices(MARKS, k=int(6 * rng.random() ** 3) if rng.random() < 0.98 else long_length(rng, 100))
    return "".join(made)


def emoji(rng):
    return "".join(rng.choices(EMOJI, k=rng.randint(1, 10))) + rng.choice(["", " ", "a"])


def white(rng):
    """Runs of one or several kinds of white space."""
    made = []
    for _ in range(rng.randint(1, 4)):
        some = rng.choices(WHITE, k=rng.choice([1, 1, 2, 4]))
        made += rng.choices(some, k=long_length(rng, 40)) + [rng.choice(["", "a", "The", "1", ".", "é", "語", "\u2581", "\x00"])]
    return "".join(made)


def excerpt(texts, rng):
    text = rng.choice(texts)
    at = rng.randrange(len(text))
    return text[at:at + long_length(rng, 200)]


def corrupted(texts, rng):
    """An excerpt in which some characters are deleted, doubled, or changed."""
    s = list(excerpt(texts, rng))
    for _ in range(rng.randint(0, 4)):
        i = rng.randrange(len(s))
        s[i] = rng.choice(["", s[i] * 2, s[i].swapcase(), s[-1], rng.choice(PIECES), chr(rng.randrange(0x3000))])
    return "".join(s)


def without_spaces(texts, rng):
    return "".join(excerpt(texts, rng).split())


def from_tokens(tokens, rng):
    return b"".join(rng.choices(tokens, k=rng.randint(1, 6))).decode(errors=rng.choice(["replace", "ignore"]))


def from_added(added, rng):
    """Added tokens and parts of them, next to white space and letters."""
    made = []
    for _ in range(rng.randint(1, 5)):
        token = rng.choice(added)
        if rng.random() < 0.3:
            at = rng.randrange(len(token) + 1)
            token = rng.choice([token[:at], token[at:], token[:at] + token])
        made += [rng.choice(["", " ", "  ", " \n ", "a", "_", "\u0301", "\u2581", "\u3000"]), token]
    return "".join(made) + rng.choice(["", " ", "\n", "a", " a", "\u0301", "é", "\u2581a", "\t\t"])


# Each kind and its share of STRINGS; from_added is used separately.
KINDS = {
    from_bytes: 0.12, from_unicode: 0.1, from_pieces: 0.13, from_run: 0.1, unspaced: 0.05, corrupted: 0.15, without_spaces: 0.05, from_tokens: 0.15, marks: 0.08,
    emoji: 0.03, white: 0.04, from_added: 0.1,
}


def make(kind, *args):
    rng = random.Random(f"{SEED}/{kind.__name__}")
    return [kind(*args, rng) for _ in range(int(STRINGS * KINDS[kind]))]


def make_lists(texts):
    """{kind: strings}, for all kinds that do not need the tokens of a model."""
    lists = {kind.__name__: make(kind) for kind in (from_bytes, from_unicode, from_pieces, from_run, unspaced, marks, emoji, white)}
    return {**lists, **{kind.__name__: make(kind, texts) for kind in (corrupted, without_spaces)}}


@functools.lru_cache(maxsize=None)
def code_points():
    """[(description, strings), ...]. With a small STRINGS, these are fewer, too."""
    chars = [chr(c) for c in itertools.chain(range(0xD800), range(0xE000, 0x110000))]
    if STRINGS < 100000:
        texts = ["".join(f"{c}x {c}{c}\n" for c in chars[i:i + 16]) for i in range(0, len(chars), 16)]
        return [("each code point, 16 in a string", texts)]
    return [("each code point", chars), ("each between letters", [f"x{c}y" for c in chars])]


# ---- Encoders: they turn a list of strings into an array, with the separator, if any, after the ids of each string ----

class Ours:
    """bpe-encode. special: the option --special; with "token", no separator is written."""

    name = "bpe-encode"

    def __init__(self, options, separator, level, special="text"):
        self.options, self.env, self.special = options, f"BPE_SIMD={level}", special
        ends = [f"--eot-token={separator}", "--eot=after"] if special == "text" else []
        self.argv = ["bpe-encode", *options, f"--special={special}", *ends, "-d", "u32", "-f", "raw"]

    def lines(self, strings):
        return "".join(json.dumps({"text": s}, ensure_ascii=False) + "\n" for s in strings).encode()

    def encode(self, strings):
        return numpy.frombuffer(lib.must("env", self.env, *self.argv, "--jsonl", data=self.lines(strings)), dtype="<u4")

    def fan_out(self, path, *how):
        """The file in chunks by reference, encoded by many processes, two at a time."""
        size = max(2000, os.path.getsize(path) // (40 if STRINGS >= 100000 else 12))
        no_special = ["--no-special"] * (self.special == "text")
        chunks = lib.must("bpe-chunk", *self.options, *no_special, *how, "-b", str(size), path)
        return numpy.frombuffer(lib.must("env", self.env, "parallel", "-q", "-k", "--pipe", "-N3", "-j2", *self.argv, data=chunks), dtype="<u4")


def joined(lists, end):
    ends = (end,) if end is not None else ()
    return numpy.fromiter(itertools.chain.from_iterable(itertools.chain(ids, ends) for ids in lists), dtype=numpy.uint32)


def blocks(strings):
    """Lists of strings with about the same number of characters."""
    some, n = [], 0
    for s in strings:
        some.append(s)
        n += len(s) + 50
        if n > BLOCK:
            yield some
            some, n = [], 0
    yield some


def in_blocks(encode, strings, end):
    return numpy.concatenate([joined(encode(some), end) for some in blocks(strings)])


class HuggingFace:
    name = "Hugging Face"

    def __init__(self, path, end):
        self.t, self.end = tokenizers.Tokenizer.from_file(path), end

    def encode(self, strings, special="text"):
        self.t.encode_special_tokens = special == "text"

        def ids(some):
            return (e.ids for e in self.t.encode_batch_fast(some, add_special_tokens=False))
        return in_blocks(ids, strings, self.end if special == "text" else None)


class TikToken:
    name = "tiktoken"

    def __init__(self, regex, ranks, special):
        self.end = special[EOT]
        self.enc = tiktoken.Encoding("it", pat_str=regex, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, strings):
        return in_blocks(lambda some: map(self.enc.encode_ordinary, some), strings, self.end)


# ---- Models ----

def token_bytes(token):
    """The bytes of a vocabulary key, which spells either bytes or characters."""
    if all(c in lib.BYTE for c in token):
        return lib.unspell(token)
    value = re.fullmatch("<0x(..)>", token)
    return bytes.fromhex(value[1]) if value else token.replace("\u2581", " ").encode()


class Vocabulary:
    """A vocabulary: the options for bpe-encode to read it, as tokenizer.json and as ranks, and its peers."""

    def __init__(self, name, tmp):
        self.path = vocabularies.get(name)
        with open(self.path, encoding="utf-8") as f:
            top = json.load(f)
        self.added = added = {t["content"]: t["id"] for t in top["added_tokens"]}
        self.separator = EOT if EOT in added else next(t["content"] for t in top["added_tokens"] if t["special"])
        self.end = added[self.separator]
        self.token = {token_bytes(t): i for t, i in top["model"]["vocab"].items() if t not in added}
        self.options = {".json": ["-m", self.path]}
        self.peers = [HuggingFace(self.path, self.end)]
        if name in vocabularies.NAMES:
            self.as_ranks(name, top, tmp)

    def as_ranks(self, name, top, tmp):
        added = self.added
        regex = self.regex(name, top["pre_tokenizer"])
        if not regex or min(self.token.values()) > 0:
            skip(f"{name} by tiktoken, or as .tiktoken", "ids are not ranks, or there are several regexes")
            return
        special = vocabularies.SPECIAL.get(name, added)
        ranks = vocabularies.ranks_of(name) or f"{tmp}/{name}.tiktoken"
        if not os.path.exists(ranks):
            lib.write(ranks, b"".join(b"%s %d\n" % (base64.b64encode(t), i) for t, i in self.token.items()))
        self.options[".tiktoken"] = ["-m", ranks, "-p", name] + [arg for t, i in special.items() for arg in ("-s", f"{t}={i}")]
        self.peers.append(TikToken(regex, self.token, special))

    @staticmethod
    def regex(name, pre):
        """tiktoken's regex, or the only one of the tokenizer.json, or None."""
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
    """Available levels of vector instructions, the best first."""
    tried = ["avx512", "avx2", "sse2", "neon", "none"]
    return [l for l in tried if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=l))[0] == 0]


# ---- Comparisons ----

def difference(got, want, strings, peer, special):
    """A description of the first difference: the string and both lists of ids. Empty if there is none."""
    if len(got) == len(want) and (got == want).all():
        return ""
    n = min(len(got), len(want))
    at = int(numpy.append(numpy.flatnonzero(got[:n] != want[:n]), n)[0])
    begin = 0
    for number, s in enumerate(strings):
        size = len(peer.encode([s], *special))
        if begin + size > at or number == len(strings) - 1:
            here = slice(max(begin, at - 20), at + 20)
            return f"string {number}: {s[:1000]!r}\n{got[here].tolist()}\nnot {want[here].tolist()}"
        begin += size
    return f"{len(got)} ids, not {len(want)}"


def compare(name, v, what, strings, all_levels):
    wants = [(peer, peer.encode(strings)) for peer in v.peers]
    for form, options in v.options.items():
        for level in all_levels:
            got = Ours(options, v.separator, level).encode(strings)
            for peer, want in wants:
                why = difference(got, want, strings, peer, ())
                ok(not why, f"{name}{form}, {level}: {what} as {peer.name}", why)
    return wants[0][1]


def compare_chunks(name, v, what, strings, want, tmp):
    """want: the ids by Hugging Face."""
    ours = Ours(v.options[".json"], v.separator, levels()[0])
    lib.write(tmp + "/lines", ours.lines(strings))
    why = difference(ours.fan_out(tmp + "/lines", "--jsonl"), want, strings, v.peers[0], ())
    ok(not why, f"{name}: {what} as JSON Lines in chunks", why)


def compare_documents(name, v, strings, all_levels, tmp):
    """Compares NUL-terminated documents. Chunks end inside the last one, which is long."""
    strings = [s for s in strings if s and "\0" not in s]
    strings.append("\n".join(strings[:200])[:SAMPLE])
    want = compare(name, v, f"{len(strings)} documents", strings, all_levels)
    lib.write(tmp + "/documents", "".join(s + "\0" for s in strings))
    got = Ours(v.options[".json"], v.separator, all_levels[0]).fan_out(tmp + "/documents", "-0")
    why = difference(got, want, strings, v.peers[0], ())
    ok(not why, f"{name}: documents in chunks", why)


def compare_added(name, v, all_levels, tmp):
    """Compares strings with added tokens that are encoded as such."""
    strings = make(from_added, list(v.added)) + make(emoji)
    want = v.peers[0].encode(strings, "token")
    ours = Ours(v.options[".json"], v.separator, all_levels[0], "token")
    lib.write(tmp + "/lines", ours.lines(strings))
    for what, got in ("", ours.encode(strings)), (" in chunks", ours.fan_out(tmp + "/lines", "--jsonl")):
        why = difference(got, want, strings, v.peers[0], ("token",))
        ok(not why, f"{name}: {len(strings)} strings with added tokens{what} as Hugging Face", why)


def is_refused(name, v):
    """Whether bpe-encode refuses the vocabulary; a test fails if this is unexpected."""
    code, _, err = lib.run(["bpe-encode", *v.options[".json"], os.devnull])
    if name in REFUSED:
        ok(code == 65 and REFUSED[name] in err, f"{name}: is refused for {REFUSED[name]}", err)
    elif code:
        ok(False, f"{name}: is not refused", err)
    return code or name in REFUSED


def check(name, v, lists, texts, all_levels, tmp):
    begin = time.monotonic()
    if is_refused(name, v):
        return
    lists = {**lists, "from_tokens": make(from_tokens, sorted(v.token))}
    strings = [s for made in lists.values() for s in made]
    random.Random(SEED).shuffle(strings)
    what = f"{len(strings)} strings"
    compare_chunks(name, v, what, strings, compare(name, v, what, strings, all_levels), tmp)
    for what, points in code_points():
        compare(name, v, what, points, all_levels[:1])
    compare_documents(name, v, texts, all_levels, tmp)
    compare_added(name, v, all_levels, tmp)
    print(f"# {name}: {time.monotonic() - begin:.0f} s", flush=True)


def documents(paths):
    for path in paths:
        with open(path, "rb") as f:
            whole = WHOLE and WHOLE in ("1", os.path.basename(path))
            yield from filter(None, f.read(-1 if whole else SAMPLE).decode(errors="ignore").split(EOT))


def main():
    print(f"# {STRINGS} strings; tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        texts = list(documents(sys.argv[1:])) or list(filter(None, lib.text(9, 2000000).decode().split(EOT)))
        lists = make_lists(texts)
        for name in (os.environ.get("NAMES") or " ".join(vocabularies.NAMES + vocabularies.PUBLISHED + list(vocabularies.MADE))).split():
            try:
                v = Vocabulary(name, tmp)
            except vocabularies.Missing as why:
                skip(f"{name}'s own vocabulary", why)
                continue
            try:
                check(name, v, lists, texts, levels(), tmp)
            except SystemExit as why:  # raised by lib.must
                ok(False, f"{name}: all programs succeed", why)
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
