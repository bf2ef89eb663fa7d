#!/usr/bin/env python3
"""bench.py [--quick] - make bench: times our programs, their peers and their bounds, and reports which goals are met.

The list ROWS below defines what is measured (measure.py documents its syntax). Everything in it is run alternately, RUNS rounds,
with the files in the page cache. The machine may be busy with other work, so read the ratios, which are medians over
rounds. A peer that takes more than 20 s is run once; for one that fails, or cannot be installed, the row shows the reason.

Environment: BUILD, CORPUS (a directory with en.txt and multi.txt, or with these as .zst; without it, the text is synthetic), RUNS,
ROWS (keys separated by commas: only these rows), TMPDIR. Writes a table to standard output and $BUILD/bench.txt, and all
figures to $BUILD/bench.json; if everything was measured on real text, also to figures.txt in this directory."""
import os
import re

from corpus import Texts
from harness import PEER_TIMEOUT, peak, run, run_peer, shell, speedup, spin_two, start_up, with_venv
from measure import Row, Suite, at_least, at_most, beside, main

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LINE = 'bpe-chunk "${@:2}" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 32000 > "$1"'
TRAIN = "bpe", "train", "-v", "32000"

# ---- The rows ------------------------------------------------------------------------------------------------------

MERGES_32K = "wall gigabpe-32000 {0} - wall gigabpe-300 {0}"
MERGES_128K = "wall gigabpe-128000 {0} - wall gigabpe-300 {0}"
ROWS = [
    Row("line", "pipeline, English", "s", "wall pipeline en",
        [at_most(1 / 3, "wall gigabpe-32000 en"), at_most(1 / 20, "wall hf-32000 en")]),
    Row("line", "pipeline, multilingual", "s", "wall pipeline multi", [at_most(1 / 4, "wall gigabpe-32000 multi")]),
    Row("line", "pipeline, 1 GB", "s", "wall pipeline big", [at_most(1 / 5, "wall gigabpe-32000 big")]),
    Row("xargs", "train --fan-out=xargs, English", "s", "wall xargs en", [at_most(1 / 5, "wall gigabpe-32000 en")]),
    Row("xargs", "train --fan-out=xargs, 1 GB", "s", "wall xargs big", [at_most(1 / 6, "wall gigabpe-32000 big")]),
    Row("count", "bpe-count, gpt2, English", "MB/cpu s", "rate count-gpt2 en",
        [at_least(5, "rate pcre2-loop en"), at_least(8, "rate gigabpe-300 en")]),
    Row("count", "bpe-count, gpt2, multilingual", "MB/cpu s", "rate count-gpt2 multi",
        [at_least(3.5, "rate pcre2-loop multi"), at_least(6, "rate gigabpe-300 multi")]),
    Row("count", "bpe-count, cl100k, English", "MB/cpu s", "rate count-cl100k en",
        [at_least(0.75, "rate count-gpt2 en")]),
    Row("count", "bpe-count, cl100k, multilingual", "MB/cpu s", "rate count-cl100k multi",
        [at_least(0.75, "rate count-gpt2 multi")]),
    Row("count", "bpe-count, -e REGEX, English", "MB/cpu s", "rate count-regex en",
        [at_least(0.8, "rate pcre2-loop en")]),
    Row("jsonl", "bpe-count, JSON Lines, English", "MB/cpu s", "rate count-gpt2 en.jsonl",
        [at_least(0.85, "rate count-gpt2 en")]),
    Row("jsonl", "the same as ASCII", "MB/cpu s", "rate count-gpt2 en-ascii.jsonl",
        [at_least(0.85, "rate count-gpt2 en")]),
    Row("jsonl", "JSON Lines, multilingual", "MB/cpu s", "rate count-gpt2 multi.jsonl",
        [at_least(0.7, "rate count-gpt2 multi")]),
    Row("jsonl", "the same as ASCII", "MB/cpu s", "rate count-gpt2 multi-ascii.jsonl",
        [at_least(0.7, "rate count-gpt2 multi")]),
    Row("jsonl", "300 of 1,080 bytes are text", "MB/cpu s", "rate count-gpt2 short.jsonl",
        [beside("rate count-gpt2 short"), beside("rate wc short.jsonl")]),
    Row("jsonl", "JSON Lines, more memory than plain text", "MB",
        "rss_mb count-gpt2 en.jsonl - rss_mb count-gpt2 en", [at_most(16)]),
    Row("jsonl", "documents that end with NUL", "MB/cpu s", "rate count-gpt2 en.nul", [beside("rate count-gpt2 en")]),
    Row("jsonl", "pipeline, JSON Lines", "s", "wall pipeline en.jsonl", [beside("wall pipeline en")]),
    Row("jsonl", "bpe train, JSON Lines", "s", "wall train en.jsonl", [beside("wall xargs en")]),
    Row("files", "pipeline, 20 files", "s", "wall pipeline parts", [beside("wall pipeline en")]),
    Row("files", "20 .zst", "s", "wall pipeline parts.zst", [at_most(1.3, "wall pipeline parts")]),
    Row("files", "20 .gz", "s", "wall pipeline parts.gz", [at_most(1.3, "wall pipeline parts")]),
    Row("files", "20 .jsonl", "s", "wall pipeline parts.jsonl", [beside("wall pipeline parts")]),
    Row("files", "20 .jsonl.zst", "s", "wall pipeline parts.jsonl.zst", [at_most(1.3, "wall pipeline parts")]),
    Row("files", "20 .jsonl.gz", "s", "wall pipeline parts.jsonl.gz", [beside("wall pipeline parts")]),
    Row("files", "bpe train, 20 .jsonl.zst", "s", "wall train parts.jsonl.zst", [at_most(1.3, "wall train parts")]),
    Row("one", "one .zst, default --block", "s", "wall pipeline en.zst", [at_most(2, "wall pipeline en")]),
    Row("one", "one .zst, --block 16M", "s", "wall pipeline-16M en.zst",
        [at_most(2, "wall pipeline en"), beside("wall zstd-wc en.zst")]),
    Row("one", "one .gz, --block 16M", "s", "wall pipeline-16M en.gz",
        [at_most(2, "wall pipeline en"), beside("wall gzip-wc en.gz")]),
    Row("one", "one .jsonl.zst, --block 16M", "s", "wall pipeline-16M en.jsonl.zst",
        [at_most(2, "wall pipeline en"), beside("wall zstd-wc en.jsonl.zst")]),
    Row("one", "one .zst of many frames (pzstd)", "s", "wall pipeline en.pzst", [at_most(1.3, "wall pipeline en")]),
    Row("one", "bpe train, one .jsonl.zst", "s", "wall train en.jsonl.zst", [at_most(2, "wall xargs en")]),
    Row("parquet", "bpe train --parquet, 4 files", "s", "wall parquet en.parquet",
        [at_most(1.5, "wall pipeline en"), at_most(1.5, "wall xargs en")]),
    Row("sum", "bpe-sum, eight counts of 30 MB", "M/cpu s", "records sum eight", [at_least(30)]),
    Row("sum", "bpe-sum's CPU time in the pipeline, 1 GB", "of wall", "sum_share pipeline-times big", [at_most(0.1)]),
    Row("merge", "bpe-merge, English, 32k", "s", "wall merge-32000 en", [at_most(1 / 3.5, MERGES_32K.format("en"))]),
    Row("merge", "bpe-merge, English, 128k", "s", "wall merge-128000 en", [at_most(1 / 3.5, MERGES_128K.format("en"))]),
    Row("merge", "bpe-merge, 7 M distinct, 32k", "s", "wall merge-32000 words",
        [at_most(1 / 5, MERGES_32K.format("words"))]),
    Row("merge", "bpe-merge, 7 M distinct, memory", "B each", "rss_each merge-32000 words", [at_most(100)]),
    Row("super", "bpe train --super=16000, English", "s", "wall super en", [at_most(5.5, "wall train en")]),
    Row("super", "superwords alone, CPU time", "s", "cpu super-second en", [at_most(4), beside("cpu train en")]),
    Row("super", "bpe-merge --extend, CPU time", "s", "cpu super-learn en", [at_most(0.2)]),
    Row("super", "the same, memory", "MB", "rss_mb super-learn en", [at_most(50)]),
    Row("super", "all processes (PSS)", "MB", "pss peak-super en", [beside("pss peak-xargs en")]),
    Row("super", "bpe train --super=16000,runs", "s", "wall super-runs en", [beside("wall train en")]),
    Row("super", "bpe train --boundless", "s", "wall boundless en", [beside("wall train en")]),
    Row("super", "tokens saved in the last 20 MB, not trained on", "%", "saved super-held-out en", [at_least(22.8)]),
    Row("report", "bpe report: a sum, two models", "s", "wall report en", [at_most(2)]),
    Row("report", "the same, memory", "MB", "rss_mb report en", [at_most(100)]),
    Row("report", "the same, of text", "s", "wall report-text en", [beside("wall report en")]),
    Row("chunk", "bpe-chunk, 10 GB by reference", "ms", "ms chunk sparse", [at_most(50)]),
    Row("chunk", "bpe-chunk --inline, a file", "MB/s", "speed chunk-inline en",
        [at_least(2000), beside("speed cat-inline en")]),
    Row("chunk", "bpe-chunk, a pipe", "MB/s", "speed chunk-pipe en", [at_least(2000), beside("speed cat-pipe en")]),
    Row("chunk", "bpe-chunk, 20 .zst by reference", "ms", "ms chunk parts.zst", [at_most(50)]),
    Row("chunk", "bpe-chunk, 100,000 files, CPU", "s", "cpu chunk many", [at_most(1)]),
    Row("chunk", "the same, memory", "MB", "rss_mb chunk many", [at_most(100)]),
    Row("memory", "pipeline, 1 GB, all processes (PSS)", "MB", "pss peak-pipeline big",
        [at_most(1, "rss_mb gigabpe-32000 big")]),
    Row("memory", "the same without perl", "MB", "pss_no_perl peak-pipeline big", []),
    Row("memory", "train --fan-out=xargs, 1 GB, all (PSS)", "MB", "pss peak-xargs big", [at_most(1, "rss_mb gigabpe-32000 big")]),
    Row("growth", "bpe-count, 1 GB", "MB/cpu s", "rate count-gpt2 big", [at_least(0.9, "rate count-gpt2 head")]),
    Row("growth", "train --fan-out=xargs, 1 GB", "MB/s", "speed xargs big", [at_least(0.9, "speed xargs head")]),
    Row("cores", "bpe-count, speedup of two processes", "times", "speedup count-two en",
        [at_least(1.8), at_least(0.95, "speedup spin-two none")]),
    Row("start", "bpe-count </dev/null", "ms", "ms start none", [at_most(2)]),
    Row("document", "100 MB as one pretoken, V = 1000", "s", "wall pipeline-bytes document",
        [at_most(1, "wall gigabpe-1000-bytes document"), at_most(1, "wall hf-1000-bytes document")]),
]
QUICK_LEAVES_OUT = re.compile(r"held-out|peak-| (big|head|words|document|sparse|short|many)\b|hf-|128000|\.(gz|pzst|nul|parquet)")


# ---- Subjects: each runs once on a text and returns what it took ---------------------------------------------------

def line(script):
    return lambda t, name: shell(script, t.tmp("model"), *t.input(name))


def line_times(t, name):
    took = line(LINE.replace("bpe-sum", '{ bpe-sum; times > "$1.times"; }'))(t, name)
    with open(t.tmp("model.times")) as f:
        used = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", f.read().splitlines()[1]))
    return dict(took, sum_share=used / took["wall"])


def line_bytes(t, name):
    script = 'bpe-chunk -p bytes --no-special "$1" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 1000 > "$2"'
    return shell(script, t.path(name), t.tmp("model"), timeout=PEER_TIMEOUT)


def train(*options):
    return lambda t, name: run(*TRAIN, *options, "-o", t.tmp("model"), *t.input(name))


def super_second(t, name):
    """Superwords alone: words are those of a model."""
    def make():
        run("bpe", "train", "-v", "16000", "-o", t.tmp("words.json"), *t.input(name))
        return t.tmp("words.json")
    return run(*TRAIN, "--super=16000", "--init", t.fact("words.json", make), "-o", t.tmp("model"), *t.input(name))


def super_learn(t, name):
    """The learner of superwords, in all rounds of bpe train together."""
    def make():
        run(*TRAIN, "--super=16000", "--keep", t.tmp("learn"), "-o", t.tmp("model"), *t.input(name))
        return t.tmp("learn")
    return shell("""
        for model in "$1"/16000-?.json; do
            sum=${model%.json}-runs/sum
            [ ! -e "$sum" ] || bpe-merge --extend="$model" -v 32000 -q -o "$2" "$sum"
        done""", t.fact("learn", make), t.tmp("model"))


def super_held_out(t, name):
    """How many of 100 tokens superwords save in text that was not trained on."""
    shell("""
        head -c -20000000 "$2" > "$1.head"; tail -c 20000000 "$2" | tail -n +2 > "$1.tail"
        bpe train -v 32000 -o "$1.plain" "$1.head"; bpe train -v 32000 --super=16000 -o "$1.super" "$1.head"
        for model in plain super; do bpe-encode -d u32 -m "$1.$model" "$1.tail" | wc -c; done > "$1.bytes" """, t.tmp("held"), *t.input(name))
    with open(t.tmp("held.bytes")) as f:
        plain, superwords = map(int, f)
    return {"saved": 100 * (1 - superwords / plain)}


def parquet(t, name):
    return run(*with_venv(*TRAIN, "-o", t.tmp("model"), *t.input(name)))


def peak_line(t, name):
    return peak("bash", "-c", LINE, "bench", t.tmp("model"), *t.input(name))


def peak_train(*options):
    return lambda t, name: peak(*TRAIN, *options, "-o", t.tmp("model"), *t.input(name))


def count(*options):
    def subject(t, name):
        return run("bpe-count", t.chunks(name, *options), output=t.tmp("counts"))
    return subject


def pcre2_loop(t, name):
    run("pcre2_loop", GPT2, t.path(name), output=t.tmp("loop"))
    with open(t.tmp("loop")) as f:
        return {"cpu": float(f.read().split()[4])}


def count_two(t, name):
    chunks = t.chunks(name, "-b", "8M")
    shell('split -n l/2 "$1" "$1.half."', chunks)
    both = 'bpe-count "$1.half.aa" > /dev/null & bpe-count "$1.half.ab" > /dev/null; wait $!'
    return speedup(shell('bpe-count "$1" > /dev/null', chunks), shell(both, chunks))


def add(t, name):
    t.path(name)
    files = [t.tmp(f"eight.{i}") for i in range(8)]
    n = t.fact("records", lambda: t.n_words(*files))
    took = run("bpe-sum", *files, output=t.tmp("sum"))
    return dict(took, records=n / took["cpu"] / 1e6, n_records=n)


def merge(vocab):
    def subject(t, name):
        sums = t.sum(name)
        n = t.fact(("distinct", name), lambda: t.n_words(sums))
        took = run("bpe-merge", "-v", str(vocab), sums, output=t.tmp("model"))
        return dict(took, rss_each=took["rss"] / n, distinct=n)
    return subject


def report(source):
    """What 32,000 and 8,000 tokens do to a sum, or to the text itself."""
    def subject(t, name):
        def make():
            run("bpe-merge", "-q", "-v", "32000,8000", "-o", t.tmp("model-%v.json"), t.sum(name))
            return [word for size in (32000, 8000) for word in ("-m", t.tmp(f"model-{size}.json"))]
        return run("bpe", "report", "-o", t.tmp("report.html"), *t.fact("two models", make), source(t, name))
    return subject


def chunk(t, name):
    took = run("bpe-chunk", *t.input(name))
    return dict(took, ms=took["wall"] * 1e3)


def on_file(script):
    return lambda t, name: shell(script, t.path(name))


def peer(trainer, vocab, rule="gpt2"):
    return lambda t, name: run_peer(t, trainer, t.path(name), str(vocab), t.tmp("model"), rule)


SUBJECTS = {
    "pipeline": line(LINE), "pipeline-16M": line(LINE.replace("--pipe", "--pipe --block 16M")),
    "pipeline-times": line_times, "pipeline-bytes": line_bytes,
    "xargs": train("--fan-out=xargs"), "train": train(), "parquet": parquet,
    "super": train("--super=16000"), "super-second": super_second, "super-learn": super_learn, "super-held-out": super_held_out,
    "super-runs": train("--super=16000,runs", "-f", "boundless"), "boundless": train("--boundless", "-f", "boundless"),
    "peak-super": peak_train("--super=16000"),
    "peak-pipeline": peak_line, "peak-xargs": peak_train("--fan-out=xargs"),
    "count-gpt2": count(), "count-cl100k": count("-p", "cl100k"), "count-regex": count("-e", GPT2),
    "count-two": count_two,
    "pcre2-loop": pcre2_loop, "spin-two": lambda t, name: spin_two(), "sum": add,
    "merge-32000": merge(32000), "merge-128000": merge(128000),
    "report": report(lambda t, name: t.sum(name)), "report-text": report(lambda t, name: t.path(name)),
    "chunk": chunk, "chunk-inline": on_file('bpe-chunk --inline "$1" | cat > /dev/null'),
    "chunk-pipe": on_file('cat "$1" | bpe-chunk | cat > /dev/null'),
    "cat-inline": on_file('cat "$1" | cat > /dev/null'), "cat-pipe": on_file('cat "$1" | cat | cat > /dev/null'),
    "wc": on_file('wc -l "$1" > /dev/null'),
    "zstd-wc": on_file('zstd -dc "$1" | wc -c'), "gzip-wc": on_file('gzip -dc "$1" | wc -c'),
    "start": lambda t, name: start_up("bpe-count"),
    "gigabpe-300": peer("gigabpe", 300), "gigabpe-32000": peer("gigabpe", 32000),
    "gigabpe-128000": peer("gigabpe", 128000),
    "gigabpe-1000-bytes": peer("gigabpe", 1000, "bytes"),
    "hf-32000": peer("hf", 32000), "hf-1000-bytes": peer("hf", 1000, "bytes"),
}

if __name__ == "__main__":
    peers = ["tokenizers==0.23.3", "gigabpe==0.1.0", "pyarrow==26.0.1"]
    main(Suite(ROWS, SUBJECTS, Texts, peers, ("gigabpe", "hf", "parquet"), QUICK_LEAVES_OUT, "bench"))
