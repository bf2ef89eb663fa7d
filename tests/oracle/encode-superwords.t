#!/usr/bin/env python3
"""encode-superwords.t - bpe-encode with random BoundlessBPE models produces the ids of an encoder that is slow and obvious: from documents,
with special tokens between them and inside, in chunks of any size, also by a process for each, and in memory. bpe describe
counts these ids, and those of the first stage.

The slow encoder applies one pair at a time, wherever it occurs, as fastboundlessbpe does (src/tokenizer.rs): first in each pretoken by
itself, then in each sequence of pretokens that are one token. Pretokens are from pretok, which is tested by itself.

    SEED     random seed (printed); MODELS: number of models (8)
"""
import ctypes
import json
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

RNG = random.Random(lib.seed())
MODELS = int(os.environ.get("MODELS") or 8)
REGEXES = [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", None, r" ?\p{L}+|\s|[^\s\p{L}]+", r"[\s\S]+"]
O200K = next(line.split("\t")[1] for line in lib.must("pretok", "--regexes").decode().splitlines() if line.startswith("o200k\t"))
NEVER = [0xC0, 0xC1, *range(0xF5, 0x100)]
bpe = None if lib.sanitized() else ctypes.CDLL(f"{lib.BUILD}/libbpetools.so")
SPECIAL = [lib.EOT, "<a b>", " x"]


def pretokens_of(documents, regex):
    """The pretokens of each document."""
    asked = "".join(f"{(regex or O200K).encode().hex()} {d.hex()}\n" for d in documents if d)
    answers = iter(lib.must("pretok", "--lines", data=asked.encode()).splitlines())
    return [cut(d, next(answers).split()) if d else [] for d in documents]


def cut(document, lengths):
    out, at = [], 0
    for n in map(int, lengths):
        out.append(document[at:at + n])
        at += n
    return out


def merge(tokens, pair):
    out, at = [], 0
    while at < len(tokens):
        n = 2 if tuple(tokens[at:at + 2]) == pair else 1
        out.append(b"".join(tokens[at:at + n]))
        at += n
    return out


def apply(tokens, merges):
    """merges: {pair: rank}."""
    while True:
        pairs = [pair for pair in zip(tokens, tokens[1:]) if pair in merges]
        if not pairs:
            return tokens
        tokens = merge(tokens, min(pairs, key=merges.get))


class Slow:
    def __init__(self, regex):
        self.regex, self.words, self.supers, self.known = regex, {}, {}, {}

    def word(self, pretoken):
        if pretoken not in self.known:
            self.known[pretoken] = apply([bytes([b]) for b in pretoken], self.words)
        return self.known[pretoken]

    def runs(self, pretokens):
        """Lists of tokens, and whether they may be merged on."""
        out = []
        for tokens in map(self.word, pretokens):
            one = len(tokens) == 1
            if one and out and out[-1][1]:
                out[-1][0].extend(tokens)
            else:
                out.append((list(tokens), one))
        return out

    def encode(self, pretokens):
        return [t for tokens, one in self.runs(pretokens) for t in (apply(tokens, self.supers) if one else tokens)]


def learn(slow, pretokens):
    """Random merges, of pairs that occur; each makes a new token."""
    made = {bytes([b]) for b in range(256)}
    for _ in range(10 if max(map(len, pretokens)) > 1000 else RNG.choice([30, 100, 200])):
        slow.known = {}
        tokens = slow.word(RNG.choice(pretokens))
        pairs = [p for p in zip(tokens, tokens[1:]) if p[0] + p[1] not in made]
        if pairs:
            pair = RNG.choice(pairs)
            slow.words[pair] = len(slow.words)
            made.add(pair[0] + pair[1])
    slow.known = {}
    for _ in range(RNG.choice([10, 60, 200])):
        at = RNG.randrange(len(pretokens))
        runs = [tokens for tokens, one in slow.runs(pretokens[at:at + 30]) if one]
        tokens = apply(RNG.choice(runs), slow.supers) if runs else []
        pairs = [p for p in zip(tokens, tokens[1:]) if p[0] + p[1] not in made and not p[0].endswith(b"\n")]
        if pairs:
            pair = RNG.choice(pairs)
            slow.supers[pair] = len(slow.supers)
            made.add(pair[0] + pair[1])


def write(slow, path):
    """Writes the model, with ids in some order; returns {token or special token: id}."""
    tokens = [bytes([b]) for b in range(256) if b not in NEVER or RNG.random() < 0.1]
    joined = [a + b for a, b in slow.supers]
    tokens += [a + b for a, b in slow.words] + joined
    if RNG.random() < 0.5:
        RNG.shuffle(tokens)
    if RNG.random() < 0.2:
        tokens += [b"unused%d" % i for i in range(66000)]
    special = RNG.sample(SPECIAL, RNG.randint(0, len(SPECIAL)))
    ids = {t: i for i, t in enumerate([*tokens, *special])}

    def section(name, merges):
        config = {"main_regex": slow.regex, "merge_pattern": r"\p{L}", "tau": 1.1}
        return [name, json.dumps(config), "merges", str(len(merges)), *(f"{r} {lib.spell(a)} {lib.spell(b)} 1 0" for (a, b), r in merges.items()),
                "deletions", "0"]
    lines = ["BoundlessBPE v2 boundless", "vocabulary", str(len(tokens)), *(f"{ids[t]} {lib.spell(t)} 0 {int(t in joined)}" for t in tokens),
             "special_tokens", str(len(special)), *(f"{ids[s]} {s}" for s in special),
             *section("words", slow.words), *section("superwords", slow.supers)]
    lib.write(path, "".join(line + "\n" for line in lines))
    return ids, special


def random_text():
    letters = RNG.sample("abcdefghAB中éß", RNG.choice([1, 2, 3, 6]))
    words = ["".join(RNG.choices(letters, k=RNG.randint(1, 4))) for _ in range(RNG.choice([3, 10, 40]))]
    between = RNG.choices([" ", " ", " ", "", "  ", "\n", "\n\n", ", ", "'s ", "7 ", " 1", ".", "\t", "🩩", *SPECIAL], k=12)
    text = "".join(RNG.choice(words) + RNG.choice(between) for _ in range(RNG.choice([3, 100, 600])))
    return text + RNG.choice(words) * RNG.choice([0, 0, 0, 600])


def wanted(slow, ids, special, text):
    parts = re.split(f"({'|'.join(map(re.escape, sorted(special, key=len, reverse=True)))})", text) if special else [text]
    pretokens = pretokens_of([b"" if p in special else p.encode() for p in parts], slow.regex)
    return [i for p, words in zip(parts, pretokens) for i in ([ids[p]] if p in special else [ids[t] for t in slow.encode(words)])]


def encode(tmp, *args, data=None):
    return list(map(int, lib.must("bpe-encode", "-m", f"{tmp}/model", "-f", "text", *args, data=data).split()))


def encode_in_memory(tmp, text):
    """By the library."""
    bpe.bpe_open.restype, bpe.bpe_encode.restype = ctypes.c_void_p, ctypes.c_ssize_t
    tokenizer, room = ctypes.c_void_p(bpe.bpe_open(f"{tmp}/model".encode(), None, None)), (ctypes.c_uint32 * (len(text) + 1))()
    n = bpe.bpe_encode(tokenizer, text, ctypes.c_size_t(len(text)), 0, room, ctypes.c_size_t(len(text)))
    bpe.bpe_close(tokenizer)
    return list(room[:n])


def encode_apart(tmp, size):
    """By one process for each chunk."""
    chunks = lib.must("bpe-chunk", "-m", f"{tmp}/model", "-b", str(size), "--inline", f"{tmp}/text")
    return [i for chunk in re.findall(rb"[^\n]*\n", chunks) for i in encode(tmp, data=chunk)]


def described(tmp):
    """The lines of bpe describe that have figures, without commas in the numbers."""
    out = lib.must("bpe", "describe", "-m", f"{tmp}/model", f"{tmp}/text").decode()
    return [re.sub("(?<=[0-9]),(?=[0-9])", "", line) for line in out.splitlines() if re.match("tokens|without superwords|superwords", line)]


def wanted_figures(slow, ids, special, text, want):
    """The same, from the ids of the text."""
    joined, none = {ids[a + b] for a, b in slow.supers}, {ids[s] for s in special}
    parts = re.split(f"{'|'.join(map(re.escape, sorted(special, key=len, reverse=True)))}", text) if special else [text]
    words = [w for found in pretokens_of([p.encode() for p in parts], slow.regex) for w in found]
    n, n_first, size = sum(i not in none for i in want), sum(len(slow.word(w)) for w in words), sum(map(len, words))
    used = sum(i in joined for i in want)
    if not n:
        return []
    lines = [f"{'tokens':20} {n}, {size / n:.2f} bytes per token"]
    return lines if not slow.supers else [
        *lines, f"{'without superwords':20} {n_first}, {size / n_first:.2f} bytes per token; superwords save {100 * (1 - n / n_first):.1f} %",
        f"{'superwords':20} {used}, {100 * used / n:.1f} % of the tokens"]


def check(i, tmp):
    regex = REGEXES[i % len(REGEXES)]
    slow, texts = Slow(regex), [random_text() for _ in range(4)]
    learn(slow, [p for words in pretokens_of([t.encode() for t in texts], regex) for p in words])
    ids, special = write(slow, f"{tmp}/model")
    bad = []
    for text in texts:
        want = wanted(slow, ids, special, text)
        lib.write(f"{tmp}/text", text)
        size = str(RNG.choice([1, 5, 30, 1000]))
        chunks = lib.must("bpe-chunk", "-m", f"{tmp}/model", "-b", size, *RNG.choice([["--inline"], []]), f"{tmp}/text")
        got = {"text": encode(tmp, f"{tmp}/text"), f"chunks of {size}": encode(tmp, data=chunks),
               "in memory": want if bpe is None else encode_in_memory(tmp, text.encode()), "chunks apart": encode_apart(tmp, len(text) // 5 + 1),
               "JSON Lines": encode(tmp, "--jsonl", data=json.dumps({"text": text}).encode() + b"\n")}
        for name, g in got.items():
            if g != want:
                at = lib.first_difference(g, want)
                bad.append(f"{name}: id {at}: {g[at:at + 5]}, not {want[at:at + 5]}")
        figures, right = described(tmp), wanted_figures(slow, ids, special, text, want)
        if figures != right:
            bad.append(f"bpe describe: {figures}, not {right}")
        back = lib.must("bpe-decode", "-m", f"{tmp}/model", "-f", "text", data=" ".join(map(str, want)).encode())
        if back != text.encode():
            bad.append("bpe-decode does not restore the text")
    lib.ok(not bad, f"model {i}: {regex or 'o200k'}: {len(slow.words)} merges of words, {len(slow.supers)} of superwords", "\n".join(bad[:5]))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        lib.rounds(MODELS, lambda i: check(i, tmp))
    return lib.done()


sys.exit(main())
