#!/usr/bin/env python3
"""texts.py - makes the large texts of the benchmarks; equal inputs give equal texts. Documents end with <|endoftext|>.

texts.py join OUT BYTES TEXT...   about BYTES of text: the documents of TEXTs; then each file that is valid UTF-8, as one document,
                                  from a list on standard input (names end with NUL); then TEXTs again, changed, until
                                  the size is reached. Documents are shuffled, so a prefix is text of the same kind.
texts.py words OUT N TEXT...      about N distinct pretokens: words of TEXTs, these with affixes or joined, and numbers,
                                  distributed by Zipf's law.
texts.py language OUT NAME TEXT   the documents of TEXT whose letters are mostly of that language's script.
texts.py hostile OUT KIND BYTES   letter: one letter, repeated; spaces; rules: lines of dashes, of random lengths; random: random
                                  lower-case letters with some spaces; solid: only letters; ideographs: all of Unicode's first
                                  block of them, repeatedly, in random order. Except for rules and random, each is one pretoken.
texts.py many OUT N TEXT          makes N files of 1 kB of TEXT in OUT.files, a thousand per directory; OUT lists them."""
import collections
import hashlib
import itertools
import os
import random
import re
import sys

EOT = b"<|endoftext|>"


def documents(paths):
    for path in paths:
        with open(path, "rb") as f:
            yield from (d for d in re.split(re.escape(EOT) + b"\n?", f.read()) if d)


def sources(names):
    """The contents of the files that are text, without duplicates."""
    seen = set()
    for name in names:
        try:
            with open(name, "rb") as f:
                text = f.read()
            text.decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        key = hashlib.md5(text).digest()
        if text and b"\0" not in text and key not in seen:
            seen.add(key)
            yield text


def changed(texts):
    """The documents again, endlessly, with their words in reverse order. Every fourth has its letters shifted, which makes new words."""
    for n in itertools.count(1) if texts else ():
        shift = n % 25 + 1
        lower, upper = (bytes(range(a, a + 26)) for a in (97, 65))
        table = bytes.maketrans(lower + upper, lower[shift:] + lower[:shift] + upper[shift:] + upper[:shift])
        for i, d in enumerate(documents(texts)):
            d = b" ".join(reversed(d.split(b" ")))
            yield d.translate(table) if i % 4 == 0 else d


def join(out, size, *texts):
    size, took, all_documents = int(size), collections.Counter(), []
    names = map(os.fsdecode, filter(None, sys.stdin.buffer.read().split(b"\0")))
    for kind, source in ("corpus", documents(texts)), ("sources", sources(names)), ("corpus, changed", changed(texts)):
        for d in source:
            if sum(took.values()) + len(d) + len(EOT) + 1 > size:
                break
            took[kind] += len(d) + len(EOT) + 1
            all_documents.append(d)
    random.Random(1).shuffle(all_documents)
    write(out, (d + EOT + b"\n" for d in all_documents))
    parts = ", ".join(f"{n / 1e6:.0f} MB {kind}" for kind, n in took.items())
    print(f"{os.path.basename(out)}: {parts}", file=sys.stderr)


PREFIXES = "un re in dis over mis out pre sub inter fore de trans super semi anti mid under non co".split()
SUFFIXES = "s ed ing ly er ers ness ment able ful less ish ion ions ize izes ized al ity ous ive ism ist en y".split()


def invented(stems, rng):
    """Endless words: first real ones, then real ones with affixes, in capitals or joined, and numbers. They have about 12 bytes,
    like the distinct pretokens of a large crawl."""
    yield from stems
    while True:
        stem, dice = stems[int(len(stems) * rng.random() ** 3)], rng.random()
        if dice < 0.50:
            yield rng.choice(PREFIXES + [""] * 40) + stem + rng.choice(SUFFIXES)
        elif dice < 0.60:
            yield (stem + rng.choice(SUFFIXES)).upper()
        elif dice < 0.75:
            yield rng.choice(PREFIXES) + stem.lower()
        elif dice < 0.90:
            yield stem[:6] + rng.choice(stems)[:6].lower()
        else:
            yield str(rng.randrange(10 ** rng.randint(2, 10)))


def words(out, n, *texts):
    n, rng, counts = int(n), random.Random(1), collections.Counter()
    for path in texts:
        with open(path, "rb") as f:
            counts.update(re.findall(r"[^\W\d_]{1,16}", f.read(60_000_000).decode("utf-8", "ignore")))
    stems = sorted(counts, key=lambda w: (-counts[w], w))
    vocabulary = dict.fromkeys(itertools.islice(invented(stems, rng), n))
    for word in invented(stems, rng):
        if len(vocabulary) >= n:
            break
        vocabulary[word] = None
    # The word of rank r occurs top / r times, evenly distributed over the documents; six in ten occur once.
    top, pages = 0.4 * n, [[] for _ in range(max(n // 2000, 1))]
    for rank, word in enumerate(vocabulary, 3):
        count = max(int(top / rank), 1)
        for page in pages if count >= len(pages) else ():
            page.extend([word] * (count // len(pages)))
        first, step = rank * 7919, len(pages) // (count % len(pages) or 1)
        for k in range(count % len(pages)):
            pages[(first + k * step) % len(pages)].append(word)
    write(out, (page_of(p) for p in pages))


def page_of(words, line=20):
    """Each word begins with a space, also at the start of a line, so that no word becomes two pretokens, with and without a space."""
    mixed = [w for k in range(line) for w in words[k::line]]
    lines = (" " + " ".join(mixed[i:i + line]) + "\n" for i in range(0, len(mixed), line))
    return "".join(lines).encode() + EOT + b"\n"


def many(out, n, text):
    names = [os.path.join(f"{out}.files", f"{i // 1000:03d}", f"{i % 1000:03d}.txt") for i in range(int(n))]
    with open(text, "rb") as f:
        for name in names:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as one:
                one.write(f.read(1000))
    write(out, (name.encode() + b"\n" for name in names))


SCRIPTS = {"japanese": "\u3040-\u30ff\u4e00-\u9fff", "chinese": "\u4e00-\u9fff", "thai": "\u0e00-\u0e7f",
           "arabic": "\u0600-\u06ff", "hindi": "\u0900-\u097f"}


def language(out, name, path):
    """Text with ideographs and kana is Japanese."""
    script, kana, visible = re.compile(f"[{SCRIPTS[name]}]"), re.compile("[\u3040-\u30ff]"), re.compile(r"\S")

    def belongs(text):
        n = len(visible.findall(text))
        is_japanese = len(kana.findall(text)) > n / 10
        return 2 * len(script.findall(text)) > n and is_japanese == (name == "japanese")
    write(out, (d + EOT + b"\n" for d in documents([path]) if belongs(d.decode())))


def hostile(out, kind, size):
    size, rng = int(size), random.Random(1)
    letters = bytes(97 + i % 26 for i in range(256))
    with_spaces = bytes(32 if i < 20 else c for i, c in enumerate(letters))
    ideographs = [chr(c) for c in range(0x4E00, 0xA000)]

    def some():
        """A part of the text, which consists of many parts."""
        if kind == "rules":
            return b"".join(b"-" * rng.randint(1, 3000) + b"\n" for _ in range(100))
        if kind == "ideographs":
            rng.shuffle(ideographs)
            return "".join(ideographs).encode()
        return {"letter": b"a" * 100000, "spaces": b" " * 100000}.get(kind) or \
            rng.randbytes(100000).translate(with_spaces if kind == "random" else letters)

    def parts():
        left = size // 3 * 3 if kind == "ideographs" else size
        while left:
            part = some()[:left]
            left -= len(part)
            yield part
    write(out, parts())


def write(out, parts):
    with open(out + ".tmp", "wb") as f:
        f.writelines(parts)
    os.rename(out + ".tmp", out)


{"join": join, "words": words, "many": many, "language": language, "hostile": hostile}[sys.argv[1]](*sys.argv[2:])
