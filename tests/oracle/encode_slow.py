#!/usr/bin/env python3
"""encode_slow.py - the oracle of bpe-encode, slow and obvious, without any package.

It knows the patterns gpt2, superbpe and bytes, and the characters of ASCII, é, ü, 語, 誩, 🩩, U+FFFD, and invalid UTF-8.

    encode_slow.py MODEL.json [FILE...]      prints ids, one line per document, as bpe-encode -f text does
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import BYTE  # noqa: E402

LETTER, NUMBER, SPACE = "[A-Za-zéü語誩]", "[0-9]", "[ \t\n\v\f\r]"
KNOWN = re.compile("[\0-\x7féü語誩🩩\ufffd]*")
GPT2 = re.compile(f"'(?:[sdmt]|ll|ve|re)| ?{LETTER}+| ?{NUMBER}+| ?(?:(?!{LETTER}|{NUMBER}|{SPACE})(?s:.))+|{SPACE}+(?!(?!{SPACE})(?s:.))|{SPACE}+")

SUPERBPE_REGEX = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
OTHER = f"(?:(?!{LETTER}|{NUMBER}|{SPACE})(?s:.))"
SUPERBPE = re.compile(f"({NUMBER}{{1,3}}| ?{OTHER}{{2,}}[\r\n/]*| +(?={SPACE}|\\Z))")

FLAGS = "lstrip", "rstrip", "single_word"
SPACES = b"[ \t-\r]"
WORDS = "(?:[A-Za-z0-9_]|é|ü|語|誩)".encode()


class Model:
    """token: {bytes: id}; merge: {(left, right): (rank, result)}, as ids, or None: the rank is the id of the result; special:
    [(bytes, id, whether it is special), ...], the added tokens; flags: {bytes: names of flags} of added tokens."""

    def __init__(self, token, merge, special, pattern, whole_first=False, flags=None):
        self.token, self.merge, self.special, self.pattern, self.whole_first = token, merge, special, pattern, whole_first
        self.flags = flags or {}
        self.bytes = {i: t for t, i in token.items()}
        self.bytes.update({i: t for t, i, _ in special})
        self.known = {}

    def rank(self, left, right):
        """(rank, result) of a merge, or None."""
        if self.merge is not None:
            return self.merge.get((left, right))
        i = self.token.get(self.bytes[left] + self.bytes[right])
        return None if i is None else (i, i)

    def word(self, word):
        if word in self.known:
            return self.known[word]
        ids = [self.token[bytes([b])] for b in word]
        if self.whole_first and word in self.token:
            ids = [self.token[word]]
        while len(ids) > 1:
            found = [self.rank(*pair) for pair in zip(ids, ids[1:])]
            best = min((f[0], i) for i, f in enumerate(found) if f) if any(found) else None
            if best is None:
                break
            ids[best[1]:best[1] + 2] = [found[best[1]][1]]
        self.known[word] = ids
        return ids


def load(path):
    with open(path, encoding="utf-8") as f:
        top = json.load(f)
    m = top["model"]
    special = [(t["content"].encode(), t["id"], t["special"]) for t in top["added_tokens"]]
    names = {t["content"] for t in top["added_tokens"] if any(c not in BYTE for c in t["content"]) or t["content"].startswith("<|")}
    token = {bytes(BYTE[c] for c in t): i for t, i in m["vocab"].items() if t not in names}
    merge = {}
    for rank, pair in enumerate(m["merges"]):
        left, right = (bytes(BYTE[c] for c in t) for t in (pair.split(" ") if isinstance(pair, str) else pair))
        merge[token[left], token[right]] = rank, token[left + right]
    pre = top["pre_tokenizer"]
    pattern = "gpt2" if pre["type"] == "ByteLevel" and pre.get("use_regex", True) else "bytes"
    if pre["type"] == "Sequence":
        assert pre["pretokenizers"][0]["pattern"] == {"Regex": SUPERBPE_REGEX}
        pattern = "superbpe"
    flags = {t["content"].encode(): {f for f in FLAGS if t[f]} for t in top["added_tokens"]}
    return Model(token, merge, special, pattern, m["ignore_merges"], flags)


def valid_parts(data):
    """(text, invalid byte after it) of each stretch of valid text; the byte is b"" at the end."""
    at = 0
    while True:
        try:
            yield data[at:].decode(), b""
            return
        except UnicodeDecodeError as why:
            yield data[at:at + why.start].decode(), data[at + why.start:at + why.start + 1]
            at += why.start + 1


def split(text, pattern):
    """The pretokens of valid text; for superbpe, also the gaps between the matches."""
    return [text] if pattern == "bytes" else GPT2.findall(text) if pattern == "gpt2" else filter(None, SUPERBPE.split(text))


def pretokens(data, pattern, invalid):
    if invalid != "bytes":
        parts = [(data.decode(errors={"error": "strict", "replace": "replace", "skip": "ignore"}[invalid]), b"")]
    else:
        parts = valid_parts(data)
    for text, byte in parts:
        assert KNOWN.fullmatch(text), f"no character for this: {text!r}"
        if text:
            yield from (w.encode() for w in split(text, pattern))
        if byte:
            yield byte


def matches(found, flags, data):
    """(begin, end, token) of the added tokens in a text, as found by Hugging Face's find_matches, except that white space after a
    token ends where the next token begins."""
    out = []
    for m in re.finditer(b"|".join(re.escape(s) for s in sorted(found, key=lambda s: -len(s))), data):
        begin, end, has = m.start(), m.end(), flags.get(m.group(), ())
        if "single_word" in has and (re.search(WORDS + rb"\Z", data[:begin]) or re.match(WORDS, data[end:])):
            continue
        if out and out[-1][1] > begin:
            out[-1] = (out[-1][0], begin, out[-1][2])
        low = out[-1][1] if out else 0
        if "lstrip" in has:
            begin = low + re.search(SPACES + rb"*\Z", data[low:begin]).start()
        if "rstrip" in has:
            end += re.match(SPACES + b"*", data[end:]).end()
        out.append((begin, end, m.group()))
    return out


def encode(model, data, eot="none", separator=None, special="token", invalid="error"):
    """(ids of a file, positions in them where documents end). separator: its bytes, or None for any special token."""
    found = [s for s in model.special if not (special == "text" and s[2])]
    numbers = {s[0]: s[1] for s in model.special}
    parts, at = [], 0
    for begin, end, token in matches([s[0] for s in found], model.flags, data) if found else []:
        parts += [data[at:begin], token]
        at = end
    parts.append(data[at:])
    ids, ends, inside = [], [], False

    def enter():
        if not inside and eot == "before":
            ids.append(numbers[separator])
        return True

    def leave():
        if inside:
            if eot == "after":
                ids.append(numbers[separator])
            ends.append(len(ids))
        return False
    for i, part in enumerate(parts):
        if i % 2 == 0:
            for word in pretokens(part, model.pattern, invalid):
                inside = enter()
                ids += model.word(word)
        elif special == "error":
            raise ValueError("a special token")
        elif eot != "none" and part == separator:
            inside = leave()
        else:
            inside = enter()
            ids.append(numbers[part])
            if separator is None or part == separator:
                inside = leave()
    leave()
    return ids, ends


def main():
    model = load(sys.argv[1])
    for name in sys.argv[2:] or ["/dev/stdin"]:
        with open(name, "rb") as f:
            names = [s[0] for s in model.special]
            ids, ends = encode(model, f.read(), separator=b"<|endoftext|>" if b"<|endoftext|>" in names else None)
        for begin, end in zip([0] + ends, ends):
            print(*ids[begin:end])


if __name__ == "__main__":
    main()
