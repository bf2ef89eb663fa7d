#!/usr/bin/env python3
"""added.py - added tokens with flags: bpe-encode must give the same ids as Hugging Face tokenizers 0.23.3 did.

Prints TAP. tests/oracle/added_peers.py runs tokenizers itself, also on random tokens.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import BYTE, ok  # noqa: E402

L, R, W, N = "lstrip", "rstrip", "single_word", "normalized"
NFC = {"type": "NFC"}

# Tokens with their flags; texts, and the expected result: added tokens in brackets, other text unchanged. Some have a normalizer.
SAMPLE = [
    # as in ModernBERT and RoBERTa
    ({"<mask>": [L], "</s>": []}, [
        ("a <mask> b", "a[<mask>] b"), ("a \n\t<mask>", "a[<mask>]"), ("  <mask>  <mask>", "[<mask>][<mask>]"), (" </s> <mask>", " [</s>][<mask>]"),
        ("\u3000\u00a0<mask>\u2003", "[<mask>]\u2003"), ("a\u200b<mask>", "a\u200b[<mask>]"), (" <mask", " <mask"), ("   ", "   "),
        (" <mas k> <mask>", " <mas k>[<mask>]"), ("<mask>", "[<mask>]")]),
    # as in Phi-3 and Phi-4
    ({"<|end|>": [R], "<|sep|>": [L, R]}, [
        ("<|end|>\n x", "[<|end|>]x"), ("<|end|> <|end|>\n\n<|sep|> \u2028a ", "[<|end|>][<|end|>][<|sep|>]a "), ("a <|end|> ", "a [<|end|>]"),
        ("a  <|sep|>\u200b b", "a[<|sep|>]\u200b b"), ("a\n<|end|>", "a\n[<|end|>]")]),
    ({"<a>": [R], " ": [], "\n": [], " x": [W]}, [
        ("<a>  y", "[<a>][ ][ ]y"), ("<a>\t\n\t y", "[<a>][\n]\t[ ]y"), ("<a>\t x y", "[<a>][ x][ ]y"), ("<a>\t xy", "[<a>]xy"), ("<a>\txy", "[<a>]xy"),
        (" <a>\u2003", "[ ][<a>]")]),
    ({"<a>": [L], "\n": [], "  ": []}, [("b\n<a>", "b[\n][<a>]"), ("b   <a>", "b[  ][<a>]"), ("b\n \n <a>", "b[\n] [\n][<a>]")]),
    ({"ab": [W], "bc": [], "_x": [W]}, [
        ("ab", "[ab]"), ("ab bc", "[ab] [bc]"), ("xabc bc", "xabc [bc]"), ("abc", "abc"), ("aab", "aab"), ("ab1 ab-", "ab1 [ab]-"), ("bcab", "[bc]ab"),
        ("a_x _x", "a_x [_x]"), ("\u00e9ab ab\u00e9", "\u00e9ab ab\u00e9"), ("\u24d0ab ab\u0301", "\u24d0ab ab\u0301"), ("\u200dab ab\u200b", "\u200dab [ab]\u200b"),
        ("\u2160ab \u00b2ab \u203fab", "\u2160ab \u00b2[ab] \u203fab"), ("\U0001f130ab \U0001f12fab", "\U0001f130ab \U0001f12f[ab]")]),
    ({"ab": [L, R, W], "<": []}, [("x ab y", "x[ab]y"), ("xab y", "xab y"), ("<ab <", "[<][ab][<]"), (" ab ab ", "[ab][ab]")]),
    # normalized: found in a second pass
    ({"<a": [], "<a>": [N], "a>b": [N]}, [("<a>b<a", "[<a]>b[<a]"), ("< a>b", "< [a>b]")]),
    ({"<a>": [L], " ": [N], "b": []}, [("b <a> b", "[b][<a>][ ][b]")]),
    ({"ab": [W, N], "x": []}, [("xab abx bab", "[x][ab] [ab][x] bab")]),
    ({"<\u00e9>": [N], "<x>": [N], "<y>": [], "|": []}, [
        ("<e\u0301><\u00e9>", "[<\u00e9>][<\u00e9>]"), ("<x>\u0338 <y>\u0338", "<x\u226f [<y>]\u0338"), ("<x>\u0301\u0323", "[<x>]\u0323\u0301"),
        ("e|\u0301 e\u0301", "e[|]\u0301 \u00e9"), ("<|e\u0301>", "<[|]\u00e9>"), ("\u1100\u1161\u11a8|\u11a8", "\uac01[|]\u11a8")], NFC),
    ({"<e\u0301>": [N], "<e\u0301": []}, [("<\u00e9>", "[<e\u0301>]"), ("<e\u0301>", "[<e\u0301]>"), ("<e\u0301\u0323>", "[<e\u0301]\u0323>")], NFC),
]


def model(tokens, normalizer=None):
    """A tokenizer.json whose vocabulary is the 256 bytes."""
    vocab = {c: i for i, c in enumerate(sorted(BYTE))}
    ids = {t: vocab.get(t) for t in tokens}
    new = iter(range(256, 256 + len(tokens)))
    added = [{"id": next(new) if ids[t] is None else ids[t], "content": t, **{f: f in flags for f in (L, R, W, N)}, "special": True}
             for t, flags in tokens.items()]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    bpe = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
           "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": []}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": byte_level,
            "post_processor": None, "decoder": None, "model": bpe}


def shown(ids, top):
    """Ids as in SAMPLE."""
    names = {t["id"]: ("[" + t["content"] + "]").encode() for t in top["added_tokens"]}
    names.update({i: bytes([BYTE[c]]) for c, i in top["model"]["vocab"].items() if i not in names})
    return b"".join(names[i] for i in ids).decode()


def encoded(path, text, *options):
    """The ids of a text: from bpe-encode directly, or from chunks that bpe-chunk makes with these options."""
    data = text.encode()
    if options:
        data = lib.must("bpe-chunk", "-m", path, *options, data=data)
    raw = lib.must("bpe-encode", "-m", path, "-f", "raw", "-d", "u16", data=data)
    return memoryview(raw).cast("H").tolist()


def main():
    for n, (tokens, texts, *normalizer) in enumerate(SAMPLE):
        top = model(tokens, *normalizer)
        path = f"added.{n}.json"
        lib.write(path, json.dumps(top).encode())
        bad = [(text, got, want) for text, want in texts for got in [shown(encoded(path, text), top)] if got != want]
        whole = "a\n".join(text for text, _ in texts)
        want = encoded(path, whole)
        bad += [(size, "pieces") for size in ("1", "7") if encoded(path, whole, "--inline", "-b", size) != want]
        ok(not bad, f"added tokens {tokens}: {len(texts)} texts", repr(bad[:2]))
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
