#!/usr/bin/env python3
"""model.py - models that bpe-model must read, or refuse with the reason.

Reads tokenizer.json in the current directory (made by bpe-merge, pattern gpt2), makes other models from it, and runs bpe-model on
them. Prints a line for each trial: 0 or 1 (failed), and its name; lines with # are notes.
"""
import base64
import copy
import hashlib
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import spm  # noqa: E402
from lib import EOT, spell  # noqa: E402

BASE = json.load(open("tokenizer.json", encoding="utf-8"))
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

DIGIT = r"[\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}]"  # the regex of Digits
# From published files.
PATTERNS = {
    "tekken": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
              r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen3.5": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "kimi-k2": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
               r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "superbpe": r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)",
}


def report(good, name, *notes):
    print(0 if good else 1, name)
    for note in () if good else notes:
        print("#", note[:1500])


def dump(model):
    return json.dumps(model, ensure_ascii=False).encode()


def refuses(data, part, name, code=65, args=()):
    got, out, err = lib.run(["bpe-model", "--info", *args], data)
    good = got == code and part in err and not out and err.count("\n") == 1
    report(good, f"refuses {name}", f"wanted: {part}", f"exit {got}: {err}")


def info(data, args=()):
    code, out, err = lib.run(["bpe-model", "--info", *args], data)
    if code:
        return {"error": [err.strip()]}
    got = {}
    for line in out.decode().splitlines():
        key, value = line.split(": ", 1)
        got.setdefault(key, []).append(value)
    return got


def reads(data, wanted, name, args=()):
    got = info(data, args)
    good = all(got.get(k) == ([v] if isinstance(v, str) else v) for k, v in wanted.items())  # None: the key must be absent
    report(good, f"reads {name}", f"wanted: {wanted}", f"got: {got}")


def changed(**keys):
    """The base with new values at paths such as model__dropout."""
    m = copy.deepcopy(BASE)
    for path, value in keys.items():
        *parents, last = path.split("__")
        at = m
        for p in parents:
            at = at[p]
        at[last] = value
    return dump(m)


def edited(edit):
    m = copy.deepcopy(BASE)
    edit(m)
    return dump(m)


def added(content, id_=None, **more):
    t = {"id": id_, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {**t, **more}


def with_added(*tokens):
    """The base with more added tokens, which are not in the vocabulary."""
    m = copy.deepcopy(BASE)
    n = len(m["model"]["vocab"])
    for t in tokens:
        if t["id"] is None:
            t["id"], n = n, n + 1
        m["added_tokens"].append(t)
    return dump(m)


def byte_level(**more):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **more}


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def no_regex():
    return byte_level(use_regex=False)


def flag_trials(n):
    """Flags of added tokens."""
    flags = "single_word", "lstrip", "rstrip"
    mask = with_added(added("<a>", lstrip=True), added("<b>", rstrip=True, single_word=True), added("<c>"))
    reads(mask, {"flags": [f"{n} lstrip", f"{n + 1} rstrip single_word"]}, "the flags of added tokens")
    reads(with_added(added("<a>", special=False), added("<b>"), added("<c>", lstrip=True, special=False)),
          {"flags": [f"{n} not-special", f"{n + 2} lstrip not-special"]}, "added tokens that are not special")
    code, out, err = lib.run(["bpe-model", "-f", "json"], mask)
    want, got = ([{f: t[f] for f in flags} for t in json.loads(m)["added_tokens"]] for m in (mask, out or b'{"added_tokens": []}'))
    report(code == 0 and got == want, "writes them to tokenizer.json", err)
    for form, what in ("gpt2", "vocab.json and merges.txt"), ("tiktoken", "a .tiktoken file"):
        code, _, err = lib.run(["bpe-model", "-f", form, "-o", "flags." + form], mask)
        report(code == 64 and f'{what} cannot express that the added token "<a>" has "lstrip"' in err and not os.path.exists("flags.tiktoken"),
               f"{what} cannot express lstrip", f"exit {code}: {err}")
    ordinary = with_added(added("<a>"), added("<b>", special=False), added("<c>", special=False))
    for form in "gpt2", "tiktoken", "hf-dir":
        code, _, err = lib.run(["bpe-model", "-f", form, "-o", "ordinary." + form], ordinary)
        said = "" if form == "hf-dir" else f"bpe-model: -f {form} makes all added tokens special, even those that are not (2, such as <b>); -f json does not\n"
        report(code == 0 and err == said, f"{form}: added tokens that are not special {'cause a warning' if said else 'are kept'}", f"exit {code}: {err}")
    for one, other, name in ((added("<a>", lstrip=True), added("<b> ", normalized=True), "lstrip next to whitespace"),
                             (added("<a>", rstrip=True), added("\n<b>", normalized=True), "rstrip next to whitespace"),
                             (added("<b"), added("xqa", single_word=True, normalized=True), "single_word next to a word")):
        reads(with_added(one, other), {"flags": [f"{at} " + " ".join(f for f in (*flags, "normalized") if t[f]) for at, t in ((n, one), (n + 1, other))
                                                 if any(t[f] for f in (*flags, "normalized"))]}, f"{name}, one of them normalized")
    refuses(with_added(added("<a>", rstrip=True), added(" <b>", lstrip=True)), "has \"lstrip\" and begins with white space", "lstrip in whitespace after rstrip, which Hugging Face loses")


def json_trials():
    reads(dump(BASE), {"format": "json", "pattern": "gpt2", "regex": GPT2, "special": "0 <|endoftext|>"}, "bpe-merge's output")
    reads(json.dumps(BASE).encode(), {"pattern": "gpt2", "merges": str(len(BASE["model"]["merges"]))}, "the same with \\u escapes")
    reads(json.dumps(BASE, indent="\t").encode(), {"pattern": "gpt2", "ids": str(len(BASE["model"]["vocab"]))}, "the same with tabs")
    reads(json.dumps(BASE, separators=(",", ":"), ensure_ascii=False).encode(), {"pattern": "gpt2"}, "the same without whitespace")
    reads(json.dumps(BASE, indent=1).replace("\n", "\r\n").encode(), {"pattern": "gpt2"}, "the same with CR LF")
    backwards = {k: v for k, v in reversed(BASE.items())}
    backwards["model"] = {k: v for k, v in reversed(BASE["model"].items())}
    reads(dump(backwards), {"merges": str(len(BASE["model"]["merges"])), "pattern": "gpt2", "special": "0 <|endoftext|>"}, "keys in any order")
    strings = [" ".join(m) for m in BASE["model"]["merges"]]
    reads(changed(model__merges=strings), {"merges": str(len(strings))}, "merges as strings")
    reads(changed(model__merges=["#version: 0.2", *strings, "#versions x y"]), {"merges": str(len(strings))},
          "merges as strings that begin with #version, which Hugging Face drops")
    small = {"model": {k: BASE["model"][k] for k in ("vocab", "merges")}, "pre_tokenizer": byte_level(), "unknown": {"a": [1e9, -0, None]}}
    reads(dump(small), {"special-tokens": "0", "pattern": "gpt2"}, "a file without optional keys, and with unknown ones")
    reads(changed(model__dropout=0.0, model__continuing_subword_prefix="", model__end_of_word_suffix="", model__unk_token="x"),
          {"pattern": "gpt2"}, "settings without effect: dropout 0.0, empty prefix and suffix, unk_token")
    reads(changed(model__ignore_merges=True), {"ignore-merges": "yes"}, "ignore_merges")
    reads(changed(post_processor={"type": "TemplateProcessing"}, padding={"x": 1}, decoder=None), {"pattern": "gpt2"},
          "settings that do not concern BPE: post_processor, padding, decoder")
    post = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": f"<é{i}>", "type_id": i}} for i in range(9000)], "pair": [True, None, {}, "", [], [[[[[[[[[7]]]]]]]]]]}
    for value in post, None, {}:
        for separators in (",", ":"), (" ,\n ", " \t: "):
            lib.write("post.json", json.dumps({**BASE, "post_processor": value}, ensure_ascii=False, separators=separators).encode())
            for args, name in ([], "json"), (["-f", "hf-dir", "-o", "post"], "hf-dir"):
                code, out, err = lib.run(["bpe-model", *args, "post.json"])
                got = json.loads(lib.read("post/tokenizer.json") if args else out) if code == 0 else None
                report(got and got["post_processor"] == value, f"{name} keeps the post_processor {str(value)[:30]}, written with {separators}", err)
    want = {**BASE, "post_processor": post}
    code, out, err = lib.run(["bpe-model"], dump(want))
    report(code == 0 and out.decode() == json.dumps(want, ensure_ascii=False, indent=2), "  as tokenizers writes it", err)
    code, _, err = lib.run(["bpe-model"], dump({**BASE, "post_processor": ["@"]}).replace(b"@", b"\xFF"))
    report(code == 65 and "UTF-8" in err, "a post_processor that is not UTF-8 is refused", f"exit {code}: {err}")
    reads(changed(normalizer={"type": "Sequence", "normalizers": []}), {"pattern": "gpt2"}, "an empty sequence of normalizers")

    # Pretokenizers.
    r = {"Regex": "a|b"}
    reads(changed(pre_tokenizer=no_regex()), {"pattern": "bytes", "regex": None}, "no split")
    reads(changed(pre_tokenizer=sequence(split(r), no_regex())), {"pattern": "regex", "regex": "a|b"}, "a Split before ByteLevel")
    reads(changed(pre_tokenizer=sequence(split(r), split({"Regex": "c"}), byte_level())), {"regex": ["a|b", "c", GPT2]}, "several splits")
    reads(changed(pre_tokenizer=sequence(sequence(split(r)), sequence(), no_regex())), {"regex": "a|b"}, "sequences in sequences")
    reads(changed(pre_tokenizer=sequence(split({"String": "a.b (c)\\"}), no_regex())), {"regex": r"a\.b\ \(c\)\\"}, "a Split by a string")
    for flag, regex, pattern in (True, DIGIT, "gpt2-digits"), (False, DIGIT + "+", "regex"):
        digits = sequence({"type": "Digits", "individual_digits": flag}, byte_level())
        data = changed(pre_tokenizer=digits)
        reads(data, {"pattern": pattern, "regex": [regex, GPT2]}, f"Digits, individual_digits {flag}")
        written = json.loads(lib.must("bpe-model", data=data))["pre_tokenizer"]
        report(written == digits, "  and is written unchanged", str(written))
    for pattern, regex in PATTERNS.items():
        reads(changed(pre_tokenizer=sequence(split({"Regex": regex}), no_regex())), {"pattern": pattern, "regex": regex}, f"the regex of {pattern}")
    reads(changed(pre_tokenizer=sequence(split({"Regex": GPT2}), no_regex())), {"pattern": "gpt2"}, "the gpt2 pattern as a Split")

    reads(changed(pre_tokenizer=sequence(split({"Regex": CL100K}, "Removed", True), no_regex())), {"pattern": "cl100k"},
          "Removed with invert, where the regex leaves no gaps")
    superbpe = changed(pre_tokenizer=sequence(split({"Regex": PATTERNS["superbpe"]}, "Removed", True), no_regex()))
    reads(superbpe, {"pattern": "regex", "split": "matches"}, "Removed with invert, where the regex leaves gaps")

    nfc = {"type": "NFC"}
    for normalizer in nfc, {"type": "Sequence", "normalizers": [nfc]}, {"type": "Sequence", "normalizers": [nfc, nfc]}:
        reads(changed(normalizer=normalizer), {"pattern": "gpt2", "normalizer": "nfc"}, f"{normalizer}")
    for behavior, plain, inverted in (("Isolated", None, None), ("Removed", "gaps", "matches"), ("MergedWithPrevious", "previous", "next"),
                                      ("MergedWithNext", "next", "previous"), ("Contiguous", "contiguous", "contiguous")):
        for invert, want in (False, plain), (True, inverted):
            reads(changed(pre_tokenizer=sequence(split(r, behavior, invert), no_regex())), {"regex": "a|b", "split": want},
                  f"behavior {behavior}{', invert' if invert else ''}")
    reads(changed(pre_tokenizer=sequence(byte_level(), split(r, "Removed"))), {"pattern": "regex", "regex": [GPT2, "a|b"], "split": "gaps, byte-level"},
          "a Split after ByteLevel")
    for kind, want in ("Whitespace", "matches"), ("WhitespaceSplit", "gaps"), ("BertPreTokenizer", "gaps"), ("Punctuation", None):
        reads(changed(pre_tokenizer=sequence({"type": kind}, no_regex())), {"pattern": "regex", "split": want}, kind)
    reads(changed(pre_tokenizer=sequence({"type": "Punctuation", "behavior": "Contiguous"}, no_regex())), {"split": "contiguous"}, "Punctuation, Contiguous")
    reads(changed(pre_tokenizer=sequence({"type": "CharDelimiterSplit", "delimiter": "."}, no_regex())), {"regex": r"\.", "split": "gaps"}, "CharDelimiterSplit")
    word = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
    bare = word + r"\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}"
    for regex, want in ((r" ?[^(\s|[.,!?…。，、।۔،])]+",) * 2, (r"[\p{Han}&&[^一]]",) * 2, (r"\w+|[^\W_]", f"[{bare}]+|[^[^{word}]_]"),
                        (r"[^]\h]\H", "[^][0-9A-Fa-f]][^0-9A-Fa-f]"), ("[[:^space:]x]{,3}", r"[\Sx]{0,3}"), (r"\\w", r"\\w"),
                        (r"\b", f"(?:(?<=[{bare}])(?![{bare}])|(?<![{bare}])(?=[{bare}]))")):
        reads(changed(pre_tokenizer=sequence(split({"Regex": regex}), no_regex())), {"regex": want}, f"{regex}, rewritten where engines differ")
    prefix = changed(pre_tokenizer=byte_level(add_prefix_space=True))
    reads(prefix, {"pattern": "gpt2", "prefix": " "}, "add_prefix_space")

    n = len(BASE["model"]["vocab"])
    tags = changed(added_tokens=[added("</s>", n, special=False), added("<eos>", n + 1), added("<s>", n + 2)])
    reads(tags, {"separator": f"{n + 1} <eos>", "eos": None}, "the separator: the special token among the usual names")

    # The code that encodes text.
    for steps, want in ((byte_level(), "built-in"), (sequence(split(r), no_regex()), "regex"), (no_regex(), "none")):
        reads(changed(pre_tokenizer=steps), {"scanner": want, "merging": "fast"}, f"scanner: {want}")
    reads(edited(lambda m: m["model"]["merges"].reverse()), {"merging": "plain"}, "merges that come before the merges of their parts")

    # Added tokens.
    reads(with_added(added("<a>"), added("<b>", special=False)), {"special-tokens": "3"}, "added tokens that are not in the vocabulary")
    reads(with_added(added("<a>"), added("z  q", special=False, normalized=True)), {"special-tokens": "3"},
          "added tokens, normalized and not")
    byte = BASE["model"]["vocab"]["Ġ"]
    raw = edited(lambda m: m["model"]["vocab"].update({"<my token>": len(m["model"]["vocab"])}))
    reads(raw, {"tokens": str(len(BASE["model"]["vocab"]) + 1), "special-tokens": "1"}, "a key that is not in byte-to-unicode form")
    hole = edited(lambda m: m["model"]["vocab"].update({"zzz": 5000}))
    reads(hole, {"ids": "5001", "tokens": str(len(BASE["model"]["vocab"]) + 1), "unreached": "1"}, "unused ids")
    double = edited(lambda m: m["model"]["merges"].insert(0, m["model"]["merges"][-1]))
    reads(double, {"merges": str(len(BASE["model"]["merges"]))}, "a duplicate merge: the last one counts")

    # Models that are refused.
    for kind in "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Nmt", "BertNormalizer", "Precompiled":
        refuses(changed(normalizer={"type": kind}), f'normalizer "{kind}"', f"normalizer {kind}")
    refuses(changed(normalizer={"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}), 'normalizer "Lowercase"',
            "a normalizer in a sequence")
    refuses(changed(truncation={"max_length": 5}), "truncation", "truncation")
    refuses(changed(version="2.0"), 'version "2.0"', "another version")
    for kind in "Unigram", "WordPiece", "WordLevel":
        refuses(changed(model__type=kind), f'"{kind}"', kind)
    refuses(changed(model__byte_fallback=True), "byte_fallback", "byte_fallback")
    refuses(changed(model__dropout=0.1), "dropout", "dropout")
    refuses(changed(model__dropout=1), "dropout", "dropout as a whole number")
    refuses(changed(model__continuing_subword_prefix="##"), 'continuing_subword_prefix "##"', "a prefix")
    refuses(changed(model__end_of_word_suffix="</w>"), 'end_of_word_suffix "</w>"', "a suffix")
    for kind in "Metaspace", "UnicodeScripts", "FixedLength":
        refuses(changed(pre_tokenizer=sequence({"type": kind}, byte_level())), f'"{kind}"', f"pre_tokenizer {kind}")
    refuses(changed(pre_tokenizer=sequence(split(r), byte_level(add_prefix_space=True))), "add_prefix_space after another", "add_prefix_space after a Split")
    refuses(changed(pre_tokenizer=byte_level(add_prefix_space=None)), 'has no "add_prefix_space"', "add_prefix_space null")
    refuses(changed(pre_tokenizer=None), "ByteLevel", "no pre_tokenizer")
    refuses(changed(pre_tokenizer=split(r)), "ByteLevel", "no ByteLevel")
    refuses(changed(pre_tokenizer=sequence(byte_level(), byte_level())), "a second pre_tokenizer ByteLevel", "a second ByteLevel")
    refuses(changed(pre_tokenizer=sequence(split(r, "Removes"), no_regex())), 'no behavior "Removes"', "an unknown behavior")
    refuses(changed(pre_tokenizer=sequence({"type": "CharDelimiterSplit", "delimiter": "ab"}, no_regex())), "one character", "a delimiter of two characters")
    for pattern in "x", None, 3, []:
        refuses(changed(pre_tokenizer=sequence(split(pattern), no_regex())), '"pattern" must be an object', f"a Split by {pattern}")
    other = (("x{1,3}+", 1, "{1,3}+"), (r"\R+|\O", 0, "\\R"), ("[a-z&&]", 6, "]"), ("x{,}?", 1, "{,}"), ("[^a&&[^b]c]", 0, "[^a&&[^b]c]"), ("[[:alpha:]b]", 1, "[:"),
             ("(?im:a)", 0, "(?i"), ("(?m)a", 0, "(?m"), (r"\p{Latin}+|\P{Latin}", 0, r"\p{Latin}"), (r"\v", 0, r"\v"), ("(?i)ss", 5, "s"),
             ("(?i)x|fi", 7, "i"), ("(?i)ß", 4, "ß"), ("x{2}?", 1, "{2}?"), (r"\pL", 0, r"\pL"), (r"\Qa\E", 0, r"\Q"), (r"[\b]", 1, r"\b"))
    for regex, place, what in other:
        refuses(changed(pre_tokenizer=sequence(split({"Regex": regex}), no_regex())), f"regex, byte {place}: {what}", f"{regex}, which Hugging Face interprets differently")
    for regex in r"[^$&(?m:]|\^|\$|[]a]|[^]b]|\[|[\[\]^$]|(?i:m)|(?=m)|(?<m>x)", CL100K:
        reads(changed(pre_tokenizer=sequence(split({"Regex": regex}), no_regex())), {"regex": regex}, regex)
    many = [added(f"<{k}>") for k in range(3000)]
    reads(with_added(*many), {"special-tokens": "3001"}, "thousands of added tokens")
    n = len(BASE["model"]["vocab"])
    flag_trials(n)
    refuses(with_added(added("<a>", n + 7)), f'"<a>" has the id {n + 7}, but {n}', "an added token's id that Hugging Face would not give")
    reads(with_added(added("a", 5)), {"special": ["0 <|endoftext|>", f"{BASE['model']['vocab']['a']} a"]}, "an added token with another id than its key: the key's id counts")
    for name in "Ġ", "é":
        refuses(with_added(added(name, BASE["model"]["vocab"][name])), f'"{name}" is how token', f"{name}, which spells another byte")
    pad = edited(lambda m: (m["model"]["vocab"].update({"zz": 5000}), m["added_tokens"].extend([added("zz", 5000), added("<a>", n + 1)])))
    reads(pad, {"special": ["0 <|endoftext|>", f"{n + 1} <a>", "5000 zz"]}, "gaps between ids: the id of a new token is the number of keys")
    pad = edited(lambda m: (m["model"]["vocab"].update({"zz": 5000}), m["added_tokens"].extend([added("zz", 5000), added("<a>", 5001)])))
    refuses(pad, f'"<a>" has the id 5001, but {n + 1} is the one', "another id than that")
    refuses(with_added(added("<a>"), added("<a>")), '"<a>"', "a duplicate added token")
    refuses(with_added(added("")), "without content", "an empty added token")
    for key in "single_word", "lstrip", "rstrip", "normalized", "special":
        lacking = {k: v for k, v in added("<a>").items() if k != key}
        refuses(with_added(lacking), f'without "{key}"', f"an added token without {key}, which Hugging Face does not read")
    refuses(changed(model__fuse_unk=1), "'1' where true or false should be", "a fuse_unk that is a number")
    refuses(changed(model__unk_token=[]), "'[' where a string should be", "an unk_token that is a list")
    for one, other in ("<ab>", "ab"), ("<ab>", "b>c"), ("ab", "ab>"), ("cab", "abx"):
        reads(with_added(added(one), added(other, normalized=True)), {"flags": [f"{n + 1} normalized"]}, f"{one}, and {other} normalized")
    two = with_added(added("<ab>"), added("ab", normalized=True))
    out = lib.must("bpe-model", data=two)
    report([t["normalized"] for t in json.loads(out)["added_tokens"]][-2:] == [False, True], "writes the flag normalized", "")
    refuses(edited(lambda m: m["model"]["vocab"].pop("Â")), 'the byte 0xC2 ("Â") is not', "a vocabulary without a byte")
    reads(edited(lambda m: [m["model"]["vocab"].pop(key) for key in "ÿõÀ"]), {"tokens": str(len(BASE["model"]["vocab"]) - 3)},
          "a vocabulary without bytes that UTF-8 never contains")
    left, right = BASE["model"]["merges"][3]
    refuses(edited(lambda m: m["model"]["vocab"].pop(left + right)), f'the result, "{left + right}", is not',
            "a merge whose result is not in the vocabulary")
    refuses(changed(model__merges=[["a", "zqz"]]), 'merge 0, "a" and "zqz": the right, "zqz", is not',
            "a merge whose right token is unknown")
    refuses(changed(model__merges=[["zqzq", "a"]]), 'merge 0, "zqzq" and "a": the left, "zqzq", is not',
            "a merge whose left token is unknown")
    refuses(changed(model__merges=[["a"]]), "merge 0 is not of two tokens", "a merge of one token")
    left, right = BASE["model"]["merges"][:2]
    for mixed in ([left, " ".join(right)], [" ".join(left), right]):
        refuses(changed(model__merges=mixed), "merges are strings and arrays", f"{mixed}, which Hugging Face does not read")
    refuses(changed(model__merges=[["a", "b", "c"]]), "merge 0 is not of two tokens", "a merge of three tokens")
    refuses(changed(model__merges=["a b c"]), "merge 0", "a string of three tokens")
    refuses(changed(model__merges=[["a", ""]]), "merge 0", "a merge with an empty token")
    refuses(changed(model__merges=["a\tb"]), "byte-to-unicode", "a merge not in byte-to-unicode form")
    refuses(edited(lambda m: m["model"]["vocab"].update(zz=7)), "two tokens have the id 7", "a duplicate id")
    refuses(edited(lambda m: m["model"]["vocab"].update(zz=2 ** 31)), "2147483648", "an id of more than 31 bits")
    refuses(edited(lambda m: m["model"]["vocab"].update(zz=2 ** 30)), "1073741824", "an id far above all others")
    refuses(edited(lambda m: m["model"]["vocab"].update(zz=-1)), "-1", "a negative id")
    refuses(edited(lambda m: m["model"]["vocab"].update(zz=1.5)), "1.5", "an id that is not an integer")
    refuses(dump(BASE).replace(b'"!": 1,', b'"!": 1, "!": 2000,'), '"!" occurs twice', "a duplicate key in the vocabulary")
    refuses(dump(BASE).replace(b'"dropout": null', b'"dropout": null, "dropout": null'), 'duplicate key "dropout"',
            "a duplicate key in the model")
    refuses(dump({k: BASE[k] for k in ("version", "pre_tokenizer")}), 'without "model"', "JSON that is not a model")
    refuses(dump(BASE["model"]["vocab"]), 'without "model"', "vocab.json alone")
    for key in "vocab", "merges":
        refuses(edited(lambda m, k=key: m["model"].pop(k)), f'no "{key}"', f"a model without {key}")
    whole = dump(BASE)
    for n in 1, 100, len(whole) // 2, len(whole) - 1:
        refuses(whole[:n], "JSON", f"the first {n} bytes" if n < 1000 else "a part of the file")
    refuses(whole + b"x", "unexpected data after the end", "data after the end")
    refuses(b"\xef\xbb\xbf" + whole, "begins with a byte order mark", "a byte order mark")
    refuses(whole, "leave out -p", "-p for a tokenizer.json", 64, ["-p", "gpt2"])
    refuses(whole, "leave out -s", "-s for a tokenizer.json", 64, ["-s", "x"])
    refuses(b"", "empty", "empty input")
    refuses(b"\n \n", "empty", "whitespace")
    refuses(b"lo w\nlo wer\n", "merges alone", "a list of merges")
    refuses(b"#version: 0.2\na b\n", "merges.txt", "merges.txt under another name")
    refuses(b"\x1f\x8b\x08", "compressed", "a compressed file of gzip")
    refuses(b"\x28\xb5\x2f\xfd", "compressed", "a compressed file of zstd")
    refuses(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "run git lfs pull", "a pointer of Git LFS")
    noise = random.Random(3).randbytes(1000).replace(b" ", b"") + b"\n"
    firsts = set(range(256)) - set(b"{ \t\r\n")  # a brace begins JSON, also after whitespace
    said = {lib.run(["bpe-model", "--info"], bytes([first]) + noise) for first in firsts}
    report(len(said) == 1 and all(x[0] == 65 and "not a model" in x[2] for x in said), "refuses random bytes, whatever the first one",
           str(said))


def characters(normalizer=None, pre_tokenizer=None, decoder=None, added_tokens=(), without=(), **model):
    """A model of characters: Replace turns spaces into U+2581; unknown characters become bytes."""
    vocab = ["<unk>", *(f"<0x{b:02X}>" for b in range(256)), "\u2581", "a", "b", "ab", "\u2581a", "\u00e9", "\n"]
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return dump({"version": "1.0", "added_tokens": list(added_tokens), "normalizer": replace if normalizer is None else normalizer,
                 "pre_tokenizer": pre_tokenizer, "decoder": decoder,
                 "model": {"type": "BPE", "byte_fallback": True, "fuse_unk": True, "vocab": {t: i for i, t in enumerate(vocab) if t not in without},
                           "merges": ["a b", "\u2581 a"], **model}})


def character_trials():
    prepend, replace = {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}

    def normal(*steps):
        return {"type": "Sequence", "normalizers": list(steps)}

    def good(name, wanted, **how):
        reads(characters(**how), {"units": "characters", "pattern": "bytes", **wanted}, f"of characters: {name}")

    def bad(name, part, **how):
        refuses(characters(**how), part, f"of characters: {name}")
    good("Replace", {"scanner": "pairs", "merging": "fast", "unknown": "bytes", "metaspace": "never", "prefix": None, "unreached": "1"})
    good("Prepend and Replace", {"metaspace": "always", "prefix": " "}, normalizer=normal(prepend, replace))
    good("Replace and Prepend", {"metaspace": "always", "prefix": " "}, normalizer=normal(replace, prepend))
    good("Prepend of a space, and Replace", {"metaspace": "always"}, normalizer=normal({**prepend, "prepend": " "}, replace))
    good("Metaspace", {"metaspace": "first", "prefix": " "}, normalizer=normal(), pre_tokenizer=metaspace)
    good("Metaspace with default settings", {"metaspace": "if-missing split"}, normalizer=normal(),
         pre_tokenizer={"type": "Metaspace", "replacement": "\u2581"})
    good("Metaspace, and flags that are null", {"metaspace": "if-missing split", "unknown": "<unk>", "ignore-merges": "no"}, normalizer=normal(),
         pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": None, "split": None}, unk_token="<unk>", byte_fallback=None,
         fuse_unk=None, ignore_merges=None)
    good("Metaspace of older files", {"metaspace": "never split"}, normalizer=normal(),
         pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": False, "prepend_scheme": "never"})
    good("Split at spaces, after Replace has left none", {}, pre_tokenizer=split({"String": " "}, "MergedWithPrevious"))
    good("an unk_token", {"unknown": "<unk> fused"}, byte_fallback=False, unk_token="<unk>")
    good("an unk_token, not fused", {"unknown": "<unk>"}, byte_fallback=False, unk_token="<unk>", fuse_unk=False)
    good("ignore_merges", {"scanner": "none", "ignore-merges": "yes"}, ignore_merges=True)
    good("no U+2581 for spaces", {"metaspace": None}, normalizer=normal())
    good("without bytes that no unknown character has", {"unknown": "bytes"}, without=("<0xC0>", "<0xFF>", "<0x0A>"))
    good("an added token that is the key U+2581", {"special": "257 \u2581"}, added_tokens=[added("\u2581", 257)])
    bad("without a byte that unknown characters have", "<0xC2> is missing", without=("<0xC2>",))
    bad("without the byte of an unknown character", "<0x63> is missing", without=("<0x63>",))
    bad("without U+2581", "U+2581 is not a token", without=("\u2581", "\u2581a"), merges=["a b"])
    bad("no unk_token", "neither byte_fallback nor unk_token", byte_fallback=False)
    bad("an unk_token that is not in the vocabulary", 'unk_token "<x>" is not in the vocabulary', byte_fallback=False, unk_token="<x>")
    bad("a long unk_token whose beginning is in the vocabulary", "unk_token is longer than 62 bytes", byte_fallback=False,
        unk_token="x" * 64,
        vocab={**json.loads(characters())["model"]["vocab"], "x" * 63: 300})
    bad("Replace with U+2581 and a U+0000", "U+0000 in this string", normalizer={**replace, "content": "\u2581\0x"})
    bad("a merge of a byte", 'merge 0 has the part "<0x41>"', merges=[["<0x41>", "a"]], vocab={**json.loads(characters())["model"]["vocab"], "<0x41>a": 300})
    bad("a merge of the unknown token", 'merge 0 has the part "<unk>"', byte_fallback=False, unk_token="<unk>", merges=[["<unk>", "a"]],
        vocab={**json.loads(characters())["model"]["vocab"], "<unk>a": 300})
    bad("a merge with a space", "has a space", merges=[["a", " b"]])
    bad("Prepend alone", "Prepend without Replace", normalizer=prepend)
    bad("Prepend of a space after Replace", "Prepend without Replace", normalizer=normal(replace, {**prepend, "prepend": " "}))
    bad("Prepend of something else", "normalizer Prepend", normalizer=normal({**prepend, "prepend": "_"}, replace))
    bad("Replace of something else", "normalizer Replace", normalizer={**replace, "content": "_"})
    bad("Prepend and Metaspace", "Prepend", normalizer=normal(prepend, replace), pre_tokenizer=metaspace)
    bad("Metaspace by another character", "pre_tokenizer Metaspace", normalizer=normal(), pre_tokenizer={**metaspace, "replacement": "_"})
    bad("Metaspace by an unknown scheme", "pre_tokenizer Metaspace", normalizer=normal(), pre_tokenizer={**metaspace, "prepend_scheme": "x"})
    bad("Metaspace that contradicts itself", "pre_tokenizer Metaspace", normalizer=normal(),
        pre_tokenizer={**metaspace, "add_prefix_space": False})
    bad("Metaspace after Split", "pre_tokenizer Metaspace", normalizer=normal(), pre_tokenizer=sequence(split({"Regex": "a"}), metaspace))
    bad("Split after Metaspace", "other than Metaspace", normalizer=normal(), pre_tokenizer=sequence(metaspace, split({"Regex": "a"})))
    bad("ByteLevel", "byte_fallback", pre_tokenizer=byte_level(), vocab=BASE["model"]["vocab"], merges=BASE["model"]["merges"])
    bad("Replace and ByteLevel", "U+2581 for spaces", pre_tokenizer=byte_level(), byte_fallback=False,
        vocab=BASE["model"]["vocab"], merges=BASE["model"]["merges"])
    good("a normalized token with Prepend", {"special": "264 <t>", "flags": "264 normalized"}, normalizer=normal(prepend, replace),
         added_tokens=[added("<t>", 264, normalized=True)])
    bad("a normalized single word with Prepend", '"normalized" with Replace', normalizer=normal(prepend, replace),
        added_tokens=[added("<t>", 264, normalized=True, single_word=True)])
    bad("a normalized token with Prepend that text can become", "is how token 258 is spelled", normalizer=normal(prepend, replace),
        added_tokens=[added("a", 258, normalized=True)])
    bad("a normalized token with a space", '"normalized" with Replace', added_tokens=[added("< t>", 264, normalized=True)])
    bad("a normalized token with rstrip", '"normalized" with Replace', added_tokens=[added("<t>", 264, normalized=True, rstrip=True)])
    good("a normalized token that Replace does not change", {"special": "264 <t>"}, added_tokens=[added("<t>", 264, normalized=True)])
    code, out, err = lib.run(["bpe-model", "--merges=string"], characters(normalizer=normal(), merges=[["a", " "]], vocab={
        **json.loads(characters())["model"]["vocab"], " ": 300, "a ": 301}))
    report(code == 64 and not out and "merge 0 has a space" in err and "--merges=array" in err, "of characters: a merge with a space cannot be a string", err)
    never = {**metaspace, "prepend_scheme": "never"}
    how = {"normalizer": normal(), "pre_tokenizer": never, "added_tokens": [added("bab", 264, lstrip=True, normalized=True), added("b", 259, single_word=True)]}
    good("normalized tokens with flags, and Metaspace", {"metaspace": "never", "flags": ["259 single_word", "264 lstrip normalized"]},
         **how)
    out = lib.must("bpe-model", data=characters(**how))
    report(json.loads(out)["pre_tokenizer"] == never, "writes Metaspace, not Replace, for this model", out[:900])
    fuse, strip = {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    spaces = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    good("a decoder", {}, decoder={"type": "Sequence", "decoders": [spaces, {"type": "ByteFallback"}, fuse, strip]})
    for name, steps in ("another decoder", [{"type": "WordPiece"}]), ("Strip before Fuse", [strip, fuse]), ("Replace after Fuse", [fuse, spaces]), \
            ("Strip of two spaces", [fuse, {**strip, "start": 2}]), ("Strip at the end", [fuse, {**strip, "stop": 1}]):
        bad(name, "decoder", decoder={"type": "Sequence", "decoders": steps})
    backwards = json.loads(characters(byte_fallback=False, merges=["a b"]))
    backwards = {k: v for k, v in reversed(backwards.items())}
    refuses(dump({"model": backwards.pop("model"), **backwards}), "do not come before the model", "of characters: the model first")
    for name in "gpt2", "tiktoken", "merges":
        code, out, err = lib.run(["bpe-model", "-f", name, "-o", "none"], characters())
        report(code == 64 and not out and "characters" in err and not os.path.exists("none"), f"of characters: not written as {name}", err)


def line(token, rank):
    return base64.b64encode(token) + b" %d\n" % rank


BYTES = b"".join(line(bytes([b]), b) for b in range(256))


def tiktoken_trials():
    more = BYTES + line(b"ab", 256) + line(b"abc", 257) + line(b"xyz", 300)
    reads(more, {"format": "tiktoken", "ids": "301", "tokens": "259", "pattern": "unknown", "merges": "by rank", "unreached": "1",
                 "special-tokens": "0"}, "a .tiktoken file with unused ids")
    reads(b"\n" + b"".join(sorted(more.splitlines(True))) + b"\n", {"tokens": "259"}, "ranks in any order, and blank lines")
    reads(more[:-1], {"tokens": "259"}, "ranks without a newline at the end")
    reads(more, {"pattern": "gpt2", "regex": GPT2, "special": ["260 <e>", "301 a=b", "302 <s>"]}, "a .tiktoken file with pattern and special tokens from options",
          ["-p", "gpt2", "-s", "a=b", "-s", "<e>=260", "-s", "<s>"])
    for name, pattern in ("cl100k", "cl100k-tiktoken"), ("llama3", "cl100k"), ("cl100k-tiktoken", "cl100k-tiktoken"):
        reads(more, {"pattern": pattern}, f"-p {name} as {pattern}", ["-p", name])
    refuses(more + line(b"q", 301), '"q" occurs twice, with the ids 113 and 301', "a duplicate token")
    refuses(more + line(b"qq", 257), "two tokens have the id 257", "a duplicate rank")
    refuses(BYTES[7:], "the byte 0x00", "ranks without a byte")
    refuses(more + b"YWI 400\n", "line 260", "bad base64")
    refuses(more + b"YWJ= 400\n", "line 260", "base64 with trailing bits that are not zero")
    refuses(more + b"YWJhYg==  400\n", "line 260", "two spaces")
    refuses(more + b"YWJhYg== x\n", "line 260", "a rank that is not a number")
    refuses(more + b" 400\n", "line 260", "an empty token")
    refuses(more + b"YWJhYg== 400\r\n", "line 260", "CR LF")
    refuses(more + b"YWJhYg== 99999999999\n", "line 260", "a rank of 11 digits")
    refuses(more, "-s q=5: the id 5 belongs to another token", "a special token with a token's id", 64, ["-s", "q=5"])
    refuses(more, "-s: an empty", "an empty special token", 64, ["-s", ""])
    refuses(more, "-s q=99999999999: the id is too large", "an id of 11 digits", 64, ["-s", "q=99999999999"])

    # The JSON file next to the .tiktoken file.
    lib.write("t.tiktoken", BYTES)
    side = {"pattern": "gpt2", "pat_str": GPT2, "special_tokens": {"<e>": 256}, "explicit_n_vocab": 257, "sha256": hashlib.sha256(BYTES).hexdigest()}

    def sidecar(**keys):
        lib.write("t.tiktoken.json", dump({k: v for k, v in {**side, **keys}.items() if v != "gone"}))

    def good(name, wanted, **keys):
        sidecar(**keys)
        reads(b"", wanted, f"a sidecar {name}", ["t.tiktoken"])

    def bad(name, part, code=65, args=(), **keys):
        sidecar(**keys)
        refuses(b"", part, f"a sidecar {name}", code, ["t.tiktoken", *args])

    good("as bpe-merge writes it", {"pattern": "gpt2", "regex": GPT2, "special": "256 <e>"})
    good("with a regex", {"pattern": "regex", "regex": "x"}, pattern=None, pat_str="x")
    good("without a split", {"pattern": "bytes"}, pattern="bytes", pat_str=r"[\s\S]+")
    good("with unused ids", {"special": "300 <e>"}, special_tokens={"<e>": 300}, explicit_n_vocab=None)
    good("with only the required keys", {"special": "256 <e>"}, explicit_n_vocab="gone", sha256="gone", pattern="gone", other="x")
    bad("for other ranks", "sha256", sha256="0" * 64)
    good("with roles", {"eos": "256 <e>", "pad": "256 <e>"}, eos_token="<e>", pad_token="<e>")
    good("without roles", {"eos": None, "pad": None}, eos_token=None)
    bad("with a role of no special token", '"pad_token" is not one of the special tokens', pad_token="<x>")
    bad("with another number of tokens", "explicit_n_vocab is 300", explicit_n_vocab=300)
    bad("with a rank's id", "two tokens have the id 7", special_tokens={"<e>": 7})
    bad("with an empty token", "empty", special_tokens={"": 256})
    bad("and -p", "leave out -p", 64, ["-p", "gpt2"])
    bad("and -s", "leave out -s", 64, ["-s", "x"])
    bad("with special tokens that are not an object", "t.tiktoken.json: byte", special_tokens=[])


TEKKEN_SPECIAL = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
                  "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
                  "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"]


def tekken(tokens=(b"ab", b"abc", b" x", b"cut off"), special=("<s>", "</s>"), n_special=4, size=263, version="v11", **more):
    """A tekken.json. The default size counts 256 bytes, three tokens and four special tokens."""
    ranks = [bytes([b]) for b in range(256)] + list(tokens)
    named = special and [{"rank": i, "token_str": s, "is_control": True} for i, s in enumerate(special)]
    return {"config": {"pattern": r"\p{L}+|\P{L}", "num_vocab_tokens": len(ranks), "default_vocab_size": size, "default_num_special_tokens": n_special,
                       "version": version},
            "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(ranks)],
            "special_tokens": named, "image": {"image_patch_size": 16}, **more}


def tekken_trials():
    def good(name, wanted, data, args=()):
        reads(data, wanted, f"a tekken.json {name}", args)

    def bad(name, part, data, code=65, args=()):
        refuses(data, part, f"a tekken.json {name}", code, args)

    def config(**keys):
        t = tekken()
        t["config"].update(keys)
        return dump({**t, "config": {k: v for k, v in t["config"].items() if v != "gone"}})

    def vocab(at, **keys):
        t = tekken()
        t["vocab"][at].update(keys)
        return dump(t)

    small = {"format": "tekken", "regex": r"\p{L}+|\P{L}", "ids": "263", "tokens": "263", "merges": "by rank", "ignore-merges": "yes",
             "special": ["0 <s>", "1 </s>", "2 <SPECIAL_2>", "3 <SPECIAL_3>"]}
    good("that lists special tokens", small, dump(tekken()))
    good("with keys in another order", small, dump({k: v for k, v in reversed(tekken().items())}))
    good("with indentation", small, json.dumps(tekken(type="Tekken"), indent=4).encode())
    good("with special tokens first", small, json.dumps({"special_tokens": tekken()["special_tokens"], **tekken()}, indent=1).encode())
    usual = [f"{i} {s}" for i, s in enumerate(TEKKEN_SPECIAL + ["<SPECIAL_20>"])]
    for version in "v3", "v7":
        good(f"of {version}, without special tokens", {"special": usual, "ids": "280"}, dump(tekken(special=None, n_special=21, size=280, version=version)))
    old = tekken(special=None, n_special=21, size=280, version="v11")
    bad("of v11 without special tokens", 'no "special_tokens", which files of version "v11" must list', dump(old))
    del old["special_tokens"]
    bad("without even the key", 'no "special_tokens"', dump(old))
    bad("with too few special tokens for the usual ones", "20 special tokens are more than default_num_special_tokens, 4",
        dump(tekken(special=None, version="v3")))
    bad("with more special tokens than default_num_special_tokens", "3 special tokens are more than",
        dump(tekken(special=("a", "b", "c"), n_special=2)))
    bad("with a duplicate special token", '"<s>"', dump(tekken(special=("<s>", "<s>"))))
    bad("that names a special token like a filler", '"<SPECIAL_3>"', dump(tekken(special=("<s>", "<SPECIAL_3>"))))
    bad("with an empty special token", "an empty special token", dump(tekken(special=("",))))
    bad("with another rank", 'token 257 has no "token_bytes"', vocab(257, rank=300))
    bad("with another special rank", 'special token 0 has no "token_str"', dump({**tekken(), "special_tokens": [{"rank": 1, "token_str": "a"}]}))
    bad("with bytes in another order", "token 5 is not the byte 0x05", vocab(5, token_bytes="AA=="))
    bad("with bad base64", "token_bytes of rank 257 is not a token in base64", vocab(257, token_bytes="A==="))
    bad("with a duplicate token", '"ab" occurs twice', dump(tekken(tokens=[b"ab", b"ab", b"c d"])))
    bad("with a default_vocab_size that is too large", "default_vocab_size is 300, but there are 260 tokens and 4 special ones", dump(tekken(size=300)))
    bad("with fewer tokens than special tokens", "default_num_special_tokens is 4: too many", dump(tekken(size=3)))
    bad("without a byte", "token 255 is not the byte 0xFF", dump(tekken(size=259)))
    for key in "pattern", "default_vocab_size", "default_num_special_tokens", "version":
        bad(f"without {key}", f'config without "{key}"', config(**{key: "gone"}))
    bad("with a regex that is not supported", r"\w is not supported", config(pattern=r"\w+"))
    for key, part in ("config", 'no "config"'), ("vocab", 'no "vocab"'):
        bad(f"without {key}", part, dump({k: v for k, v in tekken().items() if k != key}))
    bad("and -p", "leave out -p", dump(tekken()), 64, ["-p", "gpt2"])
    bad("and -s", "leave out -s", dump(tekken()), 64, ["-s", "x"])
    reads(edited(lambda m: m["model"]["vocab"].update({"config": 5000, "vocab": 5001})), {"format": "json"}, "a tokenizer.json with tokens named config and vocab")

    os.mkdir("mistral")
    lib.write("mistral/tekken.json", dump(tekken()))
    good("in its directory", small, b"", ["mistral"])
    text = "abcab x</s>ab cut"
    tokens = {b"ab": 260, b"abc": 261, b" x": 262, "</s>": 1}
    for special, wanted in ("token", ["abc", "ab", " ", "x", "</s>", "ab", " ", *"cut"]), ("text", ["abc", "ab", " ", "x", *"</s>", "ab", " ", *"cut"]):
        want = [tokens[t] if t in tokens else tokens.get(t.encode(), 4 + t.encode()[0]) for t in wanted]
        code, out, err = lib.run(["bpe-encode", "-m", "mistral", "-f", "text", "--special=" + special], text.encode())
        report(code == 0 and list(map(int, out.split())) == want, f"a tekken.json encodes with --special={special}", f"wanted {want}", f"got {out} {err}")
    lib.write("mistral/tokenizer.json", dump(BASE))
    reads(b"", {"format": "json"}, "a directory with tekken.json and tokenizer.json: tokenizer.json", ["mistral"])


NEVER = [0xC0, 0xC1, *range(0xF5, 0x100)]  # the bytes that UTF-8 never has


def boundless(kind="superbpe", tokens=(b"he", b" t", b" the", b"he the"), special=(EOT,), words=((b"h", b"e"), (b" ", b"t"), (b" t", b"he")),
              supers=((b"he", b" the"),), first=None, **config):
    """A BoundlessBPE model as fastboundlessbpe writes it: 243 bytes, then the tokens."""
    def section(name, merges):
        lines = [f"{i} {spell(a)} {spell(b)} {100 - i} 0" for i, (a, b) in enumerate(merges)]
        whole = {"tau": 1.1, "is_super": name == "superwords", "superbpe_mode": name == "superwords" and kind == "superbpe", "blowup": False,
                 "main_regex": GPT2, "script_specific_regex": None, "script_specific_scripts": None, "merge_pattern": r"\p{L}", **config}
        return [name, json.dumps({k: v for k, v in whole.items() if v != "gone"}), "merges", str(len(lines)), *lines, "deletions", "0"]
    made = {a + b for a, b in supers} - {a + b for a, b in words}
    tokens = [*(bytes([b]) for b in range(256) if b not in NEVER), *tokens] if first is None else first
    lines = [f"BoundlessBPE v2 {kind}", "vocabulary", str(len(tokens)), *(f"{i} {spell(t)} 0 {int(t in made)}" for i, t in enumerate(tokens)),
             "special_tokens", str(len(special)), *(f"{len(tokens) + i} {s}" for i, s in enumerate(special)),
             *section("words", words), *(section("superwords", supers) if kind != "word" else ())]
    return "".join(line + "\n" for line in lines)


def boundless_trials():
    def good(name, wanted, text, args=()):
        reads(text.encode(), wanted, f"a BoundlessBPE model {name}", args)

    def bad(name, part, text, code=65, args=()):
        refuses(text.encode(), part, f"a BoundlessBPE model {name}", code, args)

    def line(old, new):
        text = boundless()
        assert text.count(f"\n{old}\n") == 1, old
        return text.replace(f"\n{old}\n", f"\n{new}\n" if new is not None else "\n")

    def stays(name, text):
        code, out, err = lib.run(["bpe-model", "-f", "boundless"], text.encode())
        report(code == 0 and out == text.encode() and not err, f"a BoundlessBPE model {name} is written unchanged", f"{code} {err}")

    def unwritten(name, part, form, text, args=()):
        code, out, err = lib.run(["bpe-model", "-f", form, *args], text.encode())
        report(code == 64 and part in err and not out and err.count("\n") == 1, f"refuses to write {name}", f"{code} {err}")

    small = {"format": "boundless", "pattern": "gpt2", "ids": "261", "tokens": "261", "merges": "4", "superwords": "1 merges of whole pretokens",
             "first-stage": "260", "several-words": "1", "mean-words": "2.00", "most-words": "2", "longest-superword": '"he the"',
             "unreached": None, "ignore-merges": "no", "special": f"247 {EOT}"}
    good("with superwords", small, boundless())
    good("of words only", {**small, "ids": "260", "tokens": "260", "merges": "3", "superwords": None, "first-stage": None,
                            "several-words": None, "mean-words": None, "most-words": None, "longest-superword": None, "unreached": "0", "special": f"246 {EOT}"},
         boundless("word", (b"he", b" t", b" the")))
    good("with words and superwords mixed", small, boundless("boundless", (b"he", b" t", b" the", b"he the")))
    good("with CR LF", small, boundless().replace("\n", "\r\n"))
    good("without special tokens", {"ids": "260", "first-stage": "259", "special-tokens": "0", "special": None}, boundless(special=()))
    good("with a superword of one word", {"superwords": "1 merges of whole pretokens", "several-words": "0", "mean-words": "1.00", "most-words": "1",
                                          "longest-superword": None}, boundless(tokens=(b"he", b" t", b" the", b"hehe"), supers=((b"he", b"he"),)))
    good("with all bytes", {"ids": "261", "special": f"260 {EOT}"},
         boundless(first=[bytes([b]) for b in range(256)] + [b"he", b" t", b" the", b"he the"]))
    good("with a special token that is spelled as a token", {"special": ["247 he", "248 a b"]}, boundless(special=("he", "a b")))
    good("without a regex", {"pattern": "o200k"}, boundless(main_regex="gone"))
    good("with null as its regex", {"pattern": "o200k"}, boundless(main_regex=None))
    good("with another regex", {"pattern": "regex", "regex": r"\p{L}+|.|é"}, boundless(main_regex=r"\p{L}+|.|é"))
    good("that does not split", {"pattern": "bytes"}, boundless(main_regex=r"[\s\S]+"))
    good("without a merge_pattern", small, boundless(merge_pattern="gone"))

    bad("of another version", 'line 1: is not "BoundlessBPE v2" and word, boundless or superbpe', boundless().replace("v2", "v1"))
    bad("of another type", 'line 1: is not "BoundlessBPE v2" and word', boundless("wordy"))
    bad("that a merge made of deleted tokens", "line 262: tokens that training deleted again (PickyBPE",
        boundless().replace("deletions\n0\nsuper", "deletions\n1\n7 he\nsuper"))
    bad("that splits some scripts by another regex", '"script_specific_regex" is not supported', boundless(script_specific_regex="x"))
    bad("with another merge_pattern", '"merge_pattern" is "^x"', boundless(merge_pattern="^x"))
    bad("with a regex that is not supported", r"\w is not supported", boundless(main_regex=r"\w+"))
    for regex in r"(?<=a)b|\s|\S", r"(?<!a)b|\s|\S", r"\Aa|\s|\S":
        bad(f"with the regex {regex}", "looks at the text before a match", boundless(main_regex=regex))
    bad("with an id left out", "line 10: has the id 7, not the next one, 6", line("6 Ć 0 0", None))
    bad("with a bad token", "line 10: is not an id, a token", line("6 Ć 0 0", "6 \u20ac 0 0"))
    bad("with a bad count", "line 10: is not an id, a token", line("6 Ć 0 0", "6 Ć -1 0"))
    bad("with another flag", "line 10: is not an id, a token", line("6 Ć 0 0", "6 Ć 1 2"))
    bad("with a huge count", "line 10: is not an id, a token", line("6 Ć 0 0", f"6 Ć {1 << 63} 0"))
    bad("with a field more", "line 10: is not an id, a token", line("6 Ć 0 0", "6 Ć 0 0 0"))
    bad("with a token twice", '"he" occurs twice', line("244 Ġt 0 0", "244 he 0 0"))
    bad("with a bad special token", "line 253: is not an id and a special token", line(f"247 {EOT}", EOT))
    bad("with an empty special token", "line 253: is not an id and a special token", line(f"247 {EOT}", "247 "))
    bad("with a special token that ends with a space", "ends with white space", line(f"247 {EOT}", "247 x\u00a0"))
    bad("with a special token that has the id of another", "two tokens have the id 7", line(f"247 {EOT}", f"7 {EOT}"))
    bad("without words", 'line 254: not the line "words"', boundless().replace("\nwords\n", "\n"))
    bad("with a bad configuration", "line 255: ", boundless().replace('{"tau"', "{tau"))
    bad("with another heading", 'line 256: not the line "merges"', boundless().replace("merges\n3\n", "merge\n3\n"))
    bad("with a bad number", "line 257: is not a number of lines", boundless().replace("merges\n3\n", "merges\n3x\n"))
    bad("with too few merges", "line 260: is not a rank, two tokens", line("2 Ġt he 98 0", None))
    bad("with too many merges", 'line 260: not the line "deletions"', boundless().replace("merges\n3\n", "merges\n2\n"))
    bad("with ranks in another order", "line 260: the rank of a merge is not greater", line("2 Ġt he 98 0", "1 Ġt he 98 0"))
    bad("with a merge of an unknown token", 'merge 3, "he" and "Ġthf"', boundless(supers=((b"he", b" thf"),)))
    bad("with a merge of an empty token", "line 260: is not a rank, two tokens", line("2 Ġt he 98 0", "2  Ġthe 98 0"))
    bad("with the same merge of words and of superwords", "the same two tokens have several merges (1 too many)",
        boundless(supers=((b"he", b" the"), (b" t", b"he"))))
    bad("with a merge before one that makes a part of it", 'merge 0, "Ġt" and "he", comes before one that makes one of these',
        boundless(words=((b" t", b"he"), (b"h", b"e"), (b" ", b"t"))))
    bad("with two ways to make a part, one of them later", 'merge 4, "Ġthe" and "he", comes before one that makes',
        boundless(tokens=(b"he", b" t", b" the", b" th", b" thehe", b"he the"),
                  words=((b"h", b"e"), (b" ", b"t"), (b" t", b"he"), (b" t", b"h"), (b" the", b"he"), (b" th", b"e"))))
    bad("that joins lines", "merge 3 is of a superword with text after a newline", boundless(tokens=(b"he", b" t", b" the", b"\nhe"),
                                                                                          supers=((b"\n", b"he"),)))
    bad("without a byte", 'the byte 0x41 ("A") is not in the vocabulary',
        boundless(first=[bytes([b]) for b in range(256) if b not in (*NEVER, 0x41)] + [b"he", b" t", b" the", b"he the"]))
    bad("with more after its end", "line 271: the file should end before this line", boundless() + "\n x\n")
    whole = boundless()
    for cut in 0, 30, 500, len(whole) // 2, len(whole) - 3:
        bad(f"cut off at byte {cut}", ("the file is empty" if not cut else "line "), whole[:cut])
    bad("and -p", "leave out -p", whole, 64, ["-p", "gpt2"])
    bad("and -s", "leave out -s", whole, 64, ["-s", "x"])

    stays("with superwords", whole)
    stays("with words and superwords mixed", boundless("boundless", (b"he", b" t", b"he the", b" the")))
    stays("of words only", boundless("word", (b"he", b" t", b" the")))
    stays("without special tokens", boundless(special=()))
    stays("with a regex of its own", boundless(main_regex=r'\p{L}+|"|x'))
    stays("that does not split", boundless(main_regex=r"[\s\S]+"))
    stays("with special tokens spelled as tokens", boundless(special=("he", "a b", "Ġ")))
    for form in "json", "tiktoken", "merges":
        unwritten(f"superwords with -f {form}", f"-f {form} cannot express that 1 merges apply only to whole pretokens (superwords)", form, whole)
    lib.write("super.model", whole)
    counts = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", "super.model", data=b"he the\n")))
    for args, part, data in ((["bpe-model", "--diff", "super.model", "super.model"], "--diff: comparing models with superwords of whole pretokens (BoundlessBPE) is not supported", b""),
                             (["bpe-model", "--prune=1", "super.model"], "(BoundlessBPE): their tokens cannot be counted pretoken by pretoken", counts),
                             (["bpe", "describe", "-m", "super.model"], "(BoundlessBPE), and a sum does not show which pretokens are adjacent", counts),
                             (["bpe-merge", "-v", "300", "--init=super.model"], "super.model cannot be extended: it has superwords of whole pretokens", counts),
                             (["bpe-model", "--superwords", "-f", "boundless", "super.model"], "this model has superwords of whole pretokens", b"")):
        code, out, err = lib.run(args, data)
        report(code == 64 and part in err and not out and err.count("\n") == 1, f"{' '.join(args)}: superwords are refused", f"{code} {err}")
    word = boundless("word", (b"he", b" t", b" the"), special=("he",))
    unwritten("as JSON a special token spelled as a token", 'special token "he", id 246, is spelled as token 243', "json", word)
    unwritten("a model cut with -v", "-v: cutting a model with superwords of whole pretokens (BoundlessBPE) is not supported", "boundless", whole, ["-v", "260"])
    unwritten("first special tokens", "in a BoundlessBPE file special tokens come after all others", "boundless", dump(BASE).decode())
    code, out, err = lib.run(["bpe-model", "-f", "boundless", "--add-special=<x>"], whole.encode())
    report(code == 0 and out == whole.replace(f"special_tokens\n1\n247 {EOT}", f"special_tokens\n2\n247 {EOT}\n261 <x>").encode(),
           "a special token is added to a BoundlessBPE model", f"{code} {err}")
    word = boundless("word", (b"he", b" t", b" the"))
    code, out, err = lib.run(["bpe-model"], word.encode())
    reads(out, {"format": "json", "ids": "260", "merges": "3", "special": f"246 {EOT}"}, "a tokenizer.json made from a BoundlessBPE model of words")
    code, again, err = lib.run(["bpe-model", "-f", "boundless"], out)
    report(code == 0 and again == re.sub(r" (?:100|99|98) 0\n", " 0 0\n", word).encode(), "  and back, without the counts of merges", f"{code} {err}")


PIECES = [("<unk>", 0, spm.UNKNOWN), ("<s>", 0, spm.CONTROL), ("</s>", 0, spm.CONTROL), ("<pad>", 0, spm.CONTROL), ("<x>", 0, spm.USER_DEFINED),
          ("\u2581", -9), ("a", -9), ("b", -9), ("ab", -1), ("ba", -2), ("\u2581ab", -3), ("\u2581\u2581", -1e9), ("\u2581" * 3, -1e9),
          ("\u2581" * 5, -1e9), ("\n", -9), ("b\n", -4)]


def ids_of(model, text, *args):
    code, out, err = lib.run(["bpe-encode", "-m", model, "-f", "text", *args], text.encode())
    return " ".join(out.decode().split()) if not code else err


def sentencepiece_trials():
    def good(name, wanted, data, args=()):
        reads(data, {"format": "sentencepiece", **wanted}, f"a tokenizer.model {name}", args)

    def bad(name, part, data, code=65, args=()):
        refuses(data, part, f"a tokenizer.model {name}", code, args)

    def settings(**keys):
        return spm.model(PIECES, **keys)

    def more(*pieces):
        return spm.model(PIECES + list(pieces))

    base = settings()
    small = {"pattern": "bytes", "prefix": " ", "units": "characters", "unknown": "<unk> fused", "metaspace": "always", "ids": "16", "merges": "7",
             "unreached": "0", "scanner": "pairs", "eos": "2 </s>", "pad": "3 <pad>", "flags": "4 inside not-special",
             "special": ["0 <unk>", "1 <s>", "2 </s>", "3 <pad>", "4 <x>"]}
    good("", small, base)
    good("whose eos has another name", {"eos": "1 <s>", "pad": "2 </s>"}, settings(eos="<s>", pad="</s>"))
    good("without a prefix space", {"prefix": None, "flags": "4 not-special", "metaspace": "never"}, settings(prefix=0))
    good("with byte_fallback", {"unknown": "bytes", "ids": "272"}, spm.model(PIECES + spm.BYTES, byte_fallback=1))
    good("with unknown fields", small, base + spm.field(4, b"") + spm.field(6, "x") + spm.field(200, 7) + spm.field(9, 1.5))
    good("whose settings are split in two", {"unknown": "bytes"}, spm.model(PIECES + spm.BYTES) + spm.field(2, spm.field(35, 1)))
    good("with a character that is UNUSED", {}, more(("c", -9, spm.UNUSED)))
    for kind, part in (1, "Unigram"), (3, "neither a BPE"), (4, "neither a BPE"), (9, "neither a BPE"):
        bad(f"of type {kind}", part, settings(type=kind))
    bad("without settings", "Unigram", b"".join(spm.piece(*p) for p in PIECES))
    for part, keys in (("normalizer replaces", {"charsmap": "x"}), ("remove_extra_whitespaces", {"strip": 1}), ("escape_whitespaces", {"escape": 0}),
                       ("whitespace_as_suffix", {"suffix": 1}), ("256 pieces", {"byte_fallback": 1})):
        bad(f"with {keys}", part, settings(**keys))
    bad("with a denormalizer", "its denormalizer", base + spm.field(5, spm.field(2, "x")))
    for part, pieces in (('"ab" occurs twice', [("ab", -20)]), ('piece 16, "", is empty', [("",)]),
                         ("not a number", [("c", float("nan"))]), ("not a number", [("c", float("-inf"))]), ("unknown type", [("c", 0, 7)]),
                         ("unknown type", [("c", 0, 0)]), ("second UNKNOWN piece", [("<u>", 0, spm.UNKNOWN)]),
                         ("space that is not U+2581", [("a b", -20)]), ("USER_DEFINED, with a space", [("<\u2581>", 0, spm.USER_DEFINED)]),
                         ("is UNUSED", [("aa", -20, spm.UNUSED)]), ("CONTROL, and a character", [("c", 0, spm.CONTROL)]), ("256 pieces", [("<0x00>", 0, spm.BYTE)]),
                         ("a character that is not a piece", [("ac", -20)]), ("as scores are equal", [("aa", -1)]), ("as scores are equal", [("abb", 0.5)])):
        bad(f"with the piece {pieces[0]}", part, more(*pieces))
    bad("with runs of spaces whose scores differ", "as scores are equal", spm.model(PIECES[:11] + [("\u2581" * n, -5 - (n > 2)) for n in (2, 3, 4)]))
    bad("with a piece that is not UTF-8", "piece 16, \"\", is not UTF-8", base + spm.field(1, spm.field(1, b"\xff")))
    bad("without an unknown piece", "no piece is UNKNOWN", spm.model(PIECES[1:]))
    bad("with -p", "leave out -p", base, 64, ["-p", "gpt2"])
    bad("with a field without a number", "malformed", base + b"\x00\x00")
    bad("with a length beyond 64 bits", "malformed", base + b"\x0a" + b"\xff" * 10 + b"\x01")
    bad("with a length beyond the file", f"byte {len(base) + 5}: a field that is malformed", base + b"\x0a\xff\xff\xff\x7f")
    bad("with a group", "malformed", base + b"\x0b\x0c")
    wrong = [n for n in range(1, len(base)) if lib.run(["bpe-model", "--info"], base[:n])[0] not in (0, 65)]
    report(not wrong, "a tokenizer.model that is cut off anywhere is read or refused", f"{wrong}")
    report(lib.run(["bpe-model", "--info"], base[:20])[2].count("\n") == 1, "  with one message line")

    os.mkdir("spm")
    lib.write("spm/tokenizer.model", base)
    good("in its directory", small, b"", ["spm"])
    for text, want, args in (
            ("abab", "10 8", ()), (" ab", "5 10", ()), ("ba", "5 9", ()), ("a<x>b", "5 6 4 7", ()), ("<x>ab", "5 4 8", ()), ("<x><x>", "5 4 4", ()),
            ("ab</s>ab", "10 2 10", ()), ("a<s>", "5 6 1", ()), ("a<s>", "5 6 0", ("--special=text",)), ("acdb", "5 6 0 7", ()),
            ("c<x>d", "5 0 4 0", ()), ("\u2581ab", "5 10", ()), ("ab\nab", "10 14 8", ()), ("bb\na", "5 7 15 6", ()), (" " * 2, "12", ()), (" " * 4, "13", ()), (" " * 5, "13 5", ()),
            (" " * 9, "13 13", ()), ("", "", ())):
        got = ids_of("spm", text, *args)
        report(got == want, f"a tokenizer.model encodes {text!r} {args}", f"wanted {want}", f"got {got}")
    code, out, err = lib.run(["bpe-decode", "-m", "spm", "-f", "text"], b"5 5 10 4 8")
    report(out == b"  ab<x>ab", "decodes all but the prefix space", f"{out} {err}")
    rng = random.Random(7)
    lib.write("it", "".join(rng.choice(["<x>", "<x>", "ab", "b", " ", "   ", "\n", "</s>", "<"]) for _ in range(20000)))
    whole = lib.must("bpe-encode", "-m", "spm", "it")
    for how in [], ["--inline"]:
        chunks = lib.must("bpe-chunk", "-m", "spm", "-b", "900", *how, "it")
        report(len(chunks) > 500 and lib.must("bpe-encode", "-m", "spm", "-f", "raw", data=chunks) == whole, f"encodes chunks {how} that end with a token inside text")
    code, out, err = lib.run(["bpe-model", "spm"])
    report(code == 64 and not out and 'not after "<x>"' in err, "tokenizer.json cannot express a token inside text", err)
    lib.write("plain.model", spm.model([p for p in PIECES if p[0] != "<x>"] + spm.BYTES, byte_fallback=1))
    lib.must("bpe-model", "-o", "plain.json", "plain.model")
    text = lib.read("it").decode() + "é語"
    report(ids_of("plain.json", text) == ids_of("plain.model", text) != "", "converted to tokenizer.json, it gives the same ids")
    reads(b"", {"format": "json", "metaspace": "always", "unknown": "bytes", "eos": None}, "that tokenizer.json", ["plain.json"])
    for name in "gpt2", "tiktoken", "merges":
        report(lib.run(["bpe-model", "-f", name, "-o", "none", "spm"])[0] == 64 and not os.path.exists("none"), f"a tokenizer.model is not written as {name}")


def pair_trials():
    os.mkdir("pair")
    vocab = BASE["model"]["vocab"]
    merges = "".join(f"{a} {b}\n" for a, b in BASE["model"]["merges"])

    def write(v=None, m="#version: 0.2\n" + merges, names=("vocab.json", "merges.txt")):
        for old in os.listdir("pair"):
            os.remove(f"pair/{old}")
        lib.write(f"pair/{names[0]}", dump(v or vocab))
        lib.write(f"pair/{names[1]}", m.encode())

    def good(name, wanted, *args, path="pair"):
        reads(b"", wanted, f"the pair {name}", [path, *args])

    def bad(name, part, *args, code=65, **how):
        write(**how)
        refuses(b"", part, f"the pair {name}", code, ["pair", *args])

    n = len(BASE["model"]["merges"])
    wanted = {"format": "gpt2", "pattern": "gpt2", "merges": str(n), "special": "0 <|endoftext|>"}
    write()
    good("by its directory", wanted)
    good("by vocab.json", wanted, path="pair/vocab.json")
    good("by merges.txt", wanted, path="./pair/merges.txt")
    good("with another pattern", {"pattern": "cl100k"}, "-p", "cl100k")
    write(names=("encoder.json", "vocab.bpe"))
    good("with OpenAI's names", wanted)
    write(m=merges)
    good("without a header", wanted)
    write(m=merges[:-1])
    good("without a newline at the end", wanted)
    size = len(vocab)
    write({**vocab, "Ġ<m>": size, "<my token>": size + 1})
    good("with more special tokens", {"special": ["0 <|endoftext|>", f"{size} Ġ<m>", f"{size + 1} <my token>"]})
    k, (a, b) = next((k, m) for k, m in enumerate(BASE["model"]["merges"]) if any(m[0] + m[1] in x for x in BASE["model"]["merges"]))
    write(m=merges.replace(f"{a} {b}\n", "", 1))
    good(f"without merge {k}, whose token is in other merges, so it is not special", {"special": "0 <|endoftext|>"})
    bad("with CR LF", "merges.txt: line 1: ends with CR LF", m=merges.replace("\n", "\r\n"))
    bad("with an empty line", f"merges.txt: line {n + 1}: is empty", m=merges + "\n")
    bad("with two spaces", "line 1: is not two tokens", m="a  b\n")
    bad("with one token", "line 1: is not two tokens", m="ab\n")
    bad("with a second header", "line 2: begins with", m="#version: 1\n#version: 2\n")
    bad("with an unknown token", 'merge 0, "a" and "zqz"', m="a zqz\n")
    bad("with a list as vocabulary", "vocab.json: byte 0", v=["a"])
    bad("and -s", "leave out -s", "-s", "x", code=64)
    os.remove("pair/merges.txt")
    refuses(b"", "pair: a directory without", "a directory with vocab.json but without merges.txt", 66, ["pair"])
    refuses(b"", 'vocab.json: JSON without "model"', "vocab.json without merges.txt", 65, ["pair/vocab.json"])
    refuses(b"", "none: cannot open", "a missing file", 66, ["none"])
    write()
    lib.write("pair/tokenizer.json", dump(BASE))
    good("in a directory with tokenizer.json: tokenizer.json", {"format": "json"})


def fill(place, **files):
    """Makes a directory with only these files; NAME__json=VALUE is NAME.json."""
    os.makedirs(place, exist_ok=True)
    for old in os.listdir(place):
        os.remove(f"{place}/{old}")
    for name, value in files.items():
        lib.write(f"{place}/{name.replace('__', '.')}", value if isinstance(value, bytes) else dump(value))


def token(content, **more):
    return {"__type": "AddedToken", "content": content, "lstrip": False, "normalized": True, "rstrip": False, "single_word": False, **more}


def directory_trials():
    """Directories of from_pretrained: the tokens that end a text and pad it, and the special tokens."""
    n = len(BASE["model"]["vocab"])
    whole = with_added(added("</s>"), added("<pad>"), added("<x>", special=False))

    def good(name, wanted, *args, config=None, roles=None, ids=None, **files):
        fill("hf", **{k: v for k, v in [("tokenizer_config__json", config), ("special_tokens_map__json", roles), ("added_tokens__json", ids)]
                      if v is not None}, **files)
        reads(b"", wanted, name, ["hf", *args])

    def bad(name, part, *args, code=65, config=None, roles=None, ids=None, **files):
        fill("hf", **{k: v for k, v in [("tokenizer_config__json", config), ("special_tokens_map__json", roles), ("added_tokens__json", ids)]
                      if v is not None}, **files)
        refuses(b"", part, name, code, ["hf", *args])

    # tokenizer.json has the special tokens, so only the roles are read from other files.
    one = {"tokenizer__json": whole}
    silent = {"eos": None, "pad": None, "format": "json"}
    good("a directory with only tokenizer.json", silent, **one)
    good("tokenizer_config.json", {"eos": f"{n} </s>", "pad": f"{n + 1} <pad>"}, config={"eos_token": "</s>", "pad_token": "<pad>"}, **one)
    reads(b"", silent, "tokenizer.json by name: no other file is read", ["hf/tokenizer.json"])
    good("tokens as objects", {"eos": f"{n} </s>", "pad": f"{n + 2} <x>"}, config={"eos_token": token("</s>"), "pad_token": token("<x>")}, **one)
    good("tokenizer_config.json without tokens", silent,
         config={"pad_token": None, "model_max_length": 1e30, "chat_template": "{{ '</s>' }}"}, **one)
    good("special_tokens_map.json, which overrides tokenizer_config.json", {"eos": f"{n} </s>", "pad": f"{n + 1} <pad>"},
         config={"eos_token": "<x>", "pad_token": "<pad>"}, roles={"eos_token": "</s>"}, **one)
    good("special_tokens_map.json is ignored if there is added_tokens_decoder", {"eos": f"{n + 2} <x>"},
         config={"added_tokens_decoder": {}, "eos_token": "<x>"}, roles={"eos_token": "</s>"}, **one)
    good("the roles of a known class", {"eos": "0 <|endoftext|>", "pad": None}, config={"tokenizer_class": "GPT2TokenizerFast"}, **one)
    good("  unless another is given", {"eos": f"{n} </s>"}, config={"eos_token": "</s>", "tokenizer_class": "GPT2Tokenizer"}, **one)
    good("  or null", {"eos": None}, config={"tokenizer_class": "GPT2Tokenizer", "eos_token": None}, **one)
    bad("a role of a token that does not exist", 'hf/tokenizer_config.json: eos_token "<y>" is not a special token', config={"eos_token": "<y>"}, **one)
    bad("a role that is not a token", "hf/tokenizer_config.json: byte", config={"eos_token": 5}, **one)
    bad("a file that is not JSON", "hf/special_tokens_map.json: byte", roles=b"{", **one)
    bad("a list", "hf/tokenizer_config.json: byte", config=[], **one)
    good("split_special_tokens: false", silent, config={"split_special_tokens": False}, **one)
    bad("  and true", "split_special_tokens makes special tokens text, which is not supported: set it to false, and encode with --special=text",
        config={"split_special_tokens": True}, **one)

    # vocab.json and merges.txt.
    vocab = {k: v for k, v in BASE["model"]["vocab"].items() if k != "<|endoftext|>"}
    vocab["Ġzz!"] = 0  # no merge makes it
    pair = {"vocab__json": vocab, "merges__txt": "".join(f"{a} {b}\n" for a, b in BASE["model"]["merges"]).encode()}
    ids = {"</s>": n, "<pad>": n + 1, "Ġzz!": 0}
    decoder = {str(i): {"content": t} for t, i in ids.items()}
    good("only the pair: a token that no merge makes is special", {"special": "0 Ġzz!", "format": "gpt2"}, **pair)
    good("  also with a config that names no token", {"special": "0 Ġzz!", "pattern": "gpt2"}, config={"model_max_length": 1024}, **pair)
    good("added_tokens.json", {"special": ["0 Ġzz!", f"{n} </s>", f"{n + 1} <pad>"], "eos": None}, ids=ids, **pair)
    good("  with roles", {"eos": f"{n} </s>", "pad": f"{n + 1} <pad>"}, ids=ids, roles={"eos_token": "</s>", "pad_token": {"content": "<pad>"}}, **pair)
    good("added_tokens_decoder", {"special": ["0 Ġzz!", f"{n} </s>", f"{n + 1} <pad>"], "eos": f"{n} </s>"},
         config={"eos_token": "</s>", "added_tokens_decoder": dict(reversed(decoder.items()))}, ids={"<a>": 5}, **pair)
    good("tokens without ids, which get the next ids", {"special": [f"{n} <b>", f"{n + 1} <e>", f"{n + 2} <i>", f"{n + 3} <x>", f"{n + 4} <y>"]},
         config={"additional_special_tokens": ["<x>", token("<y>"), "<e>"], "eos_token": "<e>", "image_token": "<i>", "bos_token": "<b>",
                 "add_bos_token": True}, **pair)
    good("  after those with ids", {"special": [f"{n} <y>", f"{n + 1} <e>"]}, config={"eos_token": "<e>"}, ids={"<y>": n}, **pair)
    good("extra_special_tokens", {"special": [f"{n} <x>"]}, config={"additional_special_tokens": ["<y>"], "extra_special_tokens": ["<x>"]}, **pair)
    good("other roles: strings of the config are kept, objects are replaced", {"special": [f"{n} <y>", f"{n + 1} <i>"]},
         config={"image_token": "<i>", "audio_token": token("<a>")}, roles={"image_token": "<x>", "audio_token": "<y>"}, **pair)
    good("  also by null; extra_special_tokens has roles, too", {"special": f"{n} <z>"},
         config={"extra_special_tokens": {"image_token": "<z>"}, "image_token": "<i>", "audio_token": token("<a>")}, roles={"audio_token": None}, **pair)
    good("GPT2Tokenizer, which has <|endoftext|>", {"special": f"{n} <|endoftext|>", "eos": f"{n} <|endoftext|>", "pattern": "gpt2"},
         config={"tokenizer_class": "GPT2Tokenizer"}, **pair)
    good("Qwen2Tokenizer, which normalizes text", {"special": f"{n} <|endoftext|>", "eos": f"{n} <|endoftext|>", "pad": f"{n} <|endoftext|>",
                                                   "pattern": "qwen2", "normalizer": "nfc"}, config={"tokenizer_class": "Qwen2Tokenizer"}, **pair)
    good("a prefix space", {"pattern": "gpt2", "prefix": " "}, config={"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, **pair)
    bad("a prefix space for each pretoken", "add_prefix_space: not supported",
        config={"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": True}, **pair)
    good("another class, with -p", {"special": f"{n} <e>", "pattern": "cl100k"}, "-p", "cl100k",
         config={"tokenizer_class": "MyTokenizer", "eos_token": "<e>"}, **pair)
    bad("another class", "hf/tokenizer_config.json: how MyTokenizer splits text is not known: give the pattern, -p", code=64,
        config={"tokenizer_class": "MyTokenizerFast"}, **pair)
    bad("a known class, and -p", "GPT2Tokenizer has the pattern gpt2: leave out -p", "-p", "cl100k", code=64, config={"tokenizer_class": "GPT2Tokenizer"}, **pair)
    bad("an id that Hugging Face would not give", f'"</s>" has the id {n + 5}, but {n}', ids={"</s>": n + 5}, **pair)
    bad("an id that is not a number", "a key is not an id", config={"added_tokens_decoder": {"x": {"content": "a"}}}, **pair)
    for key, value in (("eos_token", ""), ("pad_token", token("")), ("image_token", ""), ("additional_special_tokens", ["<x>", ""]),
                       ("added_tokens_decoder", {"5": token("")})):
        bad(f"a token without text: {key}", f"{key}: a token without text; null means none", config={key: value}, **pair)
    bad("special tokens that are text", "encode with --special=text", config={"split_special_tokens": True}, **pair)
    bad("an empty token in added_tokens.json", "an empty token", ids={"": 5}, **pair)
    bad("-s", "leave out -s", "-s", "x", code=64, ids=ids, **pair)
    fill("hf", added_tokens__json=ids, **pair)
    reads(b"", {"special": ["0 Ġzz!", f"{n} </s>", f"{n + 1} <pad>"]}, "the same by the name of vocab.json", ["hf/vocab.json"])

    # .tiktoken.
    ranks = BYTES + line(b"ab", 256) + line(b"abc", 257)
    kimi = {"eos_token": "[EOS]", "tokenizer_class": "TikTokenTokenizer", "added_tokens_decoder": {
        "258": {"content": "[BOS]", "special": True}, "262": {"content": "[EOS]", "special": True}, "260": {"content": "<|x|>"}}}
    special = ["258 [BOS]", "259 <|reserved_token_259|>", "260 <|x|>", "261 <|reserved_token_261|>", "262 [EOS]"]
    for name in "tiktoken__model", "tokenizer__model":
        tik = {name: ranks}
        good(f"{name.replace('__', '.')} with added_tokens_decoder", {"format": "tiktoken", "special": special, "eos": "262 [EOS]", "pattern": "unknown"},
             config=kimi, **tik)
        good("  and -p", {"pattern": "gpt2", "special": special}, "-p", "gpt2", config=kimi, **tik)
        bad("  and -s", "hf/tokenizer_config.json contains the special tokens: leave out -s", "-s", "x", code=64, config=kimi, **tik)
        good("  without a config, with -s", {"special": "258 <e>", "eos": None}, "-s", "<e>", **tik)
        good("  without ids, with -s", {"special": "258 <e>", "eos": "258 <e>"}, "-s", "<e>", config={"eos_token": "<e>"}, **tik)
    reads(ranks, {"format": "tiktoken"}, "a .tiktoken file by any name", [])
    bad("an id that is a rank", "two tokens have the id 7", config={"added_tokens_decoder": {"7": {"content": "a"}}}, **tik)
    bad("an id that is too large", "has the id 999999: too large", config={"added_tokens_decoder": {"999999": {"content": "a"}}}, **tik)
    bad("a role without an id", '"<y>" is not in added_tokens_decoder', config={**kimi, "bos_token": "<y>"}, **tik)
    bad("SentencePiece's tokenizer.model without settings", "not BPE", tokenizer__model=b"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02")

    # The token that ends a document.
    fill("hf", tokenizer__json=whole, tokenizer_config__json={"eos_token": "<pad>"})
    code, out, err = lib.run(["bpe-encode", "-m", "hf", "--eot=after", "-f", "text"], b"a")
    report(code == 0 and out.split()[-1:] == [str(n + 1).encode()], "bpe-encode --eot uses the eos_token", f"{code} {out} {err}")
    code, out, err = lib.run(["bpe-model", "-f", "hf-dir", "-o", "hf2", "hf"])
    roles = json.loads(lib.read("hf2/tokenizer_config.json")) if code == 0 else err
    report(code == 0 and (roles["eos_token"], roles["pad_token"]) == ("<pad>", "<pad>"), "-f hf-dir keeps it", f"{roles}")
    code, out, err = lib.run(["bpe-model", "hf"])
    report(code == 0 and "-f json does not record that <pad> ends a text" in err, "  and -f json does not, with a warning", err)


json_trials()
character_trials()
tiktoken_trials()
tekken_trials()
boundless_trials()
sentencepiece_trials()
pair_trials()
directory_trials()
