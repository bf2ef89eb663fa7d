"""hf_models.py - random tokenizer files that Hugging Face tokenizers loads, and text for them: see hf_json.py.

A file combines parts that a tokenizer.json may have: normalizers, pre_tokenizers, flags of the model and of added tokens, decoders.
Its vocabulary is small, and its merges join tokens that are adjacent in such text, so that merges occur wherever text is split. Some
files resemble those of popular models (TEMPLATES); the others combine arbitrary parts.
"""
import base64
import copy
import functools
import json
import os
import re
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "oracle")]
import lib  # noqa: E402
from regex_peers import KNOWN, Maker  # noqa: E402

SPACE = "\u2581"
LETTERS = ["a", "b", "c", "e", "A", "S", "T", "x", "s", "t", "é", "ß", "İ", "ſ", "ﬁ", "Å", "ж", "α"]
WIDE = ["語", "中", "の", "ク", "한", "각", "ᄀ", "ᅡ", "ᆨ", "ไ", "\u0e33", "ก", "अ", "क", "\u093f", "ع", "𐍈", "\U0001d15e", "\u2126", "\u212b", "가"]
MARKS = ["\u0301", "\u0300", "\u0323", "\u0345", "\u0327", "\u093c", "\u0903", "\u20dd", "\u3099", "\U0001e94a", "\u1df9"]
DIGITS = ["1", "2", "12", "1234567", "٣", "४", "½", "²", "Ⅷ", "①"]
MARKING = [".", ",", "!", "?!", "-", "_", "'", "'s", "’", "\"", "(", "#", "$", "+", "^", "`", "|", "。", "「", "¿", "«", "|>", "<", "€", "‿"]
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\u00a0", "\u3000", "\u2028", "\x85", "\u1680", "\u180e", "\v", "\x1c"]
ODD = [SPACE, SPACE, SPACE * 2, "\x00", "\x7f", "\u200d", "\ufe0f", "🙂", "👩\u200d💻", "👍🏽", "🇩🇪", "\ufffd", "\ue000", "\U0010ffff", "\ufeff", "\u0378"]
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
NAMES = ["<s>", "</s>", "<unk>", "<pad>", "<|endoftext|>", "<|im_start|>", "[INST]", "<mask>", "<0x41>"]
TEMPLATES = (os.environ.get("TEMPLATES") or "byte nfc sentencepiece metaspace gemma any-byte any").split()


def sequence(kind, items):
    return {"type": "Sequence", kind: items}


@functools.lru_cache(maxsize=None)
def built_in():
    """The pre_tokenizers that are scanned without a regex: those of all patterns, except tiktoken's."""
    names = re.findall(r"[\w.-]+", lib.run(["bpe-chunk", "-p", "?"])[2].split("known patterns are ")[1])
    ranks = b"".join(b"%s %d\n" % (base64.b64encode(bytes([b])), b) for b in range(256))
    made = [lib.run(["bpe-model", "-p", name], ranks)[1] for name in names]
    return [json.loads(model)["pre_tokenizer"] for model in made if model]


class Case:
    """A tokenizer file, and texts for it."""

    def __init__(self, rng):
        self.rng = rng
        choice = rng.choice
        groups = [LETTERS, choice([WIDE, LETTERS]), choice([DIGITS, MARKING, MARKS, LETTERS]), choice([MARKING, MARKS, WIDE, ODD])]
        self.pieces = [p for group in groups for p in rng.sample(group, min(len(group), rng.randint(1, 5)))]
        self.pieces += rng.sample(SPACES, rng.randint(1, 3)) + [" "] * rng.randint(0, 4) + rng.choices(ODD, k=rng.choice([0, 0, 1, 3]))
        self.regexes = Maker(rng, ends=(r"\A", r"\z", "^", "$"))
        self.used = []  # regexes and strings in the file, for which text is made
        self.template = choice(TEMPLATES)
        self.top = self.file()
        self.texts = self.all_texts()

    def sometimes(self, p):
        return self.rng.random() < p

    # ---- Text ----

    def plain(self, n):
        return "".join(self.rng.choices(self.pieces, k=n))

    def piece(self):
        kind = self.rng.random()
        if kind < 0.65 or not self.contents:
            return self.rng.choice(self.pieces)
        if kind < 0.7:
            return self.rng.choice(self.rng.choice([LETTERS, WIDE, MARKS, DIGITS, MARKING, SPACES, ODD, NAMES]))
        if kind < 0.74 and self.used:
            return self.rng.choice(self.rng.choice(self.used))
        content = self.rng.choice(self.contents)
        if kind < 0.8:  # a near match
            at = self.rng.randrange(len(content) + 1)
            return self.rng.choice([content[:at], content[at:], content[:at] + content, content.swapcase(), content.replace(" ", SPACE)])
        before, after = (self.rng.choice(["", "", " ", "  ", "\n", " \n ", "a", "_", "é", "\u0301", "\u00a0", SPACE, "1", "."]) for _ in range(2))
        return before + content + after

    def text(self):
        kind = self.rng.random()
        made = "".join(self.piece() for _ in range(self.rng.randint(0, 12)))
        if kind < 0.1:
            return made + self.rng.choice(self.pieces + SPACES) * int(400 ** self.rng.random()) + made[:self.rng.randrange(5)]
        if kind < 0.2:  # only a few of the pieces
            some = self.rng.choices(self.pieces, k=self.rng.randint(1, 3))
            return "".join(self.rng.choices(some, k=int(100 ** self.rng.random())))
        return made

    def all_texts(self):
        return [self.text() for _ in range(self.rng.randint(8, 24))]

    def long_text(self, size):
        """A text several times as long as a chunk."""
        parts, n = [], 0
        while n < size:
            parts.append(self.text() if self.sometimes(0.8) else self.rng.choice(self.pieces) * int(size / 6 * self.rng.random() ** 3))
            if self.sometimes(0.3):  # here text may be cut
                parts.append("\n" + self.rng.choice(["a", "The", "é", "語"]))
            n += len(parts[-1].encode())
        return "x" + "".join(parts)

    # ---- Parts of a file ----

    def pattern(self):
        """A String or Regex for Split and Replace."""
        if self.sometimes(0.4):
            made = self.rng.choice([" ", SPACE, "a", "\n", "  ", ".", "aa", "ab", "\u0301", "\\", "|"] + self.pieces)
            kind = "String"
        else:
            made, kind = self.regex(), "Regex"
        self.used.append(made or "a")
        return {kind: made}

    def regex(self):
        kind = self.rng.random()
        if kind < 0.35:
            return self.rng.choice(KNOWN[:-10])
        if kind < 0.65:
            return self.rng.choice([r"\s+", r"\s", r"\d", r"\p{N}", r"\w+", r" ?\w+", r"\p{P}", r"[aeb]", r"[^\s]+", r"\S+|\s+", " +", r"\n+", "a|ab",
                                    r"(?=[A-Z])", r"\p{Han}+", r"[^\s\p{L}]", r"\p{L}{1,3}", r"\b", r"\w+|[^\w\s]+", r" {2,}", r"(?i:ss)", r"\r\n|\n", "a*?b",
                                    r"\s+$", r"^\s+|$"])
        return self.regexes.regex()

    def split(self):
        behavior = self.rng.choice(BEHAVIORS) if self.sometimes(0.6) else "Isolated"
        return {"type": "Split", "pattern": self.pattern(), "behavior": behavior, "invert": self.sometimes(0.25)}

    def byte_level(self):
        return {"type": "ByteLevel", "add_prefix_space": self.sometimes(0.2), "trim_offsets": self.sometimes(0.8), "use_regex": self.sometimes(0.5)}

    def metaspace(self):
        return {"type": "Metaspace", "replacement": SPACE if self.sometimes(0.95) else "_", "prepend_scheme": self.rng.choice(["always", "first", "never"]),
                "split": self.sometimes(0.6)}

    def step(self, depth=1):
        """A pre_tokenizer of any kind."""
        kind = self.rng.choice(["split", "split", "digits", "punctuation", "metaspace", "byte_level", "delimiter", "sequence", "plain", "plain"])
        if kind in ("split", "metaspace", "byte_level"):
            return getattr(self, kind)()
        if kind == "digits":
            return {"type": "Digits", "individual_digits": self.sometimes(0.5)}
        if kind == "punctuation":
            return {"type": "Punctuation", "behavior": self.rng.choice(BEHAVIORS)}
        if kind == "delimiter":
            return {"type": "CharDelimiterSplit", "delimiter": self.rng.choice([" ", "a", SPACE, "\n"])}
        if kind == "sequence" and depth:
            return sequence("pretokenizers", [self.step(0) for _ in range(self.rng.randint(0, 3))])
        if self.sometimes(0.05):
            return {"type": "FixedLength", "length": self.rng.randint(1, 6)}
        return {"type": self.rng.choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"])}

    def normalizer(self, depth=1):
        kind = self.rng.choice(["NFC", "NFC", "Replace", "Replace", "Prepend", "Strip", "Lowercase", "sequence", "sequence", "other"])
        if kind == "sequence" and depth:
            return sequence("normalizers", [self.normalizer(0) for _ in range(self.rng.randint(0, 3))])
        if kind == "Replace":
            content = self.rng.choice([SPACE, " ", "", "a", "ab", "  ", "é", "e\u0301", "\u0301"])
            return {"type": kind, "pattern": self.pattern() if self.sometimes(0.6) else {"String": " "}, "content": content}
        if kind == "Prepend":
            return {"type": kind, "prepend": self.rng.choice([SPACE, SPACE, " ", "a", "", "\u0301"])}
        if kind == "Strip":
            return {"type": kind, "strip_left": self.sometimes(0.6), "strip_right": self.sometimes(0.6)}
        if kind == "other":
            kind = self.rng.choice(["NFD", "NFKC", "NFKD", "Nmt", "StripAccents", "ByteLevel", "Lowercase", "BertNormalizer"])
        made = {"type": kind if kind != "sequence" else "NFC"}
        if kind == "BertNormalizer":
            made.update(clean_text=self.sometimes(0.5), handle_chinese_chars=self.sometimes(0.5), strip_accents=self.rng.choice([None, True, False]),
                        lowercase=self.sometimes(0.5))
        return made

    def front(self):
        """normalizer, pre_tokenizer, decoder, and whether tokens are bytes in byte-to-unicode form."""
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        last = {"type": "ByteLevel", "add_prefix_space": self.sometimes(0.1), "trim_offsets": True, "use_regex": self.sometimes(0.3)}
        steps = [self.rng.choice([self.split, self.split, self.step])() for _ in range(self.rng.choice([0, 1, 1, 1, 2, 2, 3]))]
        spaces = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
        back = [{"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
        if self.template in ("byte", "nfc"):
            pre = self.rng.choice([self.rng.choice(built_in()), sequence("pretokenizers", steps + [last])])
            return {"type": "NFC"} if self.template == "nfc" else None, pre, byte_level, True
        if self.template == "sentencepiece":
            front = [{"type": "Prepend", "prepend": SPACE}, spaces]
            return sequence("normalizers", front), None, sequence("decoders", back + [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]), False
        if self.template == "gemma":
            merged = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
            return spaces, self.rng.choice([merged, None]), sequence("decoders", back), False
        if self.template == "metaspace":
            step = self.metaspace()
            decoder = {"type": "Metaspace", **{k: step[k] for k in ("replacement", "prepend_scheme", "split")}}
            strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
            return None, step, self.rng.choice([decoder, sequence("decoders", back), sequence("decoders", back + strip)]), False
        byte = self.template == "any-byte"
        pre = sequence("pretokenizers", [self.step() for _ in range(self.rng.randint(0, 2))] + [last]) if byte else self.rng.choice([None, self.step(), sequence(
            "pretokenizers", [self.step() for _ in range(self.rng.randint(0, 3))])])
        decoder = self.rng.choice([byte_level, sequence("decoders", back), {"type": "Fuse"}, None])
        return self.normalizer() if self.sometimes(0.7) else None, pre, decoder, byte

    # ---- The model ----

    def spelled(self, text, byte):
        return [lib.SPELLED[b] for b in text.encode()] if byte else list(text)

    def join(self, byte, tokens):
        """Merges of tokens that are adjacent in text, and a few of arbitrary tokens. Adds new tokens."""
        text = [self.plain(self.rng.randint(2, 12)) for _ in range(12)]
        if not byte:
            text = [t.replace(" ", SPACE) if self.sometimes(0.9) else t for t in text] + [SPACE + "ab" + SPACE]
        lists, merges = [self.spelled(t, byte) for t in text], []
        if self.sometimes(0.03):  # in merges as strings, the last one would look like the header line
            word = "#versions"
            self.pieces.append(word)
            merges = [[word[:at], word[at]] for at in range(1, len(word))]
            tokens += [t for t in [*dict.fromkeys(word), *map("".join, merges)] if t not in tokens]
        there = set(tokens)
        for _ in range(self.rng.choice([0, 5, 20, 20, 60])):
            line = self.rng.choice(lists)
            if self.sometimes(0.1):
                left, right = self.rng.choices(tokens, k=2)
            elif len(line) > 1:
                at = self.rng.randrange(len(line) - 1)
                left, right = line[at:at + 2]
            else:
                continue
            if left not in there or right not in there or [left, right] in merges or len(left + right) > 24:
                continue
            if not byte and (left.startswith("<0x") or right.startswith("<0x")):
                continue
            merges.append([left, right])
            if left + right not in there:
                there.add(left + right)
                tokens.append(left + right)
            for line in lists:
                at = 0
                while at + 1 < len(line):
                    if line[at] == left and line[at + 1] == right:
                        line[at:at + 2] = [left + right]
                    at += 1
        if self.sometimes(0.2):
            self.rng.shuffle(merges)
        return merges

    def model(self, byte):
        fallback = not byte and self.sometimes(0.7) or self.sometimes(0.02)
        first = self.rng.sample(NAMES[:4], self.rng.choice([0, 0, 3]))
        unk = self.rng.choice(first + ["<unk>"]) if (self.sometimes(0.05) if byte else self.sometimes(0.8)) else None
        tokens = first + ([unk] if unk and unk not in first else [])
        if fallback:
            values = range(256) if self.sometimes(0.9) else self.rng.sample(range(256), self.rng.choice([255, 128]))
            tokens += [f"<0x{value:02X}>" for value in values]
        alphabet = list(lib.BYTE) if byte else list(dict.fromkeys("".join(p for p in self.pieces if self.sometimes(0.85)) + SPACE + "abc"))
        if byte and self.sometimes(0.02):
            alphabet.remove(self.rng.choice(alphabet))
        tokens += [c for c in alphabet if c not in tokens]
        merges = self.join(byte, tokens)
        for _ in range(self.rng.choice([0, 0, 2])):  # tokens that no merge makes
            token = "".join(self.spelled(self.plain(self.rng.randint(1, 3)), byte))
            tokens += [token] if token and token not in tokens else []
        ids = list(range(len(tokens) + (3 if self.sometimes(0.03) else 0)))
        if self.sometimes(0.2):
            self.rng.shuffle(ids)
        made = {"type": "BPE", "dropout": None, "unk_token": unk, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                "fuse_unk": self.sometimes(0.02 if byte else 0.6), "byte_fallback": fallback, "ignore_merges": self.sometimes(0.3),
                "vocab": dict(zip(tokens, ids)), "merges": merges}
        if self.sometimes(0.02):
            made[self.rng.choice(["continuing_subword_prefix", "end_of_word_suffix"])] = self.rng.choice(["", "##", "</w>"])
        if self.sometimes(0.1) and not any(" " in part for pair in merges for part in pair):
            made["merges"] = [" ".join(pair) for pair in merges]
        if self.sometimes(0.1):
            del made[self.rng.choice(["ignore_merges", "dropout", "fuse_unk", "byte_fallback", "unk_token"])]
        return made

    def added(self, vocab):
        """Added tokens. Those in the vocabulary have its ids; the others follow it."""
        contents, made, next_id = [], [], len(vocab)
        usual = {key: self.sometimes(0.3) for key in ("single_word", "lstrip", "rstrip", "normalized")}  # flags of all added tokens, in most files
        if self.sometimes(0.4):
            usual.update(single_word=False, lstrip=False, rstrip=False)
        mixed = self.sometimes(0.3)
        for _ in range(self.rng.choice([0, 1, 2, 3, 6])):
            kind = self.rng.random()
            content = self.rng.choice(NAMES)
            if kind < 0.3:
                content = self.plain(self.rng.randint(1, 3))
            elif kind < 0.4 and contents:
                other = self.rng.choice(contents)
                content = self.rng.choice([other[:-1], other + self.rng.choice(self.pieces), other[1:] + other[:1], " " + other, other + " ", other * 2])
            elif kind < 0.55:
                content = self.rng.choice([t for t in vocab if t.isascii() or self.sometimes(0.1)] or NAMES)  # 'é' may be the spelling of a byte
            if content in contents or not content:
                continue
            contents.append(content)
            token_id = vocab.get(content)
            if token_id is None:
                token_id, next_id = next_id, next_id + 1
            flags = {k: self.sometimes(0.3) for k in usual} if mixed else usual
            made.append({"id": token_id + (1 if self.sometimes(0.005) else 0), "content": content, **flags, "special": self.sometimes(0.5)})
        return made

    def file(self):
        normalizer, pre_tokenizer, decoder, byte = self.front()
        model = self.model(byte)
        added = self.added(model["vocab"])
        self.contents = [token["content"] for token in added] + self.rng.sample(list(model["vocab"]), 2)
        return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
                "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": decoder, "model": model}


# ---- Smaller files: with one part left out ----

def without(parent, key):
    """A copy of a list or an object without one of its items."""
    made = copy.copy(parent)
    del made[key]
    return made


def replaced(top, path, value):
    made = copy.copy(top)
    made[path[0]] = replaced(top[path[0]], path[1:], value) if len(path) > 1 else value
    return made


def smaller_part(part):
    """Smaller replacements for a normalizer, pre_tokenizer or decoder."""
    if not part:
        return
    yield None
    for key in ("normalizers", "pretokenizers", "decoders"):
        for i, child in enumerate(part.get(key, [])):
            yield child
            yield {**part, key: without(part[key], i)}
            for less in smaller_part(child):
                if less:
                    yield {**part, key: [*part[key][:i], less, *part[key][i + 1:]]}
    for kind, regex in (part.get("pattern") or {}).items():
        for size in (len(regex) // 2, len(regex) // 4, 1):
            for at in range(0, len(regex), size or 1):
                if size and len(regex) > size:
                    yield {**part, "pattern": {kind: regex[:at] + regex[at + size:]}}
    for key, value in part.items():
        if value is True:
            yield {**part, key: False}


def smaller(top, keys=("normalizer", "pre_tokenizer", "decoder")):
    """Smaller files: with less under `keys`, and elsewhere. Added tokens that follow the vocabulary are renumbered."""
    for key in keys:
        for less in smaller_part(top[key]):
            yield {**top, key: less}
    for i, token in enumerate(top["added_tokens"]):
        yield renumbered({**top, "added_tokens": without(top["added_tokens"], i)})
        for key, value in token.items():
            if value is True:
                yield replaced(top, ["added_tokens", i, key], False)
        if len(token["content"]) > 1:
            yield renumbered(replaced(top, ["added_tokens", i, "content"], token["content"][1:]))
            yield renumbered(replaced(top, ["added_tokens", i, "content"], token["content"][:-1]))
    model = top["model"]
    for key, value in model.items():
        if value is True:
            yield replaced(top, ["model", key], False)
    n = len(model["merges"])
    for size in (n, n // 2, n // 4, 1):
        for at in range(0, n, size or 1):
            if size:
                yield replaced(top, ["model", "merges"], model["merges"][:at] + model["merges"][at + size:])
    needed = {part for pair in model["merges"] for part in ([*pair, "".join(pair)] if isinstance(pair, list) else [*pair.split(" "), pair.replace(" ", "")])}
    extra = [token for token in model["vocab"] if len(token) > 1 and token not in needed and token != model.get("unk_token") and not token.startswith("<0x")]
    for some in [extra] + [[token] for token in extra]:
        if some:
            yield renumbered(replaced(top, ["model", "vocab"], {t: i for t, i in model["vocab"].items() if t not in some}))


def renumbered(top):
    vocab = {token: i for i, token in enumerate(sorted(top["model"]["vocab"], key=top["model"]["vocab"].get))}
    next_id, added = len(vocab), []
    for token in top["added_tokens"]:
        known = vocab.get(token["content"])
        added.append({**token, "id": next_id if known is None else known})
        next_id += known is None
    return {**top, "added_tokens": added, "model": {**top["model"], "vocab": vocab}}
