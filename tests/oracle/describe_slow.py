#!/usr/bin/env python3
"""describe_slow.py - the oracle of bpe describe, slow and obvious. It knows the texts and patterns of encode_slow.py.

    describe_slow.py MODEL.json... < TEXT
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import encode_slow  # noqa: E402

SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def show(data):
    def escape(c):
        if "\udc80" <= c <= "\udcff":
            return f"\\x{ord(c) - 0xdc00:02X}"
        return SHORT.get(c) or ("".join(f"\\x{b:02X}" for b in c.encode()) if c < " " or "\x7f" <= c < "\xa0" else c)
    n = len(data)
    if n > 200:  # its first bytes, without splitting a character
        n = next((i for i in range(199, 195, -1) if data[i] & 0xC0 != 0x80), 196)
    return '"' + "".join(map(escape, data[:n].decode(errors="surrogateescape"))) + ('"' if n == len(data) else '"...')


def count(model, documents):
    """{pretoken: its number of occurrences}, without special tokens."""
    special = sorted((s[0] for s in model.special), key=lambda s: -len(s))
    words = collections.Counter()
    for data in documents:
        for part in re.split(b"|".join(map(re.escape, special)), data) if special else [data]:
            words.update(encode_slow.pretokens(part, model.pattern, "error"))
    return words


def most(counter, n, wanted=lambda key: True):
    return sorted((key for key in counter if wanted(key)), key=lambda key: (-counter[key], key))[:n]


def second_stage(model):
    """The merges [((left, right), result), ...] of the first stage and of the second, which begins with the first token that has a space
    after a visible character; (all, []): the model has no superwords. Text that is not split has only one stage."""
    merges = [(pair, result) for pair, (_, result) in sorted((model.merge or {}).items(), key=lambda m: m[1][0])]
    spans = [re.search("[^ \t-\r\udc80-\udcff] ", model.bytes[result].decode(errors="surrogateescape")) for _, result in merges]
    n = next((i for i, s in enumerate(spans) if s), len(merges))
    first, second = merges[:n], merges[n:]
    known = set(model.token.values()) - {result for _, result in merges} | {result for _, result in first}
    for (left, right), result in second:
        if not {left, right} <= known or result in known:
            return merges, []
        known.add(result)
    if {result for _, result in second} & {i for pair, _ in first for i in pair} or n < len(merges) // 64:
        return merges, []
    return (first, second) if not model.whole_first and model.pattern != "bytes" else (merges, [])


def superwords_info(model):
    """The lines about superwords of bpe-model --info."""
    second = [model.bytes[result] for _, result in second_stage(model)[1]]
    words = [len(re.findall(b"[^ ]+", t)) for t in second]
    several = [t for t, n in zip(second, words) if n > 1]
    if not second:
        return {}
    of = {"superwords": str(len(second)), "first-stage": str(len(model.bytes) - len(second)), "several-words": str(len(several)),
          "mean-words": f"{sum(words) / len(words):.2f}", "most-words": str(max(words))}
    if several:
        of["longest-superword"] = show(max(sorted(several, key=model.token.get), key=len))
    return of


def superwords(model, words, tokens, size):
    """The figures about superwords."""
    first, second = second_stage(model)
    if not second:
        return {}, {}
    alone = encode_slow.Model(model.token, {pair: (rank, result) for rank, (pair, result) in enumerate(first)}, model.special, model.pattern)
    n_first, n = sum(len(alone.word(word)) * k for word, k in words.items()), sum(tokens.values())
    used = collections.Counter({t: k for t, k in tokens.items() if t in {model.bytes[result] for _, result in second}})
    share = sum(used.values())
    return ({"without superwords": [f"{n_first:,}"], "  bytes per token": [f"{size / n_first:.2f}"],
             "  superwords save": [f"{100 * (1 - n / n_first):.1f} %"], "superwords": [f"{share:,}"],
             "  of all tokens": [f"{100 * share / n:.1f} %"]}, {"frequent superwords": list(map(show, most(used, 12)))})


def figures(model, documents):
    """{label: items}; lists come last."""
    words = count(model, documents)
    tokens = collections.Counter()
    for word, n in words.items():
        for i in model.word(word):
            tokens[model.bytes[i]] += n
    size = sum(len(word) * n for word, n in words.items())
    special = {s[0] for s in model.special}
    listed = [t for t in model.token if len(t) > 1 and re.search(b"[A-Za-z]", t) and t not in special]
    of = {"pretokens": [f"{sum(words.values()):,}"], "  distinct": [f"{len(words):,}"], "vocabulary": [f"{len(model.bytes):,}"]}
    if tokens:
        summary, listed_superwords = superwords(model, words, tokens, size)
        of.update({"tokens": [f"{sum(tokens.values()):,}"], "bytes per token": [f"{size / sum(tokens.values()):.2f}"],
                   **summary, "frequent pretokens": list(map(show, most(words, 16))), "frequent tokens": list(map(show, most(tokens, 16))),
                   "  of 3 bytes or more": [show(t) for t in most(tokens, 12, lambda t: len(t) > 2 and re.search(b"[A-Za-z\x80-\xff]", t))],
                   **listed_superwords, "longest words": [show(t) for t in sorted(listed, key=lambda t: (-len(t), t))[:6]]})
    return of


def one(of):
    lines = [f"{'pretokens':20} {of['pretokens'][0]}, {of['  distinct'][0]} distinct", f"{'vocabulary':20} {of['vocabulary'][0]} tokens"]
    if "tokens" in of:
        lines.append(f"{'tokens':20} {of['tokens'][0]}, {of['bytes per token'][0]} bytes per token")
        if "superwords" in of:
            lines.append(f"{'without superwords':20} {of['without superwords'][0]}, {of['  bytes per token'][0]} bytes per token; "
                         f"superwords save {of['  superwords save'][0]}")
            lines.append(f"{'superwords':20} {of['superwords'][0]}, {of['  of all tokens'][0]} of the tokens")
        lines += [f"{label:20} {' '.join(items)}".rstrip() for label, items in list(of.items())[10 if "superwords" in of else 5:]]
    return lines


def several(columns):
    """The lines for several models: columns is [(name, figures), ...]."""
    rows = {"": [[name] for name, _ in columns]}
    labels = max((of for _, of in columns), key=len)
    rows.update({label: [of.get(label, []) for _, of in columns] for label in labels})
    widths = [max(len(item) for row in rows.values() for item in row[k]) + 2 for k in range(len(columns))]
    for label, row in rows.items():
        for i in range(max(map(len, row))):
            cells = [(items[i] if i < len(items) else "").ljust(width) for items, width in zip(row, widths)]
            yield f"{'' if i else label:21}{''.join(cells)}".rstrip()


def describe(names, documents, size, stored=None):
    """All lines. names: model files; size: bytes of text; stored: bytes of the files, which may be compressed."""
    found = [(name, figures(encode_slow.load(name), documents)) for name in names]
    first = f"{'text':20} {size:,} byte{'' if size == 1 else 's'}{f' ({stored:,} in files)' if stored not in (None, size) else ''}"
    return "".join(line + "\n" for line in [first, *(one(found[0][1]) if len(names) == 1 else several(found))])


def main():
    data = sys.stdin.buffer.read()
    sys.stdout.write(describe(sys.argv[1:], [data], len(data)))


if __name__ == "__main__":
    main()
