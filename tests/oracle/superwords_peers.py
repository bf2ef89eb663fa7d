#!/usr/bin/env python3
"""superwords_peers.py - bpe train --super on real text learns what a slow trainer learns (superwords_slow.py, which was itself compared with the
authors' trainer), and Hugging Face tokenizers and bpe-encode give the same ids with the result.

If the text is the whole English corpus, there is also a result of the authors' trainer to be reached: on its first 20 MB, by lines, with 16,000
merges of GPT-2's pattern, it learns 16,146 superwords, in 333 s of CPU and 1.1 GB; SHA256 is that of its merges. And there are results of
fastboundlessbpe (without deletion) on the documents in these 20 MB, 16,000 merges of GPT-2's pattern and 15,743 superwords, or both in
competition: FAST has the SHA256 of the merges of words and superwords with their counts.

    superwords_peers.py TEXT...      needs BUILD, and for the ids tokenizers; prints TAP. BYTES: of each text, for the slow trainer (300000)
"""
import hashlib
import json
import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import superwords_slow as slow  # noqa: E402

try:
    from tokenizers import Tokenizer
except ImportError:
    Tokenizer = None

BYTES = int(os.environ.get("BYTES") or 300000)
FIRST, ALL = 4000, 6000
FAST = {
    ("-v", "32000", "--super=16257,runs"): "e70eb563d24c200ebe42e2a0f27122d6448bd8b13326c57b5a51d43633e636af",
    ("-v", "16257", "--boundless"): "5b3898661b5ecb942fa5f49e3547ab39fefc9d42d4f9d196094c11168b7ae734",
}
CORPUS = 199000000  # bytes, at least, of the English corpus
SHA256 = "f576c0ab75f3645d9f4965067b1f08ee8f6fbb1c802a6098d96f3d6af9ac946b"


def merges_of(path):
    return [tuple(pair) for pair in json.loads(lib.read(path))["model"]["merges"]]


def unspelled(merges):
    return [tuple(lib.unspell(token) for token in pair) for pair in merges]


def learn(name, text):
    """Trains on the start of a text, by documents and by lines."""
    part = text[:text.rfind(b"\n", 0, BYTES) + 1] or text[:BYTES]
    lib.write("part", part)
    lib.must("bpe", "train", "-v", str(FIRST), "-o", "first.json", "part")
    inherited = unspelled(merges_of("first.json"))
    for lines in False, True:
        words = Counter(w for p in slow.pretokens_of(slow.documents_of(part, lines), slow.STAGE2) for w in p)
        wanted, _, skipped = slow.superbpe(words, inherited, ALL, drop=lines)
        lib.must("bpe", "train", "-v", str(ALL), f"--super={257 + len(inherited)}{',lines,drop' * lines}", "--init=first.json", "--live=50000",
                 "-o", "super.json", "part")
        lib.ok(unspelled(merges_of("super.json")) == wanted,
               f"{name}: {len(wanted)} merges by {'lines, without unused ones' if lines else 'documents'} ({len(skipped)} unused)")


def encode(name, text):
    """Encodes a text with the last model."""
    if Tokenizer is None:
        lib.skip(f"{name}: the ids of Hugging Face", "no PyPI tokenizers")
        return
    documents = [d.decode() for d in slow.documents_of(text) if d]
    tokenizer = Tokenizer.from_file("super.json")
    ids = [i for e in tokenizer.encode_batch(documents, add_special_tokens=False) for i in e.ids]
    lib.write("documents", "".join(json.dumps({"text": d}) + "\n" for d in documents))
    ours = [int(i) for i in lib.must("bpe-encode", "-m", "super.json", "--jsonl", "--format=text", "documents").split()]
    lib.ok(ids == ours, f"{name}: the {len(ids)} ids of Hugging Face")


def authors(path):
    """The result of the authors' trainer. It takes <|endoftext|> as ordinary text, but stage 1 was made with documents."""
    lib.must("bpe", "train", "-v", "16257", "-o", "all.json", path)
    model = json.loads(lib.read("all.json"))
    vocab = sorted((i, token) for token, i in model["model"]["vocab"].items() if token != lib.EOT)
    model["model"]["vocab"] = {token: i for i, (_, token) in enumerate(vocab)}
    model["added_tokens"] = []
    lib.write("all.json", json.dumps(model))
    with open(path, "rb") as f:
        lib.write("20.txt", f.read(20000000))
    lib.must("bpe", "train", "-v", "32078", "--super=16256,lines,drop", "--init=all.json", "--no-special", "-o", "20.json", "20.txt")
    merges = merges_of("20.json")
    known = set(merges_of("all.json"))
    lib.ok(sum(m not in known for m in merges) == 16146, "20 MB of English: 16,146 superwords")
    digest = hashlib.sha256("\n".join(" ".join(pair) for pair in merges).encode()).hexdigest()
    lib.ok(digest == SHA256, "  all merges are those of the authors' trainer", digest)


def fast(path):
    """The results of fastboundlessbpe."""
    with open(path, "rb") as f:
        text = f.read(20000000)
    lib.write("documents.txt", text[:text.rfind(lib.EOT.encode()) + len(lib.EOT)])
    for options, wanted in FAST.items():
        lib.must("bpe", "train", *options, "-f", "boundless", "-o", "fast.model", "documents.txt")
        lines, digest = lib.read("fast.model").decode().split("\n"), hashlib.sha256()
        for section in "words", "superwords":
            at = lines.index(section) + 3
            for row in lines[at + 1:at + 1 + int(lines[at])]:
                digest.update((" ".join(row.split(" ")[1:4]) + "\n").encode())
        lib.ok(digest.hexdigest() == wanted, f"20 MB of English, {' '.join(options)}: the merges and counts of fastboundlessbpe", digest.hexdigest())


paths = [os.path.abspath(path) for path in sys.argv[1:]]
lib.own_directory()
for path in paths:
    with open(path, "rb") as f:
        start = f.read(4 * BYTES)
    start = start[:start.rfind(b"\n") + 1] or start
    learn(os.path.basename(path), start)
    encode(os.path.basename(path), start)
    if "en" in os.path.basename(path) and os.path.getsize(path) > CORPUS:
        authors(path)
        fast(path)
sys.exit(lib.done())
