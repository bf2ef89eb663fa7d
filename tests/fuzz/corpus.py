#!/usr/bin/env python3
"""corpus.py - makes tests/fuzz/corpus anew, where a format has changed: a few small inputs for each fuzz target.

What the programs write is taken as they write it today (ids of runs and batches are random: those files differ each
time); models and JSON are written here by hand."""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import EOT, TESTS, must, run, write  # noqa: E402

CORPUS = os.path.join(TESTS, "fuzz", "corpus")


def put(target, name, data):
    os.makedirs(os.path.join(CORPUS, target), exist_ok=True)
    write(os.path.join(CORPUS, target, name), data)


def records():
    """Streams of all types of records; for the frame, and for the ledger."""
    write("a.txt", f"the cat\nsat on\n\nthe mat{EOT}the dog\n")
    write("long.txt", "x" * 5000)  # a pretoken in two records
    write("b.jsonl", '{"text": "caf\\u00e9"}\nno JSON\n{"text": "cafe"}\n')
    write("c.txt", "caf\xe9".encode("latin-1"))
    chunks = must("bpe-chunk", "--inline", "-b", "8", "a.txt")
    ranges = must("bpe-chunk", "-b", "8", "-p", "cl100k", "-s", EOT, "-s", "<pad>", "a.txt", "c.txt")
    write("d.gz", lib.bgzf([b"the cat\n", b"sat on\nthe ", b"mat\n"]))
    write("e.zst", lib.zstd_seekable([b"the dog\n", b"ran\n"]))
    compressed = must("bpe-chunk", "-b", "60", "d.gz", "e.zst")
    regex = must("bpe-chunk", "-e", r"\w+", "a.txt")
    lines = must("bpe-chunk", "--inline", "--jsonl", "--on-error=skip", "b.jsonl")
    counts = b"".join(must("bpe-count", data=line + b"\n") for line in chunks.split(b"\n")[:-1])
    model = must("bpe-merge", "-v", "262", data=must("bpe-sum", data=counts))
    write("m.json", model)
    streams = {
        "chunks": chunks, "ranges": ranges, "compressed": compressed, "regex": regex, "lines": lines, "counts": counts,
        "long": must("bpe-count", data=must("bpe-chunk", "--inline", "-p", "bytes", "long.txt"))[:5200],
        "skipped": must("bpe-count", data=lines),
        "sum": must("bpe-sum", data=counts),
        "twice": counts + counts,
        "lacking": b"".join(line + b"\n" for line in counts.split(b"\n")[2:-1]),
        "partial": run(["bpe-sum", "--partial"], b"".join(line + b"\n" for line in counts.split(b"\n")[2:-1]))[1],
        "tokens": must("bpe-encode", "-m", "m.json", data=must("bpe-chunk", "--inline", "-m", "m.json", "a.txt")),
        "failure": run(["bpe-count"], must("bpe-chunk", "c.txt"))[1],
    }
    for name, stream in streams.items():
        if name != "long":
            put("records", name, stream)
        if name not in ("ranges", "compressed", "regex", "lines"):
            put("ledger", name, stream)


def models():
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\s+"}, "behavior": "Isolated", "invert": False}
    token = {"id": 259, "content": EOT, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    vocab = '{@BYTES@,"he":256,"\u0120t":257,"\u0120the":258}'

    def tokenizer(merges, pre, **more):
        model = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, **more,
                 "vocab": "VOCAB", "merges": merges}
        whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [token], "normalizer": None,
                 "pre_tokenizer": pre, "post_processor": None, "decoder": byte_level, "model": model}
        return "json\n" + json.dumps(whole, ensure_ascii=False, separators=(",", ":")).replace('"VOCAB"', vocab)
    merges = [["h", "e"], ["\u0120", "t"], ["\u0120t", "he"]]
    put("model", "json", tokenizer(merges, byte_level))
    put("model", "json-strings", tokenizer([" ".join(m) for m in merges], byte_level, ignore_merges=True))
    put("model", "json-sequence", tokenizer(merges, {"type": "Sequence", "pretokenizers": [split, dict(byte_level, use_regex=False)]}))
    put("model", "json-small", 'json\n{"model":{"vocab":{@BYTES@},"merges":[]}}')
    put("model", "gpt2", f"gpt2\n{vocab}\0#version: 0.2\nh e\n\u0120 t\n\u0120t he\n")
    put("model", "gpt2-special", 'gpt2\n{@BYTES@,"<|endoftext|>":256}\0')
    ranks = "tiktoken\n@BYTES@aGU= 256\nIHQ= 257\nIHRoZQ== 258\n"
    side = {"pat_str": r"\p{L}+|\s+", "special_tokens": {EOT: 259}, "explicit_n_vocab": 260}
    put("model", "tiktoken", ranks)
    put("model", "tiktoken-beside", ranks + "\0" + json.dumps(side))


def lines_of_json():
    values = {
        "values": '[null,true,false,0,-1.5e+3,"a\\u00e9\\ud83d\\ude42\\n\\"",{"k":[],"":{}}]',
        "spaces": ' \n{ "a" :\t1 , "b" : [ 2 ,\r\n3 ] } ',
        "deep": "[" * 130 + "]" * 130,
        "surrogate": '["\\ud800","\\udc00x"]',
        "pairs": '[["a","b"],["\u0120","the"]]',
        "bad": '{"a":01,}',
    }
    for name, value in values.items():
        put("json", name, b"\x05" + value.encode())
    put("json", "invalid", b"\xff[\"\xc3\xa9\xff\xed\xa0\x80\"]")
    lines = '{"text": "one"}\n{"id": 1, "a": {"text": "\\ud83d\\ude42"}, "text": "two\\u0000"}\n\n{"text": 1}\n{"text": "1", "text": "2"}\n'
    put("jsonl", "error", b"\0" + lines.encode())
    put("jsonl", "replace", b"\1" + lines.encode() + b'{"text": "caf\xe9 \\ud800 \xf0\x9f"}\n{"\xff": 1, "text": "x"}')
    put("jsonl", "skip", b'\2\xef\xbb\xbf{"text": "\\ude42\xed\xa0\x80"}\r\n{"text": "x"} y\n{"text": 1e999, "a": {"text": ""}}\n\xff{"text": "z"}')
    put("jsonl", "bad", b'\0[1]\n{"text"}\n{"text": NaN}\n{"text": "a\tb"}\nnull\n{"a": "text"}\n')


def frames():
    """Compressed files of several frames."""
    parts = [b"the cat\n", b"", b"sat on\nthe ", b"mat\n"]
    put("frames", "bgzf", lib.bgzf(parts))
    put("frames", "seekable", lib.zstd_seekable(parts))
    put("frames", "checksums", lib.zstd_seekable(parts, checksums=True))
    put("frames", "pzstd", lib.pzstd(parts))
    put("frames", "gzip", lib.gzip_member(b"the cat", b"ab\1\0x", b"a.txt", b"no", True) + lib.gzip_member(b"sat") + bytes(9))
    put("frames", "zstd", must("zstd", "-q", "-c", data=b"the cat sat on the mat\n" * 20) + lib.zstd_frame(b"the dog"))


def main():
    shutil.rmtree(CORPUS, ignore_errors=True)
    models()
    lines_of_json()
    frames()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        records()
        os.chdir("/")


main()
