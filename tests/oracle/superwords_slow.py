#!/usr/bin/env python3
"""superwords_slow.py - superword training and encoding, slow and obvious. A token is its bytes; a merge is a pair of tokens.

superbpe: stage 2 of SuperBPE (Liu et al., arXiv 2503.13423), as do_train_extend of the authors' fork of Hugging Face tokenizers
(github.com/alisawuffles/tokenizers-superbpe, trainer.rs) trains it:
  - Words are what the regex STAGE2 cuts a document into: its matches, and what lies between them.
  - The inherited merges are replayed on them in order, from bytes. A merge is skipped if its pair was never a candidate. A pair becomes a
    candidate in the step in which it appears, if it still occurs at the end of that step. So a merge is not skipped if its pair was a
    candidate and has disappeared since.
  - Then the most frequent candidate is merged, repeatedly. `aaa` has the pair (a, a) twice. Ties: the smallest (left, right) by number,
    where bytes are numbered in the order of their characters in GPT-2's table, and tokens follow in the order of the merges.
  - Never merged: a pair whose token has a colon before a space, or more than 4 words (non-empty parts between spaces).
  - The vocabulary has n_bytes bytes, the special tokens, inherited and new merges. In the fork, skipped merges do not count (`drop`), and
    the bytes are those of the text (n_bytes: None), as the authors give it no initial alphabet.
  - The list must make each token by one merge: else a pair can appear again, and the fork forgets where it was before.

runs and boundless: the two modes of github.com/kensho-technologies/fastboundlessbpe (arXiv 2604.05192; trainer.rs), without deletion:
  - Pass 1 merges the most frequent pair in pretokens, repeatedly. Equal neighbours do not overlap: `aaa` has (a, a) once, `aaaa` twice.
    Ties: the smallest (left, right), by bytes.
  - A run is a longest sequence of two or more eligible pretokens: UTF-8, with a letter, and one token when encoded by themselves.
  - Pass 2 merges pairs of tokens in runs by the same rule. runs: until the vocabulary has M more tokens. boundless: a supermerge must be
    more frequent than the next merge of pass 1, else that is next; until the vocabulary is as large as after pass 1. Merges of pass 1
    that had no turn are not in the model. When no pair is left in the runs, training ends, even if merges of pass 1 are left.
  - Pass 2 makes at least one merge, if there is a pair.
  - Encoding: merge the bytes of each pretoken, then the tokens of each sequence of pretokens that are one token, if some supermerge has
    it as a part. The first merge in the list that applies is next.
  - There, the vocabulary begins with 243 bytes: those that UTF-8 has.

The text is documents between <|endoftext|>; with --lines, each line of them, with its newline, is a document.

    superwords_slow.py superbpe -v V --init MERGES [--lines] [--drop] TEXT
                        {"merges": [[left, right], ...], "counts": [of new merges], "skipped": [indices of inherited merges]}
    superwords_slow.py words -v V [-e REGEX] TEXT
                        {"merges": ..., "counts": ...}
    superwords_slow.py runs -v V --super M [-e REGEX] TEXT
    superwords_slow.py boundless -v V [-e REGEX] TEXT
                        {"merges": ..., "counts": ..., "supermerges": ..., "supercounts": ...}
    superwords_slow.py encode MODEL [-e REGEX] TEXT
                        the ids of each document, a line per document

MERGES is a file of bpe train -f merges. V counts 256 bytes (--bytes) and one special token (--special). MODEL is a file of
fastboundlessbpe, a tokenizer.json with a Split, or what the other commands print; the last has no ids, so tokens are printed. Tokens are
spelled by GPT-2's table.
"""
import argparse
import functools
import heapq
import json
import os
import re
import sys
from collections import Counter, defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

try:
    import regex
except ImportError:
    regex = None

STAGE2 = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WORDS_MAX = 4
NUMBER = {bytes([b]): i for i, b in enumerate(sorted(range(256), key=lambda b: lib.SPELLED[b]))}


# ---- Pretokens ----

def documents_of(text, lines=False):
    """The documents of a text, as bytes."""
    documents = text.split(lib.EOT.encode())
    return [line for d in documents for line in re.findall(rb"[^\n]*\n|[^\n]+", d)] if lines else documents


def pretokens_of(documents, pattern):
    """A list of pretokens for each document: the matches of the pattern and what lies between them. By the package regex, or by pretok."""
    if regex is None:
        asked = "".join(f"{pattern.encode().hex()} {d.hex()}\n" for d in documents if d)
        answers = iter(lib.must("pretok", "--lines", data=asked.encode()).splitlines())
        return [cut(d, [int(n) for n in next(answers).split()]) if d else [] for d in documents]
    compiled, out = regex.compile(pattern), []
    for document in (d.decode() for d in documents):
        edges = sorted({edge for m in compiled.finditer(document) for edge in m.span()} | {0, len(document)})
        out.append([document[a:b].encode() for a, b in zip(edges, edges[1:])])
    return out


def cut(document, lengths):
    out, at = [], 0
    for n in lengths:
        out.append(document[at:at + n])
        at += n
    assert at == len(document)
    return out


def has_letter(token):
    """Whether a token is valid UTF-8 with a letter."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return False
    return bool(regex.search(r"\p{L}", text)) if regex else any(first <= ord(c) <= last for c in text for first, last in letters())


@functools.lru_cache()
def letters():
    """(first, last) of each range of letters, as pretok has them."""
    ranges = [line.split() for line in lib.must("pretok", "--classes").decode().splitlines()]
    return [(int(first), int(last)) for first, last, kind in ranges if kind == "1"]


# ---- Sequences of tokens in which pairs are merged ----

class Sequences:
    """words: {sequence of tokens: count}. number: {pair: number of its occurrences}; where: {pair: positions of its left tokens}."""

    def __init__(self, words, once):
        self.once = once
        self.token, self.previous, self.next, self.weight = [], [], [], []
        self.number, self.where = Counter(), defaultdict(set)
        for word, count in words.items():
            for i, token in enumerate(word):
                at = len(self.token)
                self.token.append(token)
                self.previous.append(at - 1 if i else None)
                self.next.append(at + 1 if i + 1 < len(word) else None)
                self.weight.append(count)
        for at, after in enumerate(self.next):
            if after is not None:
                self.add(at)

    def pair(self, at):
        return self.token[at], self.token[self.next[at]]

    def add(self, at):
        self.where[self.pair(at)].add(at)
        self.number[self.pair(at)] += self.weight[at]

    def remove(self, at):
        pair = self.pair(at)
        self.where[pair].remove(at)
        self.number[pair] -= self.weight[at]

    def count(self, pair):
        """How often the pair occurs; once: without overlaps."""
        if not self.once or pair[0] != pair[1]:
            return self.number[pair]
        total = 0
        for first in self.where[pair]:
            if self.previous[first] in self.where[pair]:
                continue
            at, n = first, 0
            while at in self.where[pair]:
                at, n = self.next[at], n + 1
            total += (n + 1) // 2 * self.weight[first]
        return total

    def merge(self, pair):
        """Merges a pair from left to right. Returns the pairs that appeared."""
        joined, appeared = pair[0] + pair[1], set()
        for at in sorted(self.where[pair]):
            if at not in self.where[pair]:  # it overlapped with the one before
                continue
            right = self.next[at]
            before, after = self.previous[at], self.next[right]
            for i in (before, at, right if after is not None else None):
                if i is not None:
                    self.remove(i)
            self.token[at], self.next[at] = joined, after
            if after is not None:
                self.previous[after] = at
                self.add(at)
                appeared.add(self.pair(at))
            if before is not None:
                self.add(before)
                appeared.add(self.pair(before))
        return {p for p in appeared if self.number[p] > 0}

    def sequence(self):
        """The tokens of the first sequence."""
        out, at = [], 0 if self.token else None
        while at is not None:
            out.append(self.token[at])
            at = self.next[at]
        return out


class Candidates:
    """The pairs that may be merged. order(pair) decides between equally frequent ones."""

    def __init__(self, sequences, order):
        self.sequences, self.order, self.heap = sequences, order, []

    def push(self, pairs):
        for pair in pairs:
            heapq.heappush(self.heap, (-self.sequences.count(pair), self.order(pair), pair))

    def first(self):
        """(count, pair) of the most frequent pair; (-1, None) if none is left. Counts only fall after a pair has appeared."""
        while self.heap:
            count, order, pair = self.heap[0]
            now = self.sequences.count(pair)
            if now == -count and now:
                return now, pair
            heapq.heappop(self.heap)
            if now:
                heapq.heappush(self.heap, (-now, order, pair))
        return -1, None

    def drop(self):
        heapq.heappop(self.heap)


def in_bytes(words):
    return {tuple(bytes([b]) for b in word): count for word, count in words.items()}


# ---- SuperBPE ----

def vetoed(token):
    return b": " in token or sum(part != b"" for part in token.split(b" ")) > WORDS_MAX


def superbpe(words, inherited, vocab_size, n_bytes=256, n_special=1, drop=False, min_frequency=1):
    """words: {word: count}. Returns (merges, counts of the new ones, indices of the inherited ones that were skipped). The merges are the
    inherited ones (drop: without those that were skipped), then the new ones."""
    if len({left + right for left, right in inherited}) < len(inherited):
        raise ValueError("two inherited merges make the same token")
    sequences = Sequences(in_bytes(words), once=False)
    number = dict(NUMBER)
    candidates = {pair for pair, n in sequences.number.items() if n}
    merges, skipped = [], []
    for i, pair in enumerate(inherited):
        if pair in candidates:
            candidates.remove(pair)
            number[pair[0] + pair[1]] = len(number)
            candidates |= sequences.merge(pair)
            merges.append(pair)
        else:
            skipped.append(i)
            merges += [] if drop else [pair]
    size = (len({b for word in words for b in word}) if n_bytes is None else n_bytes) + n_special + len(merges)
    best, counts = Candidates(sequences, lambda pair: (number[pair[0]], number[pair[1]])), []
    best.push(candidates)
    while size < vocab_size:
        count, pair = best.first()
        if count < max(min_frequency, 1):
            break
        best.drop()
        if vetoed(pair[0] + pair[1]):
            continue
        number[pair[0] + pair[1]] = len(number)
        merges.append(pair)
        counts.append(count)
        size += 1
        best.push(sequences.merge(pair))
    return merges, counts, skipped


# ---- Words, runs and boundless ----

def train_words(words, n_merges):
    """Pass 1. Returns (merges, counts)."""
    sequences = Sequences(in_bytes(words), once=True)
    best, merges, counts = Candidates(sequences, lambda pair: pair), [], []
    best.push(list(sequences.where))
    while len(merges) < n_merges:
        count, pair = best.first()
        if pair is None:
            break
        merges.append(pair)
        counts.append(count)
        best.drop()
        best.push(sequences.merge(pair))
    return merges, counts


def eligible_tokens(merges, pattern):
    """The tokens that a run can have: each has a letter and is one token when it is encoded by itself."""
    tokens = [t for t in [*NUMBER, *(left + right for left, right in merges)] if has_letter(t)]
    model = Model(merges, pattern)
    return {t for t, pretokens in zip(tokens, pretokens_of(tokens, pattern)) if [model.word(p) for p in pretokens] == [[t]]}


def runs_of(documents, eligible):
    """Documents, as lists of pretokens -> {run: count}."""
    runs = Counter()
    for pretokens in documents:
        run = []
        for pretoken in [*pretokens, None]:
            if pretoken in eligible:
                run.append(pretoken)
                continue
            if len(run) > 1:
                runs[tuple(run)] += 1
            run = []
    return runs


def train_runs(runs, words, n_super=None):
    """Pass 2; words: the (merges, counts) of pass 1. n_super: the number of new tokens; None: merges compete. Returns (supermerges, counts,
    how many merges of pass 1 had their turn)."""
    sequences = Sequences(runs, once=True)
    best, merges, counts = Candidates(sequences, lambda pair: pair), [], []
    best.push(list(sequences.where))
    joined = [left + right for left, right in words[0]]
    turn = 0 if n_super is None else len(joined)
    tokens, target = set(joined[:turn]), len(joined) + (n_super or 0)
    while True:
        count, pair = best.first()
        if turn < len(joined) and count <= words[1][turn]:
            tokens.add(joined[turn])
            turn += 1
        elif pair:
            merges.append(pair)
            counts.append(count)
            tokens.add(pair[0] + pair[1])
            best.drop()
            best.push(sequences.merge(pair))
        if best.first()[1] is None or len(tokens) >= target:
            return merges, counts, turn


# ---- Encoding ----

def rank_of(merges):
    return {pair: i for i, pair in reversed(list(enumerate(merges)))}


def apply_merges(tokens, rank):
    """Merges the pair of lowest rank wherever it is, from left to right, until there is none. Each part of a merge is a byte, or made by an
    earlier merge."""
    sequences = Sequences({tuple(tokens): 1}, once=False)
    todo = [(rank[pair], pair) for pair in sequences.number if pair in rank]
    heapq.heapify(todo)
    while todo:
        for pair in sequences.merge(heapq.heappop(todo)[1]):
            if pair in rank:
                heapq.heappush(todo, (rank[pair], pair))
    return sequences.sequence()


class Model:
    """Merges, a pattern, and supermerges if pretokens that are one token can be merged. ids: {token: id}, or None."""

    def __init__(self, merges, pattern, supermerges=(), ids=None):
        self.rank, self.super_rank, self.pattern, self.ids = rank_of(merges), rank_of(supermerges), pattern, ids
        self.parts = {token for pair in supermerges for token in pair}
        self.known = {}

    def word(self, word):
        if word not in self.known:
            self.known[word] = apply_merges([bytes([b]) for b in word], self.rank)
        return self.known[word]

    def encode(self, document):
        """The tokens of a document."""
        out, run = [], []
        for pretoken in [*pretokens_of([document], self.pattern)[0], None]:
            tokens = [] if pretoken is None else self.word(pretoken)
            if len(tokens) == 1 and tokens[0] in self.parts:
                run += tokens
                continue
            out += apply_merges(run, self.super_rank) + tokens
            run = []
        return out


# ---- The command ----

def spelled(merges):
    return [[lib.spell(left), lib.spell(right)] for left, right in merges]


def unspelled(merges):
    return [(lib.unspell(left), lib.unspell(right)) for left, right in merges]


def read_merges(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    return unspelled([line.split(" ") for line in lines[lines[:1] == ["#version: 0.2"]:]])


def read_boundless(path):
    """A file of fastboundlessbpe, "BoundlessBPE v2"."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")

    def merges(section):
        at = lines.index(section) if section in lines else None
        rows = lines[at + 4:at + 4 + int(lines[at + 3])] if at else []
        return unspelled([row.split(" ")[1:3] for row in rows])
    ids = {lib.unspell(row.split(" ")[1]): int(row.split(" ")[0]) for row in lines[3:3 + int(lines[2])]}
    config = json.loads(lines[lines.index("words") + 1])
    return Model(merges("words"), config["main_regex"], merges("superwords"), ids)


def read_model(path, pattern):
    """A file of fastboundlessbpe, a tokenizer.json with a Split, or what this program prints."""
    with open(path, encoding="utf-8") as f:
        if f.read(12) == "BoundlessBPE":
            return read_boundless(path)
        f.seek(0)
        m = json.load(f)
    if "model" not in m:
        return Model(unspelled(m["merges"]), pattern or (GPT2 if "supermerges" in m else STAGE2), unspelled(m.get("supermerges", [])))
    added = {t["content"] for t in m["added_tokens"]}
    ids = {lib.unspell(t): i for t, i in m["model"]["vocab"].items() if t not in added}
    merges = [pair.split(" ") if isinstance(pair, str) else pair for pair in m["model"]["merges"]]
    return Model(unspelled(merges), m["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"], ids=ids)


def train(o, documents):
    """What the command prints: options and documents -> {"merges": ...}."""
    text = pretokens_of(documents, o.regex or (STAGE2 if o.command == "superbpe" else GPT2))
    words = Counter(pretoken for pretokens in text for pretoken in pretokens)
    n_bytes = None if o.bytes == "seen" else int(o.bytes)
    if o.command == "superbpe":
        merges, counts, skipped = superbpe(words, read_merges(o.init), o.vocab_size, n_bytes, o.special, o.drop, o.min_frequency)
        return {"merges": spelled(merges), "skipped": skipped, "counts": counts}
    merges, counts = train_words(words, o.vocab_size - n_bytes - o.special)
    out = {"merges": spelled(merges), "counts": counts}
    if o.command == "words":
        return out
    runs = runs_of(text, eligible_tokens(merges, o.regex or GPT2))
    supermerges, supercounts, turn = train_runs(runs, (merges, counts), o.super if o.command == "runs" else None)
    return {"merges": out["merges"][:turn], "counts": counts[:turn], "supermerges": spelled(supermerges), "supercounts": supercounts}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("command", choices=["superbpe", "words", "runs", "boundless", "encode"])
    p.add_argument("model", nargs="?")
    p.add_argument("text")
    p.add_argument("-v", "--vocab-size", type=int)
    p.add_argument("-e", "--regex", help="default: STAGE2 for superbpe, and to encode by its models; else gpt2")
    p.add_argument("--init", help="the merges of stage 1")
    p.add_argument("--lines", action="store_true")
    p.add_argument("--drop", action="store_true")
    p.add_argument("--super", type=int, help="the number of supermerges")
    p.add_argument("--bytes", default="256", help="how many bytes the vocabulary has, or seen: those of the text")
    p.add_argument("--special", type=int, default=1, help="the number of special tokens")
    p.add_argument("--min-frequency", type=int, default=1)
    o = p.parse_args()
    documents = documents_of(lib.read(o.text), o.lines)
    if o.command != "encode":
        print(json.dumps(train(o, documents), ensure_ascii=False))
        return
    model = read_model(o.model, o.regex)
    for document in documents:
        print(*[lib.spell(t) if model.ids is None else model.ids[t] for t in model.encode(document)])


if __name__ == "__main__":
    main()
