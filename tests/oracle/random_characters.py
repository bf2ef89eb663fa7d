"""random_characters.py - random character models (SentencePiece's BPE in tokenizer.json) with a slow and obvious implementation, and texts.

The models cover all forms: spaces as U+2581, by normalizers or by Metaspace with each scheme, split or not, or kept as spaces; unknown
characters as bytes, as one token, or fused; ignore_merges; several merges for one token.
"""
import json
import re

META = "\u2581"
LETTERS = "abcdeXY.,1\n\té語誩🩩" + META
OTHERS = "qzß語誩誨誧🩪\u0301\u00a0~"  # some of them unknown
ADDED = ["<t>", "<a b>", META + "<m>", "ab", "<unk>"]
PREPEND = {"type": "Prepend", "prepend": META}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": META}


class Model:
    """A tokenizer.json and a slow implementation of it."""

    def __init__(self, rng):
        self.form = rng.choice(["prepend", "replace", "always", "first", "never", "text"])
        self.split = self.form in ("always", "first", "never") and rng.random() < 0.5
        self.bytes, self.fuse, self.whole = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.2
        known = sorted(set(rng.sample(LETTERS, rng.randrange(6, len(LETTERS)))) | {META})
        keys, merges = list(known), []
        for _ in range(rng.randrange(60)):
            left, right = rng.choice(keys), rng.choice(keys)
            if left + right not in keys and len(left + right) < 9 and (len(left + right) > 2 or rng.random() < 0.5):
                keys.append(left + right)
                merges.append((left, right))
        if rng.random() < 0.5:  # as exported from SentencePiece: all splits of each token in two
            merges = [(key[:i], key[i:]) for key in keys for i in range(1, len(key)) if key[:i] in keys and key[i:] in keys]
        if rng.random() < 0.3:
            rng.shuffle(merges)
        keys += [key for key in (META + "<m>", "a b", "cut off", "<t>") if rng.random() < 0.3]
        self.unk = None if self.bytes and rng.random() < 0.5 else "<unk>"
        keys += [self.unk] if self.unk else []
        keys += [f"<0x{b:02X}>" for b in range(256)] if self.bytes else []
        if rng.random() < 0.5:
            rng.shuffle(keys)
        self.vocab = {key: i for i, key in enumerate(keys)}
        self.added = {}
        for content in rng.sample(ADDED, rng.randrange(len(ADDED))):
            self.added[content] = self.vocab.get(content, len(keys) + sum(a not in self.vocab for a in self.added))
        # Added tokens that are "normalized": with the form "prepend", their text begins with U+2581, also when decoded.
        self.late = [a for a in self.added if self.form == "prepend" and a in ("<t>", "ab", "<unk>") and rng.random() < 0.7 and
                     (a not in keys or (a != "ab" and not self.whole))]
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.merges, self.strings = merges, rng.random() < 0.5
        self.decoder = rng.choice([["spaces", "bytes", "strip"], ["spaces", "bytes"], ["metaspace"], ["bytes"], ["spaces"]])

    def json(self):
        metaspace = {"type": "Metaspace", "replacement": META, "prepend_scheme": self.form, "split": self.split}
        steps = {"spaces": {"type": "Replace", "pattern": {"String": META}, "content": " "}, "bytes": {"type": "ByteFallback"},
                 "metaspace": {**metaspace, "prepend_scheme": "first"}, "strip": {"type": "Strip", "content": " ", "start": 1, "stop": 0}}
        decoders = [steps[name] for name in self.decoder]
        decoders.insert(len(decoders) - ("strip" in self.decoder), {"type": "Fuse"})
        return json.dumps({
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": i, "content": a, "single_word": False, "lstrip": False, "rstrip": False, "normalized": a in self.late, "special": a[0] == "<"}
                             for a, i in self.added.items()],
            "normalizer": {"prepend": {"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, "replace": REPLACE}.get(self.form),
            "pre_tokenizer": metaspace if self.form in ("always", "first", "never") else None, "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": decoders},
            "model": {"type": "BPE", "dropout": None, "unk_token": self.unk, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": self.fuse, "byte_fallback": self.bytes, "ignore_merges": self.whole, "vocab": self.vocab,
                      "merges": [" ".join(m) for m in self.merges] if self.strings else self.merges}}, ensure_ascii=False)

    def word(self, text):
        """The tokens of one pretoken."""
        if self.whole and text in self.vocab:
            return [text]
        tokens, pending = [], False
        for c in text:
            if c in self.vocab:
                tokens.append(c)
                pending = False
            elif self.bytes:
                tokens += [f"<0x{b:02X}>" for b in c.encode()]
            elif not (pending and self.fuse):
                tokens.append(self.unk)
                pending = True
        while True:
            pairs = [(self.rank[pair], i) for i, pair in enumerate(zip(tokens, tokens[1:])) if pair in self.rank]
            if not pairs:
                return tokens
            i = min(pairs)[1]
            tokens[i:i + 2] = [tokens[i] + tokens[i + 1]]

    def stretch(self, text, first):
        """The ids of a text between added tokens; first: whether it begins a document."""
        if not text:
            return []
        if self.form != "text":
            text = text.replace(" ", META)
        if self.form == "prepend" or (not text.startswith(META) and (self.form == "always" or (self.form == "first" and first))):
            text = META + text
        words = [text]
        if self.split:
            words = text.split(META)
            words = [words[0]] * bool(words[0]) + [META + w for w in words[1:]]
        if self.late:
            words = re.split("(" + "|".join(META + a for a in self.late) + ")", text)
        return [i for w in words for i in ([self.added[w[1:]]] if w[1:] in self.late else [self.vocab[t] for t in self.word(w)])]

    def encode(self, text):
        ids, start, at = [], 0, 0
        while at <= len(text):
            found = max((a for a in self.added if a not in self.late and text.startswith(a, at)), key=len, default=None)
            if found or at == len(text):
                ids += self.stretch(text[start:at], start == 0)
                ids += [self.added[found]] if found else []
                at += len(found or "x")
                start = at
            else:
                at += 1
        return ids

    def decode(self, ids):
        """The decoded bytes, which may be invalid UTF-8."""
        keys = {**{i: a for a, i in self.added.items()}, **{i: key for key, i in self.vocab.items()}, **{self.added[a]: META + a for a in self.late}}
        out = b""
        for n, i in enumerate(ids):
            key = keys[i]
            if "metaspace" in self.decoder:
                key = key.replace(META, "" if n == 0 else " ")
            elif "spaces" in self.decoder:
                key = key.replace(META, " ")
            byte = "bytes" in self.decoder and key.startswith("<0x") and len(key) == 6
            out += bytes([int(key[3:5], 16)]) if byte else key.encode()
        return out[1:] if "strip" in self.decoder and out[:1] == b" " else out


def make_text(rng, model):
    parts = []
    for _ in range(rng.choice([0, 1, 3, 10, 40])):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(list(model.vocab)).replace(META, rng.choice([" ", " ", META])))
        elif kind < 0.5:
            parts.append(rng.choice(["", "", " ", META]) + rng.choice(ADDED))
        elif kind < 0.6:
            parts.append(rng.choice([" ", META, " " + META, "a", "\n"]) * rng.choice([1, 2, 7, 40]))
        else:
            parts.append("".join(rng.choices(LETTERS + OTHERS + "  ", k=rng.randrange(1, 8))))
    return "".join(parts)
