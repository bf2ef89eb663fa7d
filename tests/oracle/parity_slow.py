"""parity_slow.py - parity-aware BPE, slow and obvious (Foroutan et al., arXiv 2508.04796), as in ParityBpeTrainer of Hugging Face tokenizers
0.23.3.
"""
from collections import Counter


def tokens_of(words):
    """The number of tokens of a text: words is [(tokens, count), ...]."""
    return sum(len(tokens) * count for tokens, count in words)


def pairs_of(words):
    pairs = Counter()
    for tokens, count in words:
        for pair in zip(tokens, tokens[1:]):
            pairs[pair] += count
    return pairs


def replace(words, pair):
    for tokens, _ in words:
        i = 0
        while i + 1 < len(tokens):
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i:i + 2] = ["".join(pair)]
            i += 1


def choose(need, exhausted, chosen, window, alpha):
    """The language with the greatest need (None: it has no text); with a window, the first of these that has not chosen too often."""
    order = sorted((i for i in range(len(need)) if i not in exhausted and need[i] is not None), key=lambda i: (-need[i], i))
    if window:
        within = [i for i in order if chosen[-window:].count(i) / window <= alpha / len(need)]
        return (within or order[-1:] or [None])[0]
    return order[0] if order else None


def train(languages, n_merges, dev=None, ratio=None, global_merges=0, window=0, alpha=2.0, min_frequency=2, allow=lambda token: True):
    """Returns the merges, and the languages that had no pair left to choose. languages, dev: for each language, {word: count}, with words as
    strings of characters, which may be spelled bytes. allow: whether a token may be made."""
    words = [[(list(w), n) for w, n in of.items()] for of in languages]
    measured = [[(list(w), n) for w, n in of.items()] for of in dev] if dev else words
    first = [tokens_of(w) for w in measured]
    merges, exhausted, chosen = [], set(), []
    while len(merges) < n_merges:
        if len(merges) < global_merges:
            counted = sum((pairs_of(w) for w in words), Counter())
        else:
            now = [tokens_of(w) for w in measured]
            need = [-(a / b / r) if b else None for a, b, r in zip(first, now, ratio)] if ratio else now
            who = choose(need, exhausted, chosen, window, alpha)
            if who is None:
                break
            chosen.append(who)
            counted = pairs_of(words[who])
        counted = {pair: n for pair, n in counted.items() if allow("".join(pair))}
        best = max(counted, key=lambda p: (counted[p], p), default=None)
        if best is None or counted[best] < min_frequency:
            if len(merges) < global_merges:
                break
            exhausted.add(who)
            continue
        merges.append(best)
        for text in words + (measured if dev else []):
            replace(text, best)
    return merges, exhausted
