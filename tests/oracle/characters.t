#!/usr/bin/env python3
"""characters.t - character models (SentencePiece's BPE in tokenizer.json): bpe-encode returns the ids of a slow and obvious encoder, and
bpe-decode their text.

The small random models cover all forms: spaces as U+2581, by normalizers or by Metaspace with each scheme, split or not, or kept as
spaces; unknown characters as bytes, as one token, or fused; ignore_merges; several merges for one token. Texts consist of the model's
characters, spaces, U+2581, unknown characters, and added tokens. Each is encoded as a whole, as documents, in chunks, and with the
rewritten model. If Hugging Face tokenizers is installed, it must produce the same ids and text.

    SEED     random seed (printed); MODELS: number of models (20)
"""
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/.."]
import lib  # noqa: E402

try:
    from tokenizers import Tokenizer
except ImportError:
    Tokenizer = None

SEED = lib.seed()
MODELS = int(os.environ.get("MODELS") or 20)
LEVELS = [level for level in ("none", "sse2", "avx2", "avx512", "neon") if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=level))[0] == 0]
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


def numbers(out):
    return [int.from_bytes(out[i:i + 4], "little") for i in range(0, len(out), 4)]


def round_trip(number):
    rng = random.Random(f"{SEED} {number}")
    os.environ["BPE_SIMD"] = rng.choice(LEVELS)
    model = Model(rng)
    lib.write("m.json", model.json())
    texts = [make_text(rng, model) for _ in range(60)]
    want = [model.encode(t) for t in texts]
    flat = [i for ids in want for i in ids]
    bad = []

    def same(what, got, wanted):
        if got != wanted:
            at = next((k for k, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
            bad.append(f"{what}, at {at}: {got[at:at + 9]!r}, not {wanted[at:at + 9]!r}")
    lib.write("in.nul", "".join(t + "\0" for t in texts))
    same("documents", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "m.json", "-0", "in.nul")), flat)
    whole = "\n".join(texts)
    lib.write("in.txt", whole)
    of_whole = model.encode(whole)
    same("a file", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "m.json", "in.txt")), of_whole)
    for options in [["-b", "200"], ["-b", "50", "--inline"]]:
        chunks = lib.must("bpe-chunk", "-m", "m.json", *options, "in.txt")
        same(f"chunks {options}", numbers(lib.must("bpe-encode", "-f", "raw", "-d", "u32", "-m", "m.json", data=chunks)), of_whole)
    lib.must("bpe-model", "-f", "json", "-o", "again.json", "m.json")
    same("the rewritten model", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "again.json", "-0", "in.nul")), flat)
    some = rng.sample(range(len(texts)), 4)
    ids = [want[k] for k in some] + [rng.choices(list(model.vocab.values()) + list(model.added.values()), k=rng.randrange(1, 6)) for _ in range(4)]
    for one in ids:
        raw = b"".join(i.to_bytes(4, "little") for i in one)
        for name in "m.json", "again.json":
            same(f"decoded {one} by {name}", lib.must("bpe-decode", "-d", "u32", "-m", name, data=raw), model.decode(one))
    if Tokenizer:
        peer = Tokenizer.from_file("m.json")
        same("tokenizers", [peer.encode(t, add_special_tokens=False).ids for t in texts], want)
        for one in ids:
            decoded = peer.decode(one, skip_special_tokens=False)
            if "\ufffd" not in decoded:
                same(f"tokenizers decodes {one}", decoded.encode(), model.decode(one))
    return bad


def shards_checked():
    """With the scheme "first", only the first document of a source has a prefix. bpe-shard --check must encode documents accordingly."""
    model = Model(random.Random(1))
    model.form, model.split, model.whole, model.unk, model.bytes = "first", False, False, None, True
    keys = list(dict.fromkeys([*"abc", META, META + "a", *(f"<0x{b:02X}>" for b in range(256))]))
    model.vocab, model.added = {key: i for i, key in enumerate(keys)}, {"<t>": len(keys)}
    model.merges, model.rank = [(META, "a")], {(META, "a"): 0}
    lib.write("m.json", model.json())
    lib.write("in.txt", "".join(f"a text {n}\nand more<t>" for n in range(200)))
    ids = lib.must("bpe-encode", "-m", "m.json", data=lib.must("bpe-chunk", "-m", "m.json", "in.txt"))
    lib.must("bpe-shard", "-o", "d", data=ids)
    code, out, err = lib.run(["bpe-shard", "--check", "d", "-m", "m.json", "in.txt"])
    lib.ok(code == 0 and b"encoded again: the same ids" in out, "bpe-shard --check of documents after separators", f"{out} {err}")


def decoded_by_line():
    """Decoding removes the space that was added to each document, for each line of decimal ids."""
    code, out, err = lib.run(["bpe-encode", "-m", "m2.json", "-0", "-f", "text"], b"a b\0 c a\0")
    code2, out2, err2 = lib.run(["bpe-decode", "-m", "m2.json", "-f", "text"], out)
    lib.ok(code == code2 == 0 and out.count(b"\n") == 2 and out2 == b"a b c a", "decimal ids of documents, each with a prefix", f"{out} {err} {out2} {err2}")


def main():
    lib.own_directory()
    for first in range(0, MODELS, 10):
        bad = [f"model {n}: {note}" for n in range(first, min(first + 10, MODELS)) for note in round_trip(n)]
        lib.ok(not bad, f"models {first} to {min(first + 10, MODELS) - 1}: same ids and text", "\n".join(bad))
    shards_checked()
    again = json.loads(lib.read("m.json"))
    again.update(normalizer={"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, pre_tokenizer=None, decoder={"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})
    lib.write("m2.json", json.dumps(again))
    decoded_by_line()
    code, out, err = lib.run(["bpe-count"], lib.must("bpe-chunk", "-m", "m.json", "in.txt"))
    lib.ok(code == 65 and "nothing to count" in err, "bpe-count refuses the chunks", f"{out} {err}")
    lib.write("m3.json", json.dumps({**again, "decoder": None}))
    code, out, err = lib.run(["bpe-decode", "-m", "m3.json"], b"")
    lib.ok(code == 64 and not out and "no decoder" in err, "bpe-decode refuses a model without decoder", f"{out} {err}")
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
