#!/usr/bin/env python3
"""pretok_peers.py - compares our pretokens with those of Hugging Face tokenizers and tiktoken. Prints TAP.

    pretok_peers.py PRETOK [TEXT...]     PRETOK: the program built from pretok.c

Compares the classes of all code points (PyPI unicodedata2); the built-in patterns, in each regex text known for them, on random documents,
every character, and samples of the TEXT files (PyPI tokenizers, tiktoken); and the regex texts that tiktoken itself contains. For custom
regexes, see regex_peers.py. Tests are skipped if their package is missing.
SEED=N sets the random seed.
"""
import importlib
import inspect
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import ok as report, skip  # noqa: E402

UNICODE = "16.0.0"
N_RANDOM, N_ATOMS = 4, 3000  # number of documents, atoms per document
N_SAMPLES, SAMPLE = 1, 1 << 17  # number per TEXT, at random places; bytes per sample

ATOMS = (["'", "'s", "'S", "'t", "'re", "'VE", "'lL", "'d", "'m", "s", "l", "re", "a", "Z", "word", "\u017F", "\u212A"]
         + [" "] * 8 + ["  ", "\n", "\n", "\r", "\r\n", "\t", "\v", "\x1F", "\u0085", "\u00A0", "\u180E", "\u2028", "\u3000"]
         + ["1", "23", "4567", "\u0665", "\uFF11", "\u2167", "\U0001D7D8", ".", ",!", "-", "\"", "<|", "\u0301", "\u200D"]
         + ["\u00E9", "\u0416\u0447", "\u4E2D\u6587", "\u3002", "\uC544", "\u0915\u094D\u0937", "\u0E2A\u0E33", "\u0639"]
         + ["A", "U", "HTML", "Word", "/", "/\n", "\u01C5", "\u02B0", "\u041F\u0440", "\u3042", "\u30FC", "\u30FB", "\u3040", "\u3099"]
         + ["\u9FA5", "\u9FA6", "\U000E0100", "\u2764\uFE0F"]
         + ["\u3005", "\u3007", "\u2E80", "\u3400", "\U00016FF0", "\U00011DE0", "\U00016FF4"]
         + ["\U0001F600", "\U0001F469\u200D\U0001F4BB", "\U00020000", "\U000323AF", "\u1C89", "\uFFFD"])


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def run(pretok, arguments, document=b""):
    return lib.must(pretok, *arguments, data=document).decode()


def our_pieces(pretok, arguments, text):
    document = text.encode()
    pieces, start = [], 0
    for line in run(pretok, arguments, document).split():
        pieces.append(document[start:start + int(line)])
        start += int(line)
    assert start == len(document)
    return pieces


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"pretoken {at}: {ours[at:at + 4]}, not {theirs[at:at + 4]}"


def compare(name, documents, ours, theirs):
    """Tests that both split every document in the same way."""
    n = 0
    for text in documents:
        a, b = ours(text), theirs(text)
        n += len(a)
        if a != b:
            report(False, name, first_difference(a, b))
            return
    report(n > 0, f"{name} ({n} pretokens)")


def random_documents(atoms, n, n_atoms):
    return ["".join(random.choices(atoms, k=n_atoms)) for _ in range(n)]


def characters():
    """Characters of the planes in use, with others around them: a random quarter of the blocks of 4096, with WHOLE all of them."""
    blocks = [*range(0, 0x40000, 0x1000), 0xE0000]
    for start in blocks if os.environ.get("WHOLE") else random.sample(blocks, len(blocks) // 4):
        points = [chr(c) for c in range(start, start + 0x1000) if not 0xD800 <= c < 0xE000]
        if points:
            yield "".join(f"a{c}{c}  {c}1{c}.{c}" for c in points)


def samples(path):
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        for _ in range(N_SAMPLES):
            f.seek(random.randrange(max(1, size - SAMPLE)))
            yield f.read(SAMPLE).decode(errors="ignore")


def huggingface_split(tokenizers, *regexes):
    parts = tokenizers.pre_tokenizers
    split = parts.Sequence([parts.Split(tokenizers.Regex(regex), "isolated") for regex in regexes])
    return lambda text: [piece.encode() for piece, _ in split.pre_tokenize_str(text) if piece]


def huggingface_byte_level(tokenizers, *before):
    """ByteLevel maps each byte to one character, in its own order, so only lengths are compared."""
    parts = tokenizers.pre_tokenizers
    level = parts.Sequence([*before, parts.ByteLevel(add_prefix_space=False, use_regex=True)])
    return lambda text: [len(piece) for piece, _ in level.pre_tokenize_str(text)]


def tiktoken_pieces(tiktoken, pattern, ours):
    """tiktoken does not expose pretokens. With all of ours in the vocabulary, each pretoken that it shares is one token."""
    def pieces(text):
        words = [bytes([i]) for i in range(256)]
        words += sorted({piece for piece in ours(text) if len(piece) > 1})
        ranks = {word: i for i, word in enumerate(words)}
        encoding = tiktoken.Encoding("pretok", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return [words[token] for token in encoding.encode_ordinary(text)]
    return pieces


def test_classes(pretok):
    name = f"classes equal unicodedata2 {UNICODE}"
    unicodedata2 = package("unicodedata2")
    if not unicodedata2 or unicodedata2.unidata_version != UNICODE:
        return skip(name, f"no PyPI unicodedata2 == {UNICODE}")
    ours = [0] * 0x110000
    for line in run(pretok, ["--classes"]).splitlines():
        first, last, value = map(int, line.split())
        ours[first:last + 1] = [value] * (last + 1 - first)
    spaces = {*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
    theirs = [3 if c in spaces else " LN".find(unicodedata2.category(chr(c))[0]) for c in range(0x110000)]
    wrong = [c for c in range(0x110000) if ours[c] != max(theirs[c], 0)]
    report(not wrong, name, f"differ: {[f'U+{c:04X}' for c in wrong[:10]]}")


def test_pattern(pretok, pattern, texts, what, documents):
    """texts: the known texts of the pattern, as (dialect, regexes); the first is our own."""
    def ours(text):
        return our_pieces(pretok, [pattern], text)

    tokenizers, tiktoken = package("tokenizers"), package("tiktoken")
    for i, (dialect, regexes) in enumerate(texts):
        name = f"{pattern}, text {i}: {what}: equal to"
        if not tokenizers:
            skip(f"{name} Hugging Face's Split", "no PyPI tokenizers")
        elif dialect == "any":
            compare(f"{name} Hugging Face's Split", documents, ours, huggingface_split(tokenizers, *regexes))
        if not tiktoken:
            skip(f"{name} tiktoken", "no PyPI tiktoken")
        elif len(regexes) == 1 and pattern != "superbpe":  # tiktoken drops the gaps
            compare(f"{name} tiktoken", documents, ours, tiktoken_pieces(tiktoken, regexes[0], ours))
    before = {"gpt2": [], "gpt2-digits": [tokenizers.pre_tokenizers.Digits(individual_digits=True)]} if tokenizers else {}
    if pattern in before:
        compare(f"{pattern}: {what}: equal to Hugging Face's ByteLevel", documents, lambda text: [len(piece) for piece in ours(text)],
                huggingface_byte_level(tokenizers, *before[pattern]))


def test_dialects(texts):
    """Texts of the dialect pcre mean something else in Oniguruma."""
    tokenizers = package("tokenizers")
    for pattern, known in texts.items():
        for i, (dialect, regexes) in enumerate(known):
            name = f"{pattern}, text {i}: means something else to Hugging Face"
            if dialect == "pcre" and tokenizers:
                split = huggingface_split(tokenizers, *regexes)
                report(split("1234567") == [b"1234567"], name, split("1234567"))
            elif dialect == "pcre":
                skip(name, "no PyPI tokenizers")


def test_tiktoken_texts(texts):
    """The regex texts of tiktoken's own encodings are known."""
    try:
        from tiktoken_ext import openai_public
    except ImportError:
        return skip("the texts of tiktoken are known", "no PyPI tiktoken")
    source = inspect.getsource(openai_public)
    for pattern in "gpt2", "cl100k-tiktoken":
        report(any(f'r"""{regexes[0]}"""' in source for _, regexes in texts[pattern]), f"{pattern}: tiktoken's text is known")
    function = inspect.getsource(openai_public.o200k_base)
    alternatives = re.findall(r'r"""(.*?)"""', function)
    report(any("|".join(alternatives) == regexes[0] for _, regexes in texts["o200k"]), "o200k: tiktoken's text is known", alternatives)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: pretok_peers.py PRETOK [TEXT...]")
    pretok, paths = sys.argv[1], sys.argv[2:]
    random.seed(lib.seed())
    test_classes(pretok)
    texts = {}
    for line in run(pretok, ["--regexes"]).splitlines():
        pattern, *regexes = line.split("\t")
        texts[pattern] = [("any", regexes)]
    for line in run(pretok, ["--variants"]).splitlines():
        dialect, pattern, regex = line.split("\t")
        texts[pattern].append((dialect, [regex]))
    test_tiktoken_texts(texts)
    test_dialects(texts)
    for pattern, known in texts.items():
        test_pattern(pretok, pattern, known, "random documents", random_documents(ATOMS, N_RANDOM, N_ATOMS))
        test_pattern(pretok, pattern, known[:1], "characters", list(characters()))
        for path in paths:
            test_pattern(pretok, pattern, known, os.path.basename(path), list(samples(path)))
    return lib.done()


sys.exit(main())
