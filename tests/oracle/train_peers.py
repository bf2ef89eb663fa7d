#!/usr/bin/env python3
"""train_peers.py [FILE...] - compares the pipeline of the README with Hugging Face's BpeTrainer, merge for merge.

Both train on each FILE (default: generated text) with V = 32000 and the patterns gpt2 and cl100k, on files of less than 10 MB also with
o200k and deepseek-v3, and on generated text with all patterns. They use the first 15 MB of large files, or with WHOLE=1 everything. Our
tokenizer.json must equal Hugging Face's byte for byte, and load again. Needs PyPI tokenizers; BUILD is the directory of the programs. TAP.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import EOT, ok  # noqa: E402

try:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError as missing:
    lib.skip_all(missing)

V = 32000
SIZE = sys.maxsize if os.environ.get("WHOLE") else 6000000


def documents(path):
    rest = ""
    with open(path, encoding="utf-8", newline="") as f:
        while block := f.read(1 << 24):
            parts = (rest + block).split(EOT)
            rest = parts.pop()
            yield from parts
    yield rest


def beginning(path, scratch):
    """The file, or a new one with its first documents, of SIZE bytes or slightly more."""
    if os.path.getsize(path) <= SIZE:
        return path
    head = os.path.join(scratch, os.path.basename(path))
    with open(head, "w", encoding="utf-8", newline="") as f:
        for doc in documents(path):
            f.write(doc + EOT)
            if f.tell() > SIZE:
                return head
    return head


def regexes():
    """{pattern: its regexes} of the built-in patterns; pretok_peers.py compares them with those of others."""
    lines = lib.must("pretok", "--regexes").decode()
    return {name: texts for name, *texts in (line.split("\t") for line in lines.splitlines())}


def train_hf(path, pattern):
    tok = Tokenizer(models.BPE())
    of_gpt2 = pattern in ("gpt2", "gpt2-digits")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=of_gpt2)
    splits = [pre_tokenizers.Digits(individual_digits=True)] if of_gpt2 else \
        [pre_tokenizers.Split(Regex(regex), "isolated") for regex in regexes()[pattern]]
    tok.pre_tokenizer = level if pattern == "gpt2" else pre_tokenizers.Sequence([*splits, level])
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(documents(path), trainers.BpeTrainer(
        vocab_size=V, special_tokens=[EOT], show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tok


def train_ours(path, pattern, out):
    line = 'set -o pipefail; bpe-chunk -p "$1" "$2" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v "$3" > "$4"'
    subprocess.run(["bash", "-c", line, "line", pattern, path, str(V), out], check=True)


def main():
    files, wanted = sys.argv[1:], ("gpt2", "cl100k", "o200k", "deepseek-v3")
    with tempfile.TemporaryDirectory() as scratch:
        if not files:
            wanted = list(regexes())
            files = [os.path.join(scratch, "made-up.txt")]
            lib.write(files[0], lib.text(1, 3000000))
        for path in (beginning(path, scratch) for path in files):
            for pattern in wanted if os.path.getsize(path) < 3e6 else wanted[:2]:
                name = f"{os.path.basename(path)}, {pattern}"
                out = os.path.join(scratch, "tokenizer.json")
                start = time.time()
                train_ours(path, pattern, out)
                between = time.time()
                hf = train_hf(path, pattern)
                print(f"# {name}: {between - start:.2f} s, Hugging Face {time.time() - between:.2f} s", flush=True)
                ours = open(out, encoding="utf-8").read()
                theirs = hf.to_str(pretty=True)
                mine, his = json.loads(ours)["model"]["merges"], json.loads(theirs)["model"]["merges"]
                ok(mine == his, f"{name}: all {len(his)} merges are Hugging Face's")
                ok(ours == theirs, f"{name}: tokenizer.json equals Hugging Face's, byte for byte")
                sample = "".join(doc for doc, _ in zip(documents(path), range(20)))[:200000]
                loaded = Tokenizer.from_file(out)
                ok(loaded.encode(sample).ids == hf.encode(sample).ids and loaded.decode(loaded.encode(sample).ids) == sample,
                   f"{name}: it loads, and encodes and decodes alike")
    sys.exit(lib.done())


main()
