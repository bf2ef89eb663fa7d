#!/usr/bin/env python3
"""show.t - bpe show: the tokens of a text as people see them, their offsets, and two models compared.

The ids must be those of bpe-encode. Without a normalizer, the offsets divide the file. With one, the bytes of the file between the
offsets, normalized by Python, are those of the tokens. (tests/oracle/show_peers.py compares offsets with Hugging Face's.)

    SEED     random seed (printed); TEXTS: number of random texts for each model (6)
"""
import itertools
import json
import os
import random
import re
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import ok  # noqa: E402

lib.own_directory()
RNG = random.Random(lib.seed())
TEXTS = int(os.environ.get("TEXTS") or 6)
PIECES = "pieces", "unknown", "each-unknown"
PARTS = ["a", "b", "ab", "the ", " the", " and", "of", " ", "  ", "\n", "\n\n", "\t", "1", "2024", ".", ", ", "é", "e\u0301", "a\u0323\u0302", "\u0301", "Å",
         "\u212b", "語", "\u1112\u1161\u11ab", "\u2581", "\u00b7", "|", "\\", "\u200b", "\u3000", "\0", "\x7f", "\U0001f980", lib.EOT]


def text(n):
    return "".join(RNG.choices(PARTS, k=n))


def show(*options, data=b"", path=None):
    """(status, output, messages)"""
    code, out, err = lib.run(["bpe", "show", *options, *([path] if path else [])], data)
    return code, out.decode(), err


def shown(*options, data=b""):
    code, out, err = show(*options, data=data if isinstance(data, bytes) else data.encode())
    return out if code == ("--diff" in options and "differ in 0 places" not in out) and not err else f"exit {code}: {err}"


def spans(model, path, *options):
    code, out, err = show("--offsets", "-m", model, *options, path=path)
    assert code == 0, err
    return [tuple(map(int, line.split("\t"))) for line in out.splitlines()]


# ---- Models ----
TRAINING = "the lazy dog and the quick fox, of the house and of the 2024 cats\n" * 40 + text(3000)
lib.write("train.txt", TRAINING)
lib.write("words.txt", "".join(part for part in TRAINING if part != "\0"))
for name, *options in (
    ["gpt2"], ["o200k", "-p", "o200k"], ["nfc", "--normalize=nfc"], ["super", "--super=300"],
    ["boundless", "--super=320,runs", "-f", "boundless"], ["ranks", "-f", "tiktoken", "--tie=id"],
):
    lib.must("bpe", "train", "-v", "360", "-o", name, *options, "train.txt")


def character_model(**settings):
    """As SentencePiece's: characters, the prefix and U+2581 for spaces."""
    tokens = ["<unk>", "<s>", *(f"<0x{b:02X}>" for b in range(256)), "\u2581", *"abtheofnd .,", "é", "語"]
    merges = [["t", "h"], ["th", "e"], ["\u2581", "the"], ["a", "b"], ["n", "d"], ["\u2581", "\u2581"]]
    tokens = list(dict.fromkeys(tokens + ["".join(m) for m in merges]))
    return {"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "decoder": None, "pre_tokenizer": None,
            "added_tokens": [{"id": 0, "content": "<unk>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}],
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                                                               {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
            "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": True, "byte_fallback": True, "ignore_merges": False, "vocab": {t: i for i, t in enumerate(tokens)},
                      "merges": merges, **settings}}


lib.write("pieces", json.dumps(character_model()))
lib.write("unknown", json.dumps(character_model(byte_fallback=False)))
lib.write("each-unknown", json.dumps(character_model(byte_fallback=False, fuse_unk=False)))


# ---- Any model, any text ----

def bytes_of(model):
    """The bytes of each token, by id; None for one of a single byte or of unknown characters. Empty: the format is another one."""
    if lib.read(model)[:1] != b"{" or b'"vocab"' not in lib.read(model):
        return {}
    vocab = json.loads(lib.read(model))["model"]["vocab"].items()
    if model in PIECES:
        return {i: None if t[:1] == "<" else t.replace("\u2581", " ").encode() for t, i in vocab}
    return {i: lib.EOT.encode() if t == lib.EOT else lib.unspell(t) for t, i in vocab}


def check_plain(model, path, raw):
    """The offsets divide the file; only a prefix is empty."""
    got, at, token = spans(model, path), 0, bytes_of(model)
    for number, begin, end in got:
        if begin != at or end < begin:
            return f"{begin}..{end} after {at}"
        part = raw[begin:end].replace("\u2581".encode(), b" ") if model in PIECES else raw[begin:end]
        is_first = model in PIECES and (begin == 0 or raw[:begin].endswith(lib.EOT.encode()))  # it may have the prefix
        if token and token[number] and not is_first and part != token[number]:
            return f"token {number} at {begin}: {part}, not {token[number]}"
        at = end
    ids = lib.must("bpe-encode", "-f", "text", "-m", model, path).split()
    return "" if at == len(raw) and [str(g[0]).encode() for g in got] == ids else f"{at} of {len(raw)}, {len(got)} of {len(ids)} tokens"


def check_normal(model, path, raw):
    """Tokens that share bytes of the file belong together: these bytes, normalized, are theirs."""
    got, groups = spans(model, path), []
    vocab = bytes_of(model)
    for span in got:
        if groups and (span[1] < groups[-1][-1][2] or not_whole(raw, span[1])):
            groups[-1].append(span)
        else:
            groups.append([span])
    for group in groups:
        part = raw[group[0][1]:group[-1][2]]
        if unicodedata.normalize("NFC", part.decode()).encode() != b"".join(vocab[s[0]] for s in group):
            return f"{part} is not {group}"
    return "" if groups[-1][-1][2] == len(raw) else "not the whole file"


def not_whole(raw, at):
    """Whether a character goes on at this byte."""
    return at < len(raw) and raw[at] & 0xC0 == 0x80


for model in ("gpt2", "o200k", "super", "boundless", "ranks", *PIECES, "nfc"):
    bad = ""
    for i in range(TEXTS):
        raw = text(RNG.choice([1, 5, 40, 400])).encode() if i else (text(300) * 400).encode()  # the first has several windows
        lib.write("t", raw)
        bad = bad or (check_normal if model == "nfc" else check_plain)(model, "t", raw)
    ok(not bad, f"{model}: all tokens, and where they come from", bad)

# ---- As people see it ----
lib.write("tiny.json", lib.must("bpe", "train", "-v", "257", data=b"x"))
lib.write("chars.json", lib.must("bpe", "train", "-v", "290", data="a\u00b7a\u200ba\u3000a.é.".encode() * 50))
same = shown("-m", "chars.json", data="x |\u00b7\\\t\u200b\u3000\x07\n\né\r" + lib.EOT + "y")
ok(same == "x|·|\\||\\u00B7|\\\\|\\t|\\u200B|\\u3000|\\x07|\\n\n\\n\né|\\r|<|endoftext|>\ny\n", "what is hard to see", same)
ok(shown("-m", "tiny.json", data="aé\n") == "a|\\xC3|\\xA9|\\n\n", "a character in several tokens")
ok(shown("-m", "tiny.json", "--ids", data="ab\n") == "a{65}|b{66}|\\n{199}\n", "--ids", shown("-m", "tiny.json", "--ids", data="ab\n"))
ok(shown("-m", "tiny.json", "-i", data="a") == "a{65}\n", "the last line ends")
ok(shown("-m", "tiny.json", data="") == "", "no text")
ok(shown("-m", "tiny.json", "-0", data="a\0b\0") == "a\nb\n", "each document ends the line")
colored = shown("-m", "tiny.json", "--color=always", data="a b")
ok(re.sub("\033\\[[0-9;]*m", "", colored) == "a·b\n" and len(set(re.findall("48;5;(\\d+)", colored))) == 3, "--color=always", colored)
ok(shown("-m", "tiny.json", "--color=auto", data="ab") == "a|b\n", "no colors in a pipe")
ok(shown("--offsets", "-m", "tiny.json", data="é") == "128\t0\t1\n103\t1\t2\n", "--offsets", shown("--offsets", "-m", "tiny.json", data="é"))
ok(shown("--offsets=json", "-m", "tiny.json", data="a") == '{"id":65,"begin":0,"end":1}\n', "--offsets=json")
special = f"a {lib.EOT}b"
ok(shown("--offsets", "-m", "tiny.json", data=special).splitlines()[2] == f"0\t2\t{2 + len(lib.EOT)}", "a special token")
ok(lib.EOT not in shown("-m", "tiny.json", "--special=text", data=special), "  as text")
ok(shown("--offsets", "-m", "tiny.json", "-0", data="ab\0c\0").splitlines()[2].split("\t")[1:] == ["3", "4"], "documents that end with NUL")
lib.write("a", "x")
lib.write("b", "yz")
ok(show("-m", "tiny.json", "a", "b")[1] == "x\ny|z\n", "two files")
ok(show("--offsets", "-m", "tiny.json", "a", "b")[1].splitlines()[1].split("\t")[1:] == ["0", "1"], "  offsets begin anew")
ok(shown("-m", "tiny.json", "--invalid=replace", data=b"a\xffb") == "a|\\xEF|\\xBF|\\xBD|b\n", "invalid UTF-8 is replaced")
offsets = [line.split("\t")[1:] for line in shown("--offsets", "-m", "tiny.json", "--invalid=replace", data=b"a\xffb").splitlines()]
ok(offsets == [["0", "1"], *[["1", "2"]] * 3, ["2", "3"]], "  and has its place", offsets)


# ---- Two models ----

def sides(out):
    """The tokens of both models, from the text of --diff."""
    text = "".join(out.splitlines(keepends=True)[:-2]).replace("\n", "")
    one = re.sub(r"\{\+.*?\+\}", "", text).replace("[-", "").replace("-]", "")
    other = re.sub(r"\[-.*?-\]", "", text).replace("{+", "").replace("+}", "")
    return one, other


for one, other in itertools.permutations(("gpt2", "super", "tiny.json"), 2):
    data = "the lazy dog and the cats of 2024, the fox\n" * 3
    out = shown("--diff", one, other, data=data)
    want = [shown("-m", model, data=data).replace("\n", "") for model in (one, other)]
    n = [len(re.findall(r"(?<!\\)\|", w)) + 3 for w in want]
    wanted = [f"[- -] {one}: {n[0]} tokens", f"{{+ +}} {other}: {n[1]} tokens, {100 * (n[1] - n[0]) / n[0]:+.1f} %; they differ in "]
    last = out.splitlines()[-2:]
    flat = [side.replace("|", "") for side in sides(out)]
    ok(flat == [w.replace("|", "") for w in want] and last[0] == wanted[0] and last[1].startswith(wanted[1]), f"--diff {one} {other}", out)
ok(show("--diff", "gpt2", "tiny.json", data=b"ab")[0] == 1, "status 1: they differ")
ok(shown("--diff", "tiny.json", "tiny.json", data="ab").endswith("differ in 0 places\n"), "equal models")
lib.write("d", "the fox")
ok(show("--diff", "-m", "gpt2", "-m", "tiny.json", "d")[1] == show("--diff", "gpt2", "tiny.json", "d")[1], "models by -m")
large = (text(2000) * 60).encode()
lib.write("t", large)
out = show("--diff", "gpt2", "nfc", path="t")[1]
counts = [len(spans(model, "t")) for model in ("gpt2", "nfc")]
ok([int(n) for n in re.findall(r": (\d+) tokens", out)] == counts, "many windows, and a normalizer", out[-300:])

# ---- Refused ----
lib.write("bad.txt", b"ok\n\xff")
lib.write("chunks", lib.must("bpe-chunk", "d"))
for want, options in (
    ((64, "missing -m MODEL; see --help"), ["d"]), ((64, "give one -m MODEL, or --diff A B"), ["-m", "gpt2", "-m", "nfc", "d"]),
    ((64, "--diff compares two models: bpe show --diff A B [FILE]"), ["--diff", "gpt2"]),
    ((64, "--offsets xml: must be one of tsv, json"), ["--offsets=xml", "-m", "gpt2", "d"]),
    ((64, "--offsets and --ids cannot be combined"), ["--offsets", "-i", "-m", "gpt2", "d"]),
    ((64, "--offsets and --diff cannot be combined"), ["--offsets", "--diff", "gpt2", "nfc", "d"]),
    ((64, "--offsets: strings in JSON have other bytes than the file; extract the text, and show that"), ["--offsets", "--jsonl", "-m", "gpt2", "d"]),
    ((64, "chunks: these are records, not text; bpe-view shows them"), ["-m", "gpt2", "chunks"]),
    ((65, "bad.txt: byte 3: invalid UTF-8 (0xFF); see --invalid"), ["-m", "gpt2", "bad.txt"]),
    ((66, "none: cannot open: No such file or directory"), ["-m", "gpt2", "none"]),
    ((66, "none: cannot open: No such file or directory"), ["-m", "none", "d"]),
):
    code, _, err = show(*options)
    ok((code, err) == (want[0], f"bpe show: {want[1]}\n"), f"refused: {' '.join(options)}", (code, err))
sys.exit(lib.done())
