#!/usr/bin/env python3
"""encode.py [--quick] - make bench-encode: times bpe-encode and bpe encode, compared with others; see bench.py.

Ours: from start to end, including reading the model, ids to /dev/null or into a file. Theirs: the call that encodes, ids in memory,
on as many cores.
Models are trained with bpe train on the same text (32000 tokens, kept in $BUILD/corpus), or are well-known vocabularies
(vocabularies.py). BASELINE=DIR: rows that compare with an older bpe-encode and bpe-decode in DIR."""
import os
import re
import statistics
import sys

import corpus
from harness import HERE, TOP, Failure, peak, run, run_peer, shell, speedup, spin_two, start_up, with_venv
from measure import Row, Suite, at_least, at_most, beside, main

sys.path.insert(0, os.path.join(TOP, "tests"))
import vocabularies  # noqa: E402

ENCODE = "bpe", "encode"
TRAIN = "bpe", "train", "--fan-out=xargs", "-v", "32000", "-o"
BASELINE = os.environ.get("BASELINE")  # a directory with an older bpe-encode and bpe-decode
LEVELS = ["avx512", "avx2", "sse2", "none"]
PATTERNS = ["cl100k", "tekken", "qwen3.5", "kimi-k2", "gpt2-digits"]
NFC = "qwen2_5"
CHARACTERS = {"llama2": "Llama 2", "gemma3": "Gemma 3"}
LANGUAGES = ["chinese", "japanese", "thai", "arabic", "hindi"]
HOSTILE = {
    "letter": "one letter", "spaces": "spaces", "rules": "lines of dashes", "random": "random letters and spaces",
    "solid": "random letters", "ideographs": "ideographs",
}


def vocabulary_rows():
    """Each well-known vocabulary, on both texts."""
    for name in vocabularies.NAMES:
        for text in "en", "multi":
            yield Row("encode-vocabularies", f"{name}, {text}", "MB/cpu s", f"rate null-{name} {text}",
                      [at_least(2, f"rate gigatoken1-{name} {text}")])


def pattern_rows():
    """Each pattern that none of these vocabularies uses: models trained on the text, compared with that of cl100k."""
    for pattern in PATTERNS[1:]:
        for text in "en", "multi":
            yield Row("encode-patterns", f"{pattern}, 32k, {text}", "MB/cpu s", f"rate null-own.{pattern} {text}",
                      [at_least(0.85, f"rate null-own.cl100k {text}")])


def nfc_rows():
    """The same vocabulary with and without the normalizer NFC."""
    for text in "en", "multi":
        yield Row("encode-nfc", f"Qwen 2.5's vocabulary, with NFC, {text}", "MB/cpu s", f"rate null-{NFC} {text}",
                  [at_least(0.95, f"rate null-qwen2 {text}")])


def character_rows():
    """Models of characters, as SentencePiece makes them."""
    for name, what in CHARACTERS.items():
        for text in "en", "multi":
            yield Row("encode-characters", f"{what}'s vocabulary, {text}", "MB/cpu s", f"rate null-{name} {text}",
                      [at_least(2, f"rate gigatoken1-{name} {text}")])


def same_rows():
    """Whether gigatoken does the same work."""
    for name in ["own", *vocabularies.NAMES]:
        for text in "en", "multi":
            yield Row("encode-same", f"ids that differ from gigatoken's: {name}, {text}", "", f"other same-{name} {text}", [at_most(0)])


def language_rows():
    """Each language compared with the same amount of English (own: with the English model), because at first all words are new;
    start-up is excluded."""
    for model, what in ("own", "multilingual 32k"), ("o200k", "o200k"):
        for text in LANGUAGES:
            yield Row("encode-languages", f"{text.capitalize()}, {what}", "MB/cpu s", f"rate net-{model} {text}",
                      [at_least(1 / 3, f"rate net-{model} english_as_{text}")])


def hostile_rows():
    for text, what in HOSTILE.items():
        yield Row("encode-hostile", f"100 MB of {what}", "cpu s", f"cpu null-own {text}_100",
                  [at_most(12, f"cpu null-own {text}_10")] + against_old(None, f"cpu old-own {text}_100"))


def against_old(least, quantity):
    """The goal relative to the BASELINE, if one is given."""
    return [] if not BASELINE else [at_least(least, quantity) if least else beside(quantity)]


def baseline_rows():
    for text in "en", "multi":
        for level in LEVELS if BASELINE else []:
            yield Row("encode-baseline", f"bpe-encode, BPE_SIMD={level}, {text}", "MB/cpu s", f"rate null_{level}-own {text}",
                      [at_least(1.5, f"rate old_{level}-own {text}")])


# Subjects are WHAT-MODEL: own is the model trained on the text. The work of one core is compared by CPU time, which other work on
# the machine changes less.
ROWS = [
    Row("encode-one", "bpe-encode, English, 32k", "MB/cpu s", "rate null-own en",
        [at_least(3, "rate gigatoken1-own en")]),
    Row("encode-one", "the same, CPU time vs. bpe-count", "s", "cpu null-own en", [at_most(1.4, "cpu count-own en")]),
    Row("encode-one", "the same into a file", "MB/cpu s", "rate file-own en", [at_least(2.5, "rate gigatoken1-own en")]),
    Row("encode-one", "multilingual, 32k", "MB/cpu s", "rate null-own multi",
        [at_least(2.5, "rate gigatoken1-own multi")]),
    Row("encode-one", "the same, CPU time vs. bpe-count", "s", "cpu null-own multi", [beside("cpu count-own multi")]),
    Row("encode-one", "the same into a file", "MB/cpu s", "rate file-own multi",
        [at_least(2, "rate gigatoken1-own multi")]),
    Row("encode-one", "source code, English 32k", "MB/cpu s", "rate null-own source",
        [at_least(2.5, "rate gigatoken1-own source"), at_least(0.8, "rate null-own en")]),
    Row("encode-one", "JSON Lines, English, 32k", "MB/cpu s", "rate null-own en.jsonl",
        [at_least(2.5, "rate gigatoken1-own en.jsonl"), at_least(0.8, "rate null-own en")]),
    *vocabulary_rows(),
    *pattern_rows(),
    *nfc_rows(),
    *character_rows(),
    *same_rows(),
    Row("encode-two", "bpe encode -j 2, English, 32k", "MB/s", "speed two-own en",
        [at_least(2.5, "speed gigatoken2-own en")]),
    Row("encode-two", "the same into a file", "MB/s", "speed two_file-own en",
        [at_least(2, "speed gigatoken2-own en")]),
    Row("encode-two", "multilingual, 32k", "MB/s", "speed two-own multi",
        [at_least(2.5, "speed gigatoken2-own multi")]),
    Row("encode-two", "source code, English 32k", "MB/s", "speed two-own source",
        [at_least(2.5, "speed gigatoken2-own source")]),
    Row("encode-records", "bpe-chunk | bpe-encode -f records, English", "MB/cpu s", "rate records-own en",
        [at_least(0.9, "rate null-own en")]),
    Row("encode-records", "multilingual", "MB/cpu s", "rate records-own multi", [at_least(0.9, "rate null-own multi")]),
    Row("encode-super", "bpe-encode, superwords (16k of 32k), English", "MB/cpu s", "rate null-super en",
        [beside("rate null-own en"), at_least(10, "rate hf1-super en")]),
    Row("encode-super", "the same, CPU time", "s", "cpu null-super en", [at_most(1.6)]),
    Row("encode-super", "multilingual", "MB/cpu s", "rate null-super multi", [beside("rate null-own multi")]),
    Row("encode-jsonl", "bpe-encode, JSON Lines, English, 32k", "MB/cpu s", "rate null-own en.jsonl",
        [at_least(0.8, "rate null-own en"), at_least(2.5, "rate gigatoken1-own en.jsonl")]),
    Row("encode-jsonl", "the same as ASCII", "MB/cpu s", "rate null-own en-ascii.jsonl",
        [at_least(0.8, "rate null-own en"), at_least(2.5, "rate gigatoken1-own en-ascii.jsonl")]),
    Row("encode-jsonl", "JSON Lines, multilingual", "MB/cpu s", "rate null-own multi.jsonl",
        [at_least(0.7, "rate null-own multi"), at_least(1.5, "rate gigatoken1-own multi.jsonl")]),
    Row("encode-jsonl", "the same as ASCII", "MB/cpu s", "rate null-own multi-ascii.jsonl",
        [at_least(0.7, "rate null-own multi"), at_least(1.5, "rate gigatoken1-own multi-ascii.jsonl")]),
    Row("encode-jsonl", "300 of 1,080 bytes are text", "MB/cpu s", "rate null-own short.jsonl",
        [beside("rate null-own short"), beside("rate gigatoken1-own short.jsonl")]),
    Row("encode-jsonl", "more memory than plain text", "MB", "rss_mb null-own en.jsonl - rss_mb null-own en",
        [at_most(16)]),
    Row("encode-jsonl", "bpe encode -j 2, English, 32k", "MB/s", "speed two-own en.jsonl",
        [at_least(1.5, "speed gigatoken2-own en.jsonl")]),
    Row("encode-jsonl", "multilingual, 32k", "MB/s", "speed two-own multi.jsonl",
        [at_least(1.5, "speed gigatoken2-own multi.jsonl")]),
    Row("encode-compressed", "bpe-encode, one .jsonl.zst", "MB/cpu s", "rate null-own en.jsonl.zst",
        [at_least(1.2, "rate gigatoken1-own en.jsonl.zst")]),
    Row("encode-compressed", "one .jsonl.gz", "MB/cpu s", "rate null-own en.jsonl.gz",
        [at_least(1.2, "rate gigatoken1-own en.jsonl.gz")]),
    Row("encode-compressed", "20 .jsonl.zst", "MB/cpu s", "rate null-own parts.jsonl.zst",
        [at_least(1.2, "rate gigatoken1-own parts.jsonl.zst")]),
    Row("encode-compressed", "bpe encode -j 2, one .jsonl.zst", "MB/s", "speed two-own en.jsonl.zst",
        [at_least(1.2, "speed gigatoken2-own en.jsonl.zst")]),
    Row("encode-compressed", "one .jsonl.gz", "MB/s", "speed two-own en.jsonl.gz",
        [at_least(1.2, "speed gigatoken2-own en.jsonl.gz")]),
    Row("encode-compressed", "20 .jsonl.zst", "MB/s", "speed two-own parts.jsonl.zst",
        [at_least(1.2, "speed gigatoken2-own parts.jsonl.zst"), beside("speed two-own en")]),
    Row("encode-compressed", "20 .jsonl.gz", "MB/s", "speed two-own parts.jsonl.gz",
        [at_least(1.2, "speed gigatoken2-own parts.jsonl.gz"), beside("speed two-own en")]),
    Row("encode-parquet", "bpe encode -j 2, 4 Parquet files", "s", "wall parquet-own en.parquet",
        [at_most(1.9, "wall two-own en"), at_most(1, "wall gigatoken2-own en.parquet")]),
    Row("encode-memory", "bpe-encode, English", "MB", "rss_mb null-own en",
        [at_most(40), at_most(0.1, "rss_mb gigatoken1-own en")]),
    Row("encode-memory", "bpe-encode, multilingual", "MB", "rss_mb null-own multi",
        [at_most(40), at_most(0.1, "rss_mb gigatoken1-own multi")]),
    Row("encode-memory", "bpe-encode, English, o200k", "MB", "rss_mb null-o200k en", [at_most(80)]),
    Row("encode-memory", "bpe-encode, multilingual, o200k", "MB", "rss_mb null-o200k multi", [at_most(80)]),
    Row("encode-memory", "bpe encode, all processes (PSS)", "MB", "pss peak-own en",
        [at_most(0.1, "rss_mb gigatoken2-own en")]),
    Row("encode-start", "bpe-encode </dev/null, 32k", "ms", "ms start-own en", [at_most(7)]),
    Row("encode-start", "bpe-encode </dev/null, o200k", "ms", "ms start-o200k none", [at_most(35)]),
    Row("encode-growth", "bpe-encode, 1 GB", "MB/s", "speed null-own big", [at_least(0.9, "speed null-own tenth")]),
    Row("encode-growth", "bpe encode -j 2, 1 GB", "MB/s", "speed two-own big",
        [at_least(0.9, "speed two-own tenth")]),
    Row("encode-cores", "bpe encode -j 2, speedup", "times", "speedup against-own en",
        [at_least(1.8), at_least(0.95, "speedup spin-two none")]),
    Row("encode-decode", "bpe-decode, English, 32k", "MB/s", "speed decode-own en",
        against_old(2, "speed old_decode-own en")),
    Row("encode-decode", "multilingual, 32k", "MB/s", "speed decode-own multi",
        against_old(2, "speed old_decode-own multi")),
    *baseline_rows(),
    *language_rows(),
    *hostile_rows(),
    Row("encode-others", "bpe-encode, 20 MB of English, 32k", "MB/s", "speed null-own part",
        [at_least(1, "speed tiktoken1-own part"), at_least(1, "speed hf1-own part")]),
]
QUICK_LEAVES_OUT = re.compile(r" (big|tenth|part|source|short)\b|hf|own\.|gpt2|100?k|00k|llama3|qwen2|deepseek|same-|net-|_100?\b|"
                              r"parquet|multi[-.]|\.gz")


class Texts(corpus.Texts):
    """The texts of encode.py, and the models."""

    MODEL_OF = {name: "multi" for name in ("multi", "ideographs", *LANGUAGES)}  # other texts use the English model

    def made(self, name):
        kind, _, size = name.rpartition("_")
        if name in LANGUAGES:
            return [self.kept(name + ".txt", os.path.join(HERE, "texts.py"), "language", "OUT", name, self.path("multi"))]
        if kind in HOSTILE:
            run(os.path.join(HERE, "texts.py"), "hostile", self.tmp(name), kind, size + "000000")
            return [self.tmp(name)]
        if kind == "english_as":
            return [self.prefix("en", self.size(size))]
        return super().made(name)

    def tenth(self):
        return self.prefix("big", 100_000_000)

    def part(self):
        return self.prefix("en", 20_000_000)

    def source(self):
        """Python and C sources found on this machine."""
        files = ("find /usr/lib/python3* -name '*.py' -type f -print0; "
                 r"find /usr/include /usr/src -name '*.[ch]' -type f -print0; "
                 r"find /usr/include -type f \( -name '*.hpp' -o ! -name '*.*' \) -print0")
        script = f'{{ {files}; }} 2>/dev/null | LC_ALL=C sort -z | "$1" join "$2" 100000000'
        path = self.kept("source.txt", "bash", "-c", script, "bench", os.path.join(HERE, "texts.py"), "OUT")
        if os.path.getsize(path) == 0:
            raise Failure("no Python or C sources on this machine")
        return path

    def model(self, model, name):
        """own: trained on the text; own.PATTERN: the same with that pattern; else a well-known one."""
        if model == "own":
            return self.own(name)
        if model == "super":
            return self.kept(f"{name}-32k-super.json", "bpe", "train", "-v", "32000", "--super=16000", "-o", "OUT", self.path(name))
        if model.startswith("own."):
            pattern = model[len("own."):]
            return self.kept(f"{name}-32k-{pattern}.json", *TRAIN, "OUT", "-p", pattern, self.path(name))
        try:
            return corpus.cached(vocabularies.get_apart(model))
        except vocabularies.Missing as why:
            raise Failure(f"{model}: {why}") from why

    def own(self, name):
        of = self.MODEL_OF.get(re.split("[._-]", name)[0], "en")
        if of == "en" and not os.environ.get("CORPUS"):
            def make():
                run(*TRAIN, self.tmp("made-up.json"), self.path(of))
                return self.tmp("made-up.json")
            return self.fact("made-up.json", make)
        return self.kept(f"{of}-32k.json", *TRAIN, "OUT", self.path(of))


# ---- Subjects ------------------------------------------------------------------------------------------------------

def encode(t, model, name, output=None):
    return run("bpe-encode", "-m", model, *t.input(name), output=output)


def encode_file(t, model, name):
    return encode(t, model, name, t.tmp("ids"))


def two(t, model, name, *options):
    return run(*ENCODE, "-j", "2", "-m", model, *options, *t.input(name))


def two_file(t, model, name):
    return two(t, model, name, "-o", t.tmp("ids"))


def parquet(t, model, name):
    return run(*with_venv(*ENCODE, "-j", "2", "-m", model, *t.input(name)))


def against(t, model, name):
    return speedup(encode(t, model, name), two(t, model, name))


def peak_two(t, model, name):
    return peak(*ENCODE, "-j", "2", "-m", model, *t.input(name))


def start(t, model, _):
    return start_up("bpe-encode", "-m", model)


def net(t, model, name):
    """CPU time without start-up, which takes longer than encoding a short text."""
    def median(n, *files):
        return statistics.median(run("bpe-encode", "-m", model, *files)["cpu"] for _ in range(n))
    until = t.fact(("start", model), lambda: median(15, os.devnull))
    return {"cpu": median(5, *t.input(name)) - until}


def count(t, _, name):
    return run("bpe-count", t.chunks(name), output=t.tmp("counts"))


def records(t, model, name):
    script = 'bpe-chunk -m "$1" "${@:2}" | bpe-encode -m "$1" -f records > /dev/null'
    return shell(script, model, *t.input(name))


def ids_of(t, model, name):
    ids = t.tmp(f"decode-{name}")
    return t.fact(ids, lambda: encode(t, model, name, ids) and ids)


def decode(t, model, name):
    return run("bpe-decode", "-m", model, ids_of(t, model, name))


def same(t, model, name):
    """The number of ids that differ from gigatoken's; computed once."""
    def compare():
        run("bpe-encode", "-m", model, "-d", "u32", *t.input(name), output=t.tmp("same"))
        return run_peer(t, "same", "gigatoken", model, t.tmp("same"), *t.files(name))
    return t.fact(("same", model, name), compare)


def at_level(level, build=None):
    """bpe-encode with these vector instructions; build: its directory, else the current build."""
    program = os.path.join(build, "bpe-encode") if build else "bpe-encode"
    setting = ["env", f"BPE_SIMD={level}"] if level else []
    return lambda t, model, name: run(*setting, program, "-m", model, *t.input(name))


def old_decode(t, model, name):
    return run(os.path.join(BASELINE, "bpe-decode"), "-m", model, ids_of(t, model, name))


def peer(peer_name, cores):
    return lambda t, model, name: run_peer(t, "encode", peer_name, model, str(cores), *t.files(name))


SUBJECTS = {
    f"{what}-{model}": lambda t, name, f=f, model=model: f(t, t.model(model, name), name)
    for what, f in {
        "null": encode, "file": encode_file, "two": two, "two_file": two_file, "against": against, "peak": peak_two,
        "parquet": parquet, "records": records, "count": count, "net": net, "same": same,
        "start": start, "decode": decode, "old_decode": old_decode, "old": at_level(None, BASELINE),
        **{f"null_{level}": at_level(level) for level in LEVELS},
        **{f"old_{level}": at_level(level, BASELINE) for level in LEVELS},
        "gigatoken1": peer("gigatoken", 1), "gigatoken2": peer("gigatoken", 2), "tiktoken1": peer("tiktoken", 1),
        "hf1": peer("hf", 1),
    }.items() for model in ("own", "super", *(f"own.{p}" for p in PATTERNS), *vocabularies.NAMES, NFC, *CHARACTERS)
}
SUBJECTS["spin-two"] = lambda t, name: spin_two()

if __name__ == "__main__":
    peers = ["gigatoken==0.10.0", "tiktoken==0.14.0", "tokenizers==0.23.3", "pyarrow==26.0.1"]
    main(Suite(ROWS, SUBJECTS, Texts, peers, ("gigatoken", "tiktoken", "hf", "same", "parquet"), QUICK_LEAVES_OUT, "bench-encode"))
