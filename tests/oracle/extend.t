#!/usr/bin/env python3
"""extend.t - bpe-merge --init with random models and words appends the merges and tokens of a slow, obvious trainer.

The trainer is that of tokenizer-extension (Purason et al. 2025): words start as the model's tokens, the most frequent pair is merged, of equal
ones the smallest strings, and a string that is a token keeps its id. Beyond that, it makes no token that the extended model would not make.

    SEED     random seed (printed); MODELS: number of models (40)
"""
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import random_characters  # noqa: E402
import random_models  # noqa: E402
import token_limits  # noqa: E402

RNG = random.Random(lib.seed())
MODELS = int(os.environ.get("MODELS") or 40)
META = random_characters.META
TIES = ["smallest", "smallest", "greatest", "hf", "id", "lex"]


class Vocabulary:
    """A model's tokens and merges, as tokenizer.json spells them: {token: id}, [(left, right), ...]; inert: tokens that stand for bytes or unknown
    characters; special: texts of added tokens; bytes: those of a token."""

    def __init__(self, vocab, merges, inert=(), special=(), of_bytes=lib.unspell):
        self.vocab, self.merges, self.inert, self.special, self.bytes = dict(vocab), list(merges), set(inert), set(special), of_bytes
        self.rank = {pair: i for i, pair in enumerate(self.merges)}

    def word(self, text):
        """The tokens of a part of a pretoken, which starts as its characters."""
        tokens = list(text)
        while True:
            ranks = [(self.rank[pair], i) for i, pair in enumerate(zip(tokens, tokens[1:])) if pair in self.rank]
            if not ranks:
                return tokens
            i = min(ranks)[1]
            tokens[i:i + 2] = [tokens[i] + tokens[i + 1]]

    def add(self, pair):
        self.rank.setdefault(pair, len(self.merges))
        self.merges.append(pair)


def preference(tie, v, pair):
    """Of equally frequent pairs, the one with the smallest preference is merged."""
    if tie in ("hf", "id"):
        return tuple(v.vocab[s] for s in pair)
    strings = pair
    if tie == "lex":
        strings = [v.bytes(s).decode("latin-1") for s in pair]
    return tuple(strings) if tie == "smallest" else tuple(tuple(-ord(c) for c in s) + (1,) for s in strings)


def extend(v, words, counts, next_id, n_new, tie, min_frequency, limits):
    """Extends v by up to n_new tokens, from next_id on. words: the pretokens as lists of tokens, which change. Returns the new merges."""
    known, barred = len(v.merges), set()
    while n_new:
        pairs = Counter()
        for tokens, count in zip(words, counts):
            for pair in zip(tokens, tokens[1:]):
                pairs[pair] += count
        pairs = {p: n for p, n in pairs.items() if p not in barred and not v.inert & set(p) and
                 limits.allow(v.bytes(p[0] + p[1]))}
        best = min(pairs, key=lambda p: (-pairs[p], preference(tie, v, p)), default=None)
        if best is None or pairs[best] < min_frequency:
            break
        string = best[0] + best[1]
        if string not in v.vocab:
            trial = Vocabulary(v.vocab, v.merges + [best])
            if string in v.special or trial.word(string) != [string]:
                barred.add(best)
                continue
            v.vocab[string] = next_id
            next_id, n_new = next_id + 1, n_new - 1
        if best not in v.rank:
            v.add(best)
        for tokens in words:
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == best:
                    tokens[i:i + 2] = [string]
                i += 1
    return v.merges[known:]


def compare(name, path, v, words, counts, sum_path, ids, meta=""):
    """Extends the model at `path` with random options, and compares."""
    tie, n_new, min_frequency = RNG.choice(TIES), RNG.choice([0, 1, 5, 30, 1000]), RNG.choice([0, 0, 2, 3])
    limits, known = token_limits.choose(RNG, [v.bytes("".join(word)) for word in words]), list(v.merges)
    want = extend(v, words, counts, max(ids) + 1, n_new, tie, min_frequency, limits)
    args = ["-v", str(len(set(ids)) + n_new), "--init", path] + ["--tie", tie] * (tie != "smallest" or RNG.random() < 0.5)
    args += ["--min-frequency", str(min_frequency)] * (min_frequency > 0)
    args += limits.options(f"{path}.veto", meta)
    whole = lib.must("bpe-merge", *args, sum_path)
    got, added = json.loads(whole)["model"], added_ids(whole)
    # Added tokens that were not keys must be, if Hugging Face would number them otherwise.
    vocab = {t: n for t, n in got["vocab"].items() if t in v.vocab or added.get(t) != n}
    read = added_ids(lib.must("bpe-model", data=whole))
    merges = [tuple(p.split(" ") if isinstance(p, str) else p) for p in got["merges"]]
    new = merges[len(known):]
    at = lib.first_difference(new, want)
    lib.ok(merges[:len(known)] == known and new == want and vocab == v.vocab and read == added,
           f"{name}, {' '.join(args[:2] + args[4:])}: {len(want)} merges",
           f"merge {at}: {new[at:at + 3]}, not {want[at:at + 3]}; {set(vocab.items()) ^ set(v.vocab.items())}")
    if RNG.random() < 0.5:
        last = max(n for t, n in v.vocab.items() if t not in added and n <= max(ids))
        special_last(args + [sum_path], got, added, last + 1, max(ids) + 1)


def added_ids(model):
    return {t["content"]: t["id"] for t in json.loads(model)["added_tokens"]}


def special_last(args, without, added, first, end):
    """Runs bpe-merge again with --special-last: the ids from `first` to `end`, the model's last added tokens, come after the new ones."""
    n_new = max(max(without["vocab"].values()), *added.values(), end - 1) + 1 - end
    new_id = lambda n: n if n < first else n + n_new if n < end else n - (end - first)  # noqa: E731
    whole = lib.must("bpe-merge", "--special-last", *args)
    got = json.loads(whole)["model"]
    want = {t: new_id(n) for t, n in without["vocab"].items() if t not in added}
    lib.ok(got["merges"] == without["merges"] and {t: n for t, n in got["vocab"].items() if t not in added} == want and
           added_ids(whole) == added_ids(lib.must("bpe-model", data=whole)) == {t: new_id(n) for t, n in added.items()},
           "  and with --special-last", f"{set(got['vocab'].items()) ^ set(want.items())}, {added_ids(whole)}")


def of_bytes(i, tmp):
    kind, wide = random_models.KINDS[i % 3], i % 4 == 0
    # With few letters, tokens and words are often made in several ways.
    letters = RNG.choice([RNG.sample(range(97, 123), RNG.choice([1, 2, 2, 2, 3, 26])), "aé".encode(), "éèê".encode(), "a中丮".encode()])
    model, merges = random_models.make_model(RNG, kind, letters, wide, (5, 12, 20, 60))
    path = f"{tmp}/{i}.{'tiktoken' if kind == 'ranks' else 'json'}"
    random_models.write(model, merges, path)
    if kind == "ranks":  # from now on, each token is made by one merge
        lib.must("bpe-model", "-p", "gpt2", "-o", f"{tmp}/{i}.json", path)
        path = f"{tmp}/{i}.json"
    ids = list(model.token.values())
    special = add_special(path, ids) if RNG.random() < 0.5 else {}
    of = json.loads(lib.read(path))["model"]
    tokens = [t for t in model.token if t.isalpha() and t.isascii()]
    longest = RNG.choice([8, 15, 40])
    counts = Counter(w[:longest].decode(errors="ignore").encode() for _ in range(RNG.choice([5, 40, 150])) for w in [random_models.make_word(RNG, letters, tokens)]
                     for _ in range(RNG.choice([1, 1, 2, 5])))
    del counts[b" "]
    lib.write(f"{tmp}/text", b"".join(counts.elements()))
    lib.write(f"{tmp}/sum", lib.must("sh", "-c", f"bpe-chunk -m '{path}' '{tmp}/text' | bpe-count | bpe-sum"))
    words = [[lib.spell(model.bytes[t]) for t in model.word(w)] for w in counts]
    compare(f"model {i}: {kind}{', wide' * wide}", path, Vocabulary(of["vocab"], map(tuple, of["merges"]), special=special), words, counts.values(),
            f"{tmp}/sum", ids)


def add_special(path, ids):
    """Adds some special tokens to the end of a model, in the vocabulary or not; appends their ids. Returns their texts."""
    whole = json.loads(lib.read(path))
    texts = [f"<|{n}|>" for n in range(RNG.randint(1, 3))]
    in_vocab = RNG.random() < 0.5 or len(whole["model"]["vocab"]) <= max(ids)
    for text in texts:
        ids.append(max(ids) + 1)
        whole["added_tokens"].append({"id": ids[-1], "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                                      "special": True})
        whole["model"]["vocab"].update({text: ids[-1]} if in_vocab else {})
    lib.write(path, json.dumps(whole))
    return texts


def words_of(model, text, first):
    """The pretokens of a text between added tokens: with SentencePiece's form of spaces, words, each with the spaces before it. first: as
    Model.stretch."""
    if model.form == "text":
        return [text]
    text = text.replace(" ", META)
    if model.form == "prepend" or (not text.startswith(META) and (model.form == "always" or (model.form == "first" and first))):
        text = META + text
    lines = r"|(?<=\n)(?=[^\W\d_])" * (not any(re.search(r"\n[^\W\d_]", t) for t in model.vocab) and not model.whole and
                                       ("\n" in model.vocab or model.bytes or not model.fuse))
    return [w for w in re.split(("(?=M)" if model.split else "(?=M)(?<!M)").replace("M", META) + lines, text) if w]


def joins_words(model):
    """Whether the model may make a token of several words."""
    return model.form != "text" and not model.split and (model.whole or any(re.search(f"[^{META}]{META}", "".join(m)) for m in model.merges))


def of_characters(i, tmp):
    model = random_characters.Model(RNG)
    while joins_words(model) or model.late:
        model = random_characters.Model(RNG)
    path, texts = f"{tmp}/{i}.json", Counter()
    lib.write(path, model.json())
    for _ in range(60):
        text = random_characters.make_text(RNG, model)
        for n, part in enumerate(re.split("|".join(map(re.escape, sorted(model.added, key=len, reverse=True))) or "(?!)", text)):
            for word in words_of(model, part, n == 0) if part else []:
                texts[word] += 1
        lib.write(f"{tmp}/text.{_}", text)
    names = " ".join(f"'{tmp}/text.{n}'" for n in range(60))
    lib.write(f"{tmp}/sum", lib.must("sh", "-c", f"bpe-chunk -m '{path}' {names} | bpe-count | bpe-sum"))
    inert = [t for t in model.vocab if t == model.unk or (model.bytes and re.fullmatch("<0x..>", t))]
    vocab = Vocabulary(model.vocab, model.merges, inert, model.added, str.encode)
    compare(f"model {i}: characters, {model.form}{', split' * model.split}", path, vocab, [model.word(t) for t in texts], texts.values(),
            f"{tmp}/sum", [*model.vocab.values(), *model.added.values()], META * (model.form != "text"))


def by_hand(tmp):
    """AB is a token that no merge of the model makes, but ABb is made from it."""
    model = random_models.Model({**{bytes([b]): b for b in range(256)}, b"AB": 256, b"ABb": 257}, {(256, ord("b")): (0, 257)}, [], "gpt2")
    random_models.write(model, [(b"AB", b"b")], f"{tmp}/m.json")
    special = json.loads(lib.read(f"{tmp}/m.json"))
    special["added_tokens"] = [{"id": 258, "content": "\u0120a", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}]
    lib.write(f"{tmp}/special.json", json.dumps(special))
    again, known = "AB\n" * 10 + "aABb\n" * 5, "a token is made again, then a merge of the model is repeated"
    for name, base, text, args, want in [
            # Then no pair is as frequent as was estimated for one new token: AB, 10 times.
            (known, "m", again, ["-v", "259"], ["A B", "a ABb"]),
            ("a token that would not be made, because a merge of the model acts first", "m", again, ["-v", "262", "--tie", "greatest"], ["A B", "a AB"]),
            ("a token spelled like a special token", "special", " abc", ["-v", "262", "--tie", "greatest"], ["b c", "a bc", "\u0120 abc"])]:
        lib.write(f"{tmp}/text", text)
        lib.write(f"{tmp}/sum", lib.must("sh", "-c", f"bpe-chunk -m '{tmp}/{base}.json' '{tmp}/text' | bpe-count | bpe-sum"))
        got = lib.must("bpe-merge", "--init", f"{tmp}/{base}.json", "-f", "merges", *args, f"{tmp}/sum").decode().splitlines()[1:]
        lib.ok(got == want, name, f"{got}, not {want}")


def refused(tmp):
    """SentencePiece models whose tokens join words."""
    model = random_characters.Model(random.Random(1))
    model.form, model.split, model.bytes, model.whole, model.unk, model.added, model.late = "prepend", False, False, False, "<unk>", {}, []
    model.vocab = {t: n for n, t in enumerate([META, "a", META + "a", META + META, "a" + META, "<unk>"])}
    lib.write(f"{tmp}/text", "aa a")
    for name, merges, whole, says in [
            ("a token of several words", [("a", META)], False, 'its token "a " has a space after another character'),
            ("ignore_merges", [(META, "a")], True, 'with "ignore_merges", a whole text can be one token'),
            ("no --init", [(META, META)], False, "bpe-merge can only extend it; add --init=MODEL")]:
        model.merges, model.whole = merges, whole
        lib.write(f"{tmp}/m.json", model.json())
        lib.write(f"{tmp}/sum", lib.must("sh", "-c", f"bpe-chunk -m '{tmp}/m.json' '{tmp}/text' | bpe-count | bpe-sum"))
        code, out, err = lib.run(["bpe-merge", "-v", "300", *["--init", f"{tmp}/m.json"] * (name != "no --init"), f"{tmp}/sum"])
        lib.ok(code == 64 and not out and says in err, f"{name}: refused", f"{code} {out} {err}")


def check(i, tmp):
    (of_characters if i % 4 == 3 else of_bytes)(i // 4 * 3 + i % 4, tmp)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        by_hand(tmp)
        refused(tmp)
        lib.rounds(MODELS, lambda i: check(i, tmp))
    return lib.done()


sys.exit(main())
