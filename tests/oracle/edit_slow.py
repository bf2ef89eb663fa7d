"""edit_slow.py - the oracle of bpe-model -v, --prune and --diff, slow and obvious. A model is a byte-level tokenizer.json, as a
dictionary.
"""
import copy
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import SPELLED  # noqa: E402


def added(model):
    return {t["content"] for t in model["added_tokens"]}


def pairs(model):
    return [tuple(pair) for pair in model["model"]["merges"]]


def encode(merges, token):
    """Merges the characters of a key by {pair: rank}. Returns the tokens, and each merge that was made."""
    parts, made = list(token), []
    while True:
        ranks = [(merges[pair], i) for i, pair in enumerate(zip(parts, parts[1:])) if pair in merges]
        if not ranks:
            return parts, made
        _, i = min(ranks)
        made.append((parts[i], parts[i + 1]))
        parts[i:i + 2] = [parts[i] + parts[i + 1]]


def ranks_of(merges):
    return {pair: rank for rank, pair in enumerate(merges)}


def splits(model):
    """{token: the last merge when its own bytes are encoded}, for tokens that merging makes."""
    ranks = ranks_of(pairs(model))
    out = {}
    for token in model["model"]["vocab"]:
        parts, made = encode(ranks, token)
        if parts == [token] and made:
            out[token] = made[-1]
    return out


def ids(model):
    """{id: token}, with added tokens."""
    out = {t["id"]: t["content"] for t in model["added_tokens"]}
    out.update({i: token for token, i in model["model"]["vocab"].items()})
    return out


def remove(model, gone, n_merges=None):
    """The model without these tokens, and without merges from this number on. Ids become consecutive."""
    new = copy.deepcopy(model)
    number = {token: i for i, token in enumerate(token for _, token in sorted(ids(model).items()) if token not in gone)}
    new["model"]["vocab"] = {token: number[token] for token in sorted(model["model"]["vocab"], key=model["model"]["vocab"].get) if token not in gone}
    new["model"]["merges"] = [list(p) for p in pairs(model)[:n_merges] if not {p[0], p[1], p[0] + p[1]} & gone]
    for token in new["added_tokens"]:
        token["id"] = number[token["content"]]
    return new


# ---- bpe-model -v ----

def in_order(model):
    results = [model["model"]["vocab"][left + right] for left, right in pairs(model)]
    return results == sorted(results)


def cut(model, n):
    """The model with n tokens: as few of the first merges, or ids, as make that many. None: no number of them makes exactly n."""
    fixed, number = added(model) | set(SPELLED.values()), {token: i for i, token in ids(model).items()}
    if n == len(number):
        return model
    made, ordered, whole = splits(model), in_order(model), model["model"]["ignore_merges"]
    low, high = (min(number[t] for t in set(number) - set(SPELLED.values())), max(number.values()) + 1) if ordered else (0, len(pairs(model)))
    for end in range(low, high + 1):
        merges = [p for k, p in enumerate(pairs(model)) if (number[p[0] + p[1]] if ordered else k) < end]
        left = set(fixed)
        for token in set(number) - fixed:
            if token not in made or (ordered and whole):
                makes = number[token] < end or not ordered
            else:
                makes = encode(ranks_of(merges), token)[0] == [token]
            left |= {token} if makes else set()
        if len(left) == n:
            return remove(model, set(number) - left, len(merges))
    return None


# ---- bpe-model --prune ----

def counts(model, words):
    """{token: occurrences} of {pretoken: count}, where pretokens are bytes."""
    ranks = ranks_of(pairs(model))
    out = dict.fromkeys(ids(model).values(), 0)
    for word, n in words.items():
        key = "".join(SPELLED[b] for b in word)
        whole = model["model"]["ignore_merges"] and key in model["model"]["vocab"]
        for token in [key] if whole else encode(ranks, key)[0]:
            out[token] += n
    return out


def prune(model, n, words):
    """Removes n tokens, one after the other. An added token that merges make stops being made, but stays. A token that merging makes
    only after others were removed is still a leaf. None: there are not as many."""
    many, number = counts(model, words), {token: i for i, token in ids(model).items()}
    fixed = added(model) | set(SPELLED.values())
    left, gone, now = set(number) - fixed, set(), model
    unmade = set(number) - set(splits(model))
    while len(gone) < n:
        made = {token: pair for token, pair in splits(now).items() if token not in unmade}
        used = {part for pair in made.values() for part in pair}
        leaves = [token for token in left | set(made) if token not in used]
        if not leaves:
            return None
        token = min(leaves, key=lambda t: (many[t], -number[t]))
        for part in made.get(token, ()):
            many[part] += many[token]
        unmade.add(token)
        if token in fixed:
            continue
        left.discard(token)
        gone.add(token)
        now = remove(now, {token})
    return remove(model, gone) if gone else model


# ---- bpe-model --diff ----

def diff(a, b):
    """The lines about tokens and merges, as a set: enough for models with the same properties and added tokens without flags."""
    out = set()
    for sign, one, other in ("-", a, b), ("+", b, a):
        special, theirs = added(one), added(other)
        number, that = ({token: i for i, token in ids(m).items()} for m in (one, other))
        for token, i in number.items():
            kind = "special" if token in special else "token"
            if token not in that or (token in special) != (token in theirs):
                out.add(f"{sign} {kind}: {i} {token}")
            elif sign == "-" and that[token] != i:
                out.add(f"id: {i} {that[token]} {token}")
        for rank, pair in enumerate(pairs(one)):
            if pair not in pairs(other):
                out.add(f"{sign} merge: {rank} {pair[0]} {pair[1]}")
    both = list(itertools.zip_longest(pairs(a), pairs(b)))
    first = next((k for k, (x, y) in enumerate(both) if x != y), None)
    if first is not None:
        out |= {f"{sign} first-merge: {first} {p[0]} {p[1]}" for sign, p in zip("-+", both[first]) if p}
    return out
