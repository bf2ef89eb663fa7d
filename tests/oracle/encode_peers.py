#!/usr/bin/env python3
"""encode_peers.py - bpe-encode produces the same ids as Hugging Face tokenizers and tiktoken.

Compares the given texts (half a MB of each; all of it if WHOLE is set), every code point, and random strings, with models that our
pipeline trains on the texts. See encode_vocabularies.py for published vocabularies.

    encode_peers.py [TEXT...]    needs tokenizers, tiktoken and BUILD; prints TAP. STRINGS: number of random strings;
                                 SEED; WHOLE=1
"""
import collections
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from encode_vocabularies import PIECES, SEED, WHOLE  # noqa: E402
from lib import EOT, ok  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # its cache identifies files by name
try:
    import tiktoken
    import tiktoken.load
    import tokenizers
    from tokenizers import Tokenizer
except ImportError as why:
    lib.skip_all(why)

STRINGS = int(os.environ.get("STRINGS") or 20000)
SAMPLE = 1 << 18  # bytes of each TEXT


def sh(line, data=None):
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], input=data, stdout=subprocess.PIPE, check=True).stdout


def difference(got, want):
    at = lib.first_difference(got, want)
    return f"{len(got)} and {len(want)} ids; at {at}: {got[at:at + 10]} instead of {want[at:at + 10]}"


class Ours:
    """bpe-encode with a model."""

    def __init__(self, options):
        self.options = options

    def texts(self, texts, special):
        """A list of ids for each text. The texts are passed as JSON Lines, one document each."""
        lines = "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()
        out = sh(f"bpe-encode {self.options} --jsonl --special={special} -f text", lines).decode()
        return [[int(i) for i in line.split()] for line in out.split("\n")[:-1]]

    def file(self, path, n):
        raw = sh(f"head -c {n} {path} | bpe-encode {self.options} -d u32 --invalid=skip")
        return memoryview(raw).cast("I").tolist()


class HuggingFace:
    name = "Hugging Face"

    def __init__(self, path):
        self.t = Tokenizer.from_file(path)
        self.eot = self.t.token_to_id(EOT)

    def plain(self, texts):
        self.t.encode_special_tokens = True
        return [e.ids for e in self.t.encode_batch_fast(texts, add_special_tokens=False)]

    def special(self, texts):
        self.t.encode_special_tokens = False
        return [e.ids for e in self.t.encode_batch_fast(texts, add_special_tokens=False)]


class TikToken:
    name = "tiktoken"

    def __init__(self, enc):
        self.enc = enc
        self.eot = enc._special_tokens.get(EOT)

    @classmethod
    def from_files(cls, path):
        with open(path + ".json", encoding="utf-8") as f:
            side = json.load(f)
        ranks = tiktoken.load.load_tiktoken_bpe(path, expected_hash=side["sha256"])
        return cls(tiktoken.Encoding("ours", pat_str=side["pat_str"], mergeable_ranks=ranks, special_tokens=side["special_tokens"]))

    def plain(self, texts):
        return self.enc.encode_ordinary_batch(texts, num_threads=2)

    def special(self, texts):
        return self.enc.encode_batch(texts, num_threads=2, allowed_special="all")


def code_points():
    """Every code point, alone and doubled, after a space and before a letter, 16 per text."""
    chars = [chr(c) for c in itertools.chain(range(0xD800), range(0xE000, 0x110000))]
    return ["".join(f" {c}x{c}{c}\n{c} " for c in chars[i:i + 16]) for i in range(0, len(chars), 16)]


def random_strings(rng, n):
    return ["".join(rng.choice(PIECES) if rng.random() < 0.9 else chr(rng.choice([rng.randrange(0x300), rng.randrange(0xD800)]))
                    for _ in range(rng.randint(0, 12))) for _ in range(n)]


def compare(tag, ours, peers, texts, points=True):
    """texts: [(path, number of bytes to read), ...]."""
    lists = [("random strings", random_strings(random.Random(f"{SEED}/{tag}"), STRINGS))] + ([("every code point", code_points())] if points else [])
    for what, strings in lists:
        got = ours.texts(strings, "text")
        for peer in peers:
            bad = [(s, g, w) for s, g, w in zip(strings, got, peer.plain(strings)) if g != list(w)]
            ok(not bad and len(got) == len(strings), f"{tag}: {what} as {peer.name}", repr(bad[:1]))
    for path, n in texts:
        with open(path, "rb") as f:
            docs = f.read(n).decode(errors="ignore").split(EOT)
        got = ours.file(path, n)
        for peer in peers:
            want = []
            for i, ids in enumerate(peer.plain(docs)):
                want += ([peer.eot] if i else []) + list(ids)
            ok(got == want, f"{tag}: {os.path.basename(path)} as {peer.name}", difference(got, want))
    strings = [a + EOT + b + EOT for a, b in zip(lists[0][1][:500], lists[0][1][500:1000])]
    got = ours.texts([""] + strings, "token")[1:]
    for peer in peers:
        want = [list(w) for w in peer.special(strings)]
        ok(list(itertools.chain(*got)) == list(itertools.chain(*want)), f"{tag}: special tokens as {peer.name}")


def trained(tmp, texts):
    """Compares models trained by our pipeline."""
    corpus = " ".join(f"<(head -c {n} {p})" for p, n in texts)
    for pattern, size in [("gpt2", 1000), ("gpt2", 32000), ("cl100k", 1000), ("cl100k", 32000), ("o200k", 2000), ("deepseek-v3", 2000),
                          ("qwen2", 2000), ("nanochat", 2000), ("tekken", 2000), ("qwen3.5", 2000), ("kimi-k2", 2000), ("gpt2-digits", 2000), ("superbpe", 2000)] + ([("gpt2", 128000), ("cl100k", 128000)] if WHOLE else []):
        path = f"{tmp}/{pattern}.{size}"
        sh(f"cat {corpus} | bpe-chunk --invalid=skip -p {pattern} | parallel --pipe --block 16M bpe-count | bpe-sum | bpe-merge -v {size} -o {path}.json 2>/dev/null")
        large = size >= 32000
        compare(f"{pattern}, {size}", Ours(f"-m {path}.json"), [HuggingFace(path + ".json")], texts, points=large)
        if pattern not in ("deepseek-v3", "gpt2-digits", "superbpe"):  # several regexes, or gaps
            sh(f"bpe-model -f tiktoken -o {path}.tiktoken {path}.json")
            compare(f"{pattern}, {size}, .tiktoken", Ours(f"-m {path}.tiktoken"), [TikToken.from_files(path + ".tiktoken")], texts, points=False)


def split_by(regex):
    """A pre_tokenizer by one regex, or none."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, level]} if regex else level


def add_superwords(model, text, rounds=12, each=50):
    """Adds merges of the most frequent pairs in the text, encoded by the model so far; no two of a round have a token in common."""
    t = Tokenizer.from_str(json.dumps(model))
    words = [[token.value for token in t.model.tokenize(w)] for w, _ in t.pre_tokenizer.pre_tokenize_str(text)]
    vocab, merges = model["model"]["vocab"], model["model"]["merges"]
    for _ in range(rounds):
        counts = collections.Counter(pair for w in words for pair in zip(w, w[1:]))
        chosen, used = {}, set()
        for (a, b), _ in counts.most_common(4 * each):
            if not used & {a, b} and a != b and a + b not in vocab and len(chosen) < each:
                chosen[a] = b
                used |= {a, b}
        for a, b in chosen.items():
            merges.append([a, b])
            vocab[a + b] = max(vocab.values()) + 1
        for w in words:
            at = 0
            while at + 1 < len(w):
                if chosen.get(w[at]) == w[at + 1]:
                    w[at:at + 2] = [w[at] + w[at + 1]]
                at += 1
    model["added_tokens"][0]["id"] = max(vocab.values()) + 1


def superwords(tmp, texts):
    """Compares models with superwords, by several regexes."""
    with open(texts[0][0], "rb") as f:
        text = f.read(SAMPLE).decode(errors="ignore").replace(EOT, "\n")
    sh(f"head -c {texts[0][1]} {texts[0][0]} | bpe-chunk --invalid=skip | bpe-count | bpe-sum | bpe-merge --special-last -v 4000 -o {tmp}/words.json")
    for name, regex in (("superbpe", r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"), ("lines", r"[^\n]*\n"),
                        ("sentences", r"[^.!?]+[.!?]*\s?|[.!?]"), ("whole texts", None)):
        with open(f"{tmp}/words.json", encoding="utf-8") as f:
            model = json.load(f)
        model["pre_tokenizer"] = split_by(regex)
        add_superwords(model, text)
        path = f"{tmp}/superwords.json"
        for whole in False, True:
            model["model"]["ignore_merges"] = whole
            lib.write(path, json.dumps(model))
            compare(f"superwords, {name}{', ignore_merges' * whole}", Ours(f"-m {path}"), [HuggingFace(path)], texts, points=not whole)


def main():
    print(f"# {STRINGS} random strings; tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        paths = sys.argv[1:]
        if not paths:
            paths = [f"{tmp}/made-up.txt"]
            lib.write(paths[0], lib.text(9, 2000000))
        texts = [(p, os.path.getsize(p) if WHOLE else min(SAMPLE, os.path.getsize(p))) for p in paths]
        superwords(tmp, texts)
        trained(tmp, texts)
    return lib.done()


sys.exit(main())
