#!/usr/bin/env python3
"""corpus.py - makes tests/fuzz/corpus again after a format has changed: a few small inputs for each fuzz target.

Records and shards are the output of the programs (their ids of runs and batches are random, so these files differ each
time); models and JSON are written by hand."""
import json
import os
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import spm  # noqa: E402
from lib import EOT, TESTS, must, run, write  # noqa: E402

CORPUS = os.path.join(TESTS, "fuzz", "corpus")


def put(target, name, data):
    os.makedirs(os.path.join(CORPUS, target), exist_ok=True)
    write(os.path.join(CORPUS, target, name), data)


def records():
    """Streams of all types of records, for the frame and the ledger."""
    write("a.txt", f"the cat\nsat on\n\nthe mat{EOT}the dog\n")
    write("long.txt", "x" * 5000)  # a pretoken in two records
    write("b.jsonl", '{"text": "caf\\u00e9", "id": "c-1"}\nno JSON\n\n{"text": "cafe"}\n')
    write("c.txt", "caf\xe9".encode("latin-1"))
    chunks = must("bpe-chunk", "--inline", "-b", "8", "a.txt")
    ranges = must("bpe-chunk", "-b", "8", "-p", "cl100k", "-s", EOT, "-s", "<pad>", "a.txt", "c.txt")
    write("d.gz", lib.bgzf([b"the cat\n", b"sat on\nthe ", b"mat\n"]))
    write("e.zst", lib.zstd_seekable([b"the dog\n", b"ran\n"]))
    compressed = must("bpe-chunk", "-b", "60", "d.gz", "e.zst")
    regex = must("bpe-chunk", "-e", r"\p{L}+", "a.txt")
    lines = must("bpe-chunk", "--inline", "--jsonl", "--on-error=skip", "b.jsonl")
    counts = b"".join(must("bpe-count", data=line + b"\n") for line in chunks.split(b"\n")[:-1])
    model = must("bpe-merge", "-v", "262", data=must("bpe-sum", data=counts))
    write("m.json", model)
    weighted = must("bpe-chunk", "--inline", "--weight=2", "a.txt", "--weight=1/3", "long.txt")
    streams = {
        "weighted-chunks": weighted, "weighted-counts": must("bpe-count", data=weighted),
        "weighted-sum": must("bpe-sum", "--weight=3/7", data=must("bpe-count", data=weighted)),
        "chunks": chunks, "ranges": ranges, "compressed": compressed, "regex": regex, "lines": lines, "counts": counts,
        "long": must("bpe-count", data=must("bpe-chunk", "--inline", "-p", "bytes", "long.txt"))[:5200],
        "skipped": must("bpe-count", data=lines),
        "sum": must("bpe-sum", data=counts),
        "twice": counts + counts,
        "lacking": b"".join(line + b"\n" for line in counts.split(b"\n")[2:-1]),
        "partial": run(["bpe-sum", "--partial"], b"".join(line + b"\n" for line in counts.split(b"\n")[2:-1]))[1],
        "tokens": must("bpe-encode", "-m", "m.json", data=must("bpe-chunk", "--inline", "-m", "m.json", "a.txt")),
        "tokens-lines": must("bpe-encode", "-m", "m.json", "--eot=before",
                             data=must("bpe-chunk", "-b", "9", "--inline", "-m", "m.json", "--jsonl", "--id=id", "--on-error=skip", "b.jsonl")),
        "failure": run(["bpe-count"], must("bpe-chunk", "c.txt"))[1],
    }
    for name, stream in streams.items():
        if name != "long":
            put("records", name, stream)
        if name not in ("ranges", "compressed", "regex", "lines"):
            put("ledger", name, stream)


def stores():
    """Streams of ids, and the journals that bpe-shard writes for them."""
    write("s.txt", f"the cat\nsat on\n\nthe mat{EOT}the dog\n" * 3)
    write("s.jsonl", '{"id": "a1", "text": "caf\\u00e9"}\n{"id": "b", "text": ""}\n')
    counts = must("bpe-count", data=must("bpe-chunk", "s.txt"))
    write("t.json", must("bpe-merge", "-v", "262", data=must("bpe-sum", data=counts)))
    encode = ["bpe-encode", "-m", "t.json"]
    chunks = [line + b"\n" for line in must("bpe-chunk", "--inline", "-b", "20", "-m", "t.json", "s.txt").split(b"\n")[:-1]]
    chunks.sort(key=lambda line: line[2:3] == b"P")
    streams = {
        "order": b"".join(must(*encode, data=chunk) for chunk in chunks),
        "late": must(*encode, data=b"".join(chunks[1:])),  # its pieces must wait for the first one
        "lines": must(*encode, data=must("bpe-chunk", "--jsonl", "-m", "t.json", "s.jsonl")),
    }
    for name, stream in streams.items():
        put("store", name, stream)
        shutil.rmtree("shards", ignore_errors=True)
        unfinished = [line + b"\n" for line in stream.split(b"\n")[:-1] if name == "late" or line[2:3] != b"P"]
        run(["bpe-shard", "-o", "shards"], b"".join(unfinished))
        with open("shards/.work/journal", "rb") as f:
            put("store", name + "-journal", f.read())


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
    tekken = {"config": {"pattern": r"\p{L}+|\s+", "default_vocab_size": 260, "default_num_special_tokens": 3, "version": "v11"}, "vocab": ["VOCAB"],
              "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}]}
    put("model", "mistral", "mistral\n" + json.dumps(tekken).replace('"VOCAB"', '@BYTES@,{"rank":256,"token_bytes":"aGU=","token_str":"he"}'))
    put("model", "mistral-old", "mistral\n" + json.dumps({
        "config": {**tekken["config"], "default_vocab_size": 277, "default_num_special_tokens": 21, "version": "v3"}, "vocab": ["VOCAB"]})
        .replace('"VOCAB"', "@BYTES@"))
    pieces = [("<unk>", 0, spm.UNKNOWN), ("</s>", 0, spm.CONTROL), ("<x>", 0, spm.USER_DEFINED), ("\u2581", -9), ("a", -8), ("é", -7), ("aé", -1), ("\u2581a", -2)]
    put("model", "sentencepiece", b"sentencepiece\n" + spm.model(pieces, eos="</s>", escape=1))
    put("model", "sentencepiece-runs", b"sentencepiece\n" + spm.model(pieces[:4] + [("\u2581" * n, -1e9) for n in (2, 3, 5)], prefix=0, name="identity"))
    put("model", "sentencepiece-bytes", b"sentencepiece\n" + spm.model(pieces[:4] + spm.BYTES, byte_fallback=1))
    config = '{"main_regex": "\\\\p{L}+|\\\\s", "merge_pattern": "\\\\p{L}", "tau": 1.1}'
    words = "0 h e 9 0\n1 \u0120 t 8 0\n2 \u0120t he 7 1\n"
    head = f"vocabulary\n260\n@BYTES@256 he 9 0\n257 \u0120t 8 0\n258 \u0120the 7 0\n259 he\u0120the 3 1\nspecial_tokens\n1\n260 {EOT}\n"
    words = f"words\n{config}\nmerges\n3\n{words}deletions\n0\n"
    put("model", "boundless", f"boundless\nBoundlessBPE v2 superbpe\n{head}{words}superwords\n{config}\nmerges\n1\n0 he \u0120the 3 1\ndeletions\n0\n")
    put("model", "boundless-word", f"boundless\nBoundlessBPE v2 word\n{head}{words}")
    roles = {"eos_token": "</s>", "pad_token": {"content": "<pad>", "normalized": False}, "image_token": None, "tokenizer_class": "GPT2TokenizerFast",
             "add_prefix_space": False}
    ids = {"257": {"content": "<a>", "special": True}, "258": {"content": "</s>", "lstrip": False}, "260": {"content": "<pad>"}}
    put("model", "config", "config\n" + json.dumps({**roles, "additional_special_tokens": ["<x>"], "extra_special_tokens": {"a_token": "<y>"}})
        + "\0" + json.dumps({"</s>": 258, "<pad>": 259}))
    put("model", "config-ids", "config\n" + json.dumps({**roles, "tokenizer_class": None, "added_tokens_decoder": ids}))


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


def documents():
    record = b"WARC/1.0\r\nWARC-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
    wet = record % (b"warcinfo", 2, b"\r\n") + record % (b"conversion", 7, b"The cat") + record % (b"conversion", 0, b"")
    put("documents", "wet", b"\x10" + wet + wet)
    put("documents", "wet-lf", b"\x42" + wet.replace(b"\r\n", b"\n").replace(b": 2", b": 1"))
    put("documents", "wet-folded", b"\x02WARC/1.1\r\nwarc-type:conversion\r\nX: 1\r\n\t2\r\nCONTENT-LENGTH : 3\r\n\r\nabc\r\n\r\n\r\n")
    put("documents", "wet-wrong", b"\x08" + wet + b"The dog\r\n")
    put("documents", "nul", b"\x11The cat\0\0sat\0")
    put("documents", "nul-open", b"\x03The cat\0<|endoftext|>\0sat")
    put("documents", "json", b'\x01{"id": "7", "meta": {"url": "a"}, "text": "one\\n"}\n{"text": "two"}\n')
    put("documents", "json-cut", b'\x05\xef\xbb\xbf{"a": {"b": "c"}, "text": "the cat sat')
    put("documents", "utf16", b"\x09" + "The cat sat.\n".encode("utf-16-le") * 3)
    put("documents", "pdf", b"\x0b%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\n")


def frames():
    """Compressed files with several frames."""
    parts = [b"the cat\n", b"", b"sat on\nthe ", b"mat\n"]
    put("frames", "bgzf", lib.bgzf(parts))
    put("frames", "seekable", lib.zstd_seekable(parts))
    put("frames", "checksums", lib.zstd_seekable(parts, checksums=True))
    put("frames", "pzstd", lib.pzstd(parts))
    put("frames", "gzip", lib.gzip_member(b"the cat", b"ab\1\0x", b"a.txt", b"no", True) + lib.gzip_member(b"sat") + bytes(9))
    put("frames", "zstd", must("zstd", "-q", "-c", data=b"the cat sat on the mat\n" * 20) + lib.zstd_frame(b"the dog"))


def shards():
    """Shards in each format: the number of the format, flags, the numbers of ids and documents, and the files (fuzz_shard.c)."""
    write("s.txt", EOT.join(["the cat sat", "", "the dog", "ran " * 20]) + EOT)
    write("s.json", must("bpe-merge", "-v", "262", data=must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "s.txt")))))
    formats = ["npy", "raw", "llmc", "megatron", "datatrove", "dolma", "mds"]
    for i, (eot, options, flags) in enumerate((("before", [], 0), ("after", ["--docs"], 2 | 8), ("after", ["-d", "u32"], 1 | 8))):
        ids = must("bpe-encode", "-m", "s.json", "--eot=" + eot, data=must("bpe-chunk", "-m", "s.json", "s.txt"))
        for k, form in enumerate(formats):
            dtype = ["-d", "i32"] if form == "megatron" and "u32" in options else options
            must("bpe-shard", "-o", f"s{i}.{form}", "-f", form, "-n", "0", *dtype, data=ids)
            with open(f"s{i}.{form}/manifest.json", encoding="utf-8") as f:
                manifest = json.load(f)
            shard, model = manifest["shards"][0], manifest["model"]["fingerprint"].encode()
            data = struct.pack("<BBHH", k, flags, shard["tokens"], shard["documents"])
            for name in [shard["name"], *[f["name"] for f in shard.get("files", [])]]:
                content = lib.read(f"s{i}.{form}/{name}").replace(model, b"%016x" % 7)
                data += struct.pack("<H", len(content)) + content
            put("shard", f"{form}{i}", data)


def count_lines():
    put("count_lines", "tabs", b"\x00" + b"3\t the\n12\tof\n1\t\\n\n4\tcaf\\xE9\n1\t\\xE9\n7\tof\n")
    put("count_lines", "uniq", b"\x21" + b"      3  the\n     12 of\n      1 \\\\\n      2 fooBar\n")
    put("count_lines", "last", b"\x42" + b" the\t3\nof\t12\n\\t\t1\n'\t18446744073709551615\n")
    put("count_lines", "raw", b"\x64" + "3\t\\\n1\ta\tb\n2\té\n".encode())
    put("count_lines", "regex", b"\x98" + "1\te\u0301\n2\t don't\n1\tx<s>\n0\ty".encode())
    put("count_lines", "shown", b"\xc0" + b"# promise run=" + b"0" * 32 + b" pattern=gpt2\n#  source number=0\n1\ta\n# commit batch=" + b"0" * 32 +
        b" pattern=gpt2 words-records=1\n#  run id=0\n# failure x\n")


def main():
    shutil.rmtree(CORPUS, ignore_errors=True)
    models()
    lines_of_json()
    documents()
    frames()
    count_lines()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        records()
        shards()
        stores()
        os.chdir("/")


main()
