#!/usr/bin/env python3
"""Compares the merges of learn_fast with those of the programs whose tie rules it implements: Hugging Face tokenizers (hf), a trainer as
specified by Stanford CS336 (lex), and rustbpe (id). TAP output.

usage: learn_peers.py LEARN_FAST [--seed N] [--corpora N] [--vocab-size N] [TEXT_FILE]...

First come random corpora, then each text, split by Hugging Face's ByteLevel pre-tokenizer, with the given vocabulary size (32000).
"""
import argparse
import os
import random
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import token_limits  # noqa: E402
from lib import spell as spelled, unspell as unspelled  # noqa: E402


def ours(fast, tie, counts, vocab_size, min_frequency=0, max_token_len=0, special=(), utf8=False, vetoes=()):
    """The merges as pairs of bytes. counts: {bytes: count}."""
    limits = ["utf8"] * utf8 + [f"veto={veto.hex()}" for veto in vetoes]
    out = lib.must(fast, tie, str(vocab_size), str(min_frequency), str(max_token_len), *limits, *(s.encode().hex() for s in special),
                   data="".join(f"{n}\t{w.hex()}\n" for w, n in counts.items()).encode()).decode()
    return [tuple(bytes.fromhex(h) for h in line.split(" ")[:2]) for line in out.split("\n")[:-1]]


# ---- the peers ----

def hf_model(vocab_size, min_frequency, max_token_len, special, documents, whole):
    import json
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not whole)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, min_frequency=min_frequency, max_token_length=max_token_len or None,
        special_tokens=list(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tok.train_from_iterator(documents, trainer)
    return json.loads(tok.to_str())["model"]


def hf_merges(counts, vocab_size, min_frequency=0, max_token_len=0, special=()):
    """Every document is one pretoken."""
    documents = [w.decode() for w, n in counts.items() for _ in range(n)]
    model = hf_model(vocab_size, min_frequency, max_token_len, special, documents, True)
    return [(unspelled(a), unspelled(b)) for a, b in model["merges"]]


def cs336_merges(counts, vocab_size, n_special, allow=lambda token: True):
    words = {w: [bytes([b]) for b in w] for w in counts}
    merges = []
    while 256 + n_special + len(merges) < vocab_size:
        pairs = Counter()
        for w, tokens in words.items():
            for pair in zip(tokens, tokens[1:]):
                pairs[pair] += counts[w]
        pairs = {pair: n for pair, n in pairs.items() if allow(b"".join(pair))}
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        for w, tokens in words.items():
            out, i = [], 0
            while i < len(tokens):
                step = 2 if tuple(tokens[i:i + 2]) == best else 1
                out.append(b"".join(tokens[i:i + step]))
                i += step
            words[w] = out
    return merges


def rustbpe_merges(counts, vocab_size):
    """Every document is one pretoken. The merges are in the order of the ranks, which also determine the two halves of each."""
    import rustbpe
    tok = rustbpe.Tokenizer()
    documents = [w.decode() for w, n in counts.items() for _ in range(n)]
    tok.train_from_iterator(iter(documents), vocab_size, pattern=r"[\s\S]+")
    ranks = {bytes(token): rank for token, rank in tok.get_mergeable_ranks()}
    merges = []
    for token in sorted(ranks, key=ranks.get)[256:]:
        parts = [bytes([b]) for b in token]
        while len(parts) > 2:
            best = min(range(len(parts) - 1), key=lambda i: (ranks.get(parts[i] + parts[i + 1], len(ranks)), i))
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        merges.append(tuple(parts))
    return merges


# ---- corpora ----

def random_counts(rng):
    """Pretokens of a few characters, with runs; small and equal counts."""
    letters = rng.sample(["a", "b", "c", " ", "\n", "é", "-", "中"], rng.randint(1, 4))
    counts = {}
    for _ in range(rng.randint(1, 12)):
        length = rng.randint(1, rng.choice([4, 8, 30]))
        word = rng.choice(letters)
        while len(word) < length:
            word += word[-1] if rng.random() < 0.3 else rng.choice(letters)
        counts[word.encode()] = rng.randint(1, rng.choice([1, 3, 12]))
    return counts


def random_special(rng, counts):
    """Special tokens, many of them part of the spelling of a pretoken, so that a merge may have the same spelling."""
    special = []
    for _ in range(rng.choice([0, 0, 1, 2, 4])):
        word = spelled(rng.choice(list(counts)))
        start = rng.randrange(len(word))
        special.append(rng.choice([word[start:start + rng.randint(1, 6)], f"<{rng.randint(1, 3)}>"]))
    return list(dict.fromkeys(special))


def compare(name, rng, n_corpora, one):
    """one(rng) returns our merges, theirs, and a description to print when they differ."""
    bad = n_merges = 0
    for i in range(n_corpora):
        got, want, case = one(rng)
        n_merges += len(want)
        if got != want:
            bad += 1
            at = lib.first_difference(got, want)
            if bad <= 3:
                print(f"# corpus {i}, merge {at}: got {got[at:at + 1]}, want {want[at:at + 1]}; {case}")
    lib.ok(not bad, f"{name}: {n_corpora} random corpora ({n_merges} merges)")


def have(module):
    try:
        return __import__(module)
    except ImportError:
        return None


def main():
    args = argparse.ArgumentParser()
    args.add_argument("fast")
    args.add_argument("--seed", type=int, default=None)
    args.add_argument("--corpora", type=int, default=1000)
    args.add_argument("--vocab-size", type=int, default=32000)
    args.add_argument("text", nargs="*")
    o = args.parse_intermixed_args()
    rng = random.Random(lib.seed(o.seed))

    def vocab(special):
        return 256 + len(special) + rng.randint(0, rng.choice([5, 40]))

    def hf(_, min_frequency=False, max_token_len=False, specials=False):
        counts = random_counts(rng)
        special = random_special(rng, counts) if specials else []
        case = dict(vocab_size=vocab(special), min_frequency=rng.randint(0, 8) if min_frequency else 0,
                    max_token_len=rng.randint(1, 9) if max_token_len else 0, special=special)
        return ours(o.fast, "hf", counts, **case), hf_merges(counts, **case), (counts, case)

    def lex(_):
        counts, special = random_counts(rng), rng.choice([[], ["<s>"]])
        size = vocab(special)
        return (ours(o.fast, "lex", counts, size, special=special), cs336_merges(counts, size, len(special)),
                (counts, size))

    def limited(_):
        counts, size = random_counts(rng), vocab([])
        limits = token_limits.choose(rng, list(counts))
        got = ours(o.fast, "lex", counts, size, max_token_len=limits.max_len, utf8=limits.utf8, vetoes=limits.vetoes)
        return got, cs336_merges(counts, size, 0, limits.allow), (counts, size, vars(limits))

    def by_id(_):
        counts, size = random_counts(rng), vocab([])
        return ours(o.fast, "id", counts, size), rustbpe_merges(counts, size), (counts, size)

    if have("tokenizers"):
        compare("hf", rng, o.corpora, hf)
        compare("hf with min_frequency", rng, o.corpora, lambda r: hf(r, min_frequency=True))
        compare("hf with max_token_length", rng, o.corpora, lambda r: hf(r, max_token_len=True))
        compare("hf with special tokens spelled like text", rng, o.corpora, lambda r: hf(r, specials=True))
        compare("hf with everything", rng, o.corpora,
                lambda r: hf(r, min_frequency=True, max_token_len=True, specials=True))
    else:
        lib.skip("hf", "no Python package tokenizers")
    compare("lex against a trainer as specified by CS336", rng, o.corpora, lex)
    compare("the same, with limits of tokens", rng, o.corpora, limited)
    if have("rustbpe"):
        compare("id against rustbpe", rng, o.corpora, by_id)
    else:
        lib.skip("id", "no Python package rustbpe")
    for name in o.text:
        if not have("tokenizers"):
            lib.skip(f"hf on {name}", "no Python package tokenizers")
            continue
        from tokenizers import pre_tokenizers
        with open(name, encoding="utf-8", errors="replace", newline="") as f:
            text = f.read()
        split = pre_tokenizers.ByteLevel(add_prefix_space=False)
        counts = Counter(unspelled(piece) for piece, _ in split.pre_tokenize_str(text))
        special = ["<|endoftext|>", "Ġthe", "ing"]
        want = hf_model(o.vocab_size, 0, 0, special, [text], False)["merges"]
        got = ours(o.fast, "hf", counts, o.vocab_size, special=special)
        lib.ok(got == [(unspelled(a), unspelled(b)) for a, b in want], f"hf on a text of {len(text)} characters, "
               f"{len(counts)} distinct pretokens ({len(want)} merges)")
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
