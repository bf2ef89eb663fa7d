#!/usr/bin/env python3
"""encode.py SEED CASES - compares bpe-encode with encode_slow.py on random models, special tokens, texts and options, whole and in
pieces, and decodes the ids with bpe-decode."""
import base64
import json
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../oracle"), os.path.join(HERE, "../pipe")]
import encode_slow  # noqa: E402
import records  # noqa: E402
from filters import run  # noqa: E402
from lib import spell  # noqa: E402

ALPHABETS = ["a", "a \n", "ab_ <\n", "a_ é<\n", "ab", "ab\n", "a\n", "abc \n", "<|>a\n", "a\n é", "ab\n'1. é語", "the \n"]
bad = 0


def check(good, what):
    global bad
    if not good:
        bad += 1
        if bad < 10:
            print("# " + what[:1500])


def random_model(rng, alphabet):
    """Merges that no trainer would make: in any order, several with the same result; ids in any order."""
    tokens = [bytes([b]) for b in range(256)]
    pool = [bytes([b]) for b in "".join(alphabet).encode()] + ([b"\xff", b"\xe9"] if rng.random() < 0.2 else [])
    merges = []
    for _ in range(rng.choice([0, 1, 3, 10, 30])):
        pair = rng.choice(pool), rng.choice(pool)
        if pair not in merges and len(pair[0] + pair[1]) < 20:
            merges.append(pair)
            pool.append(pair[0] + pair[1])
            if pair[0] + pair[1] not in tokens:
                tokens.append(pair[0] + pair[1])
    if rng.random() < 0.3:
        rng.shuffle(merges)
    if rng.random() < 0.5:
        rng.shuffle(tokens)
    return {t: i for i, t in enumerate(tokens)}, merges


def random_special(rng, text, token):
    """Special tokens with their ids, as Hugging Face would give them."""
    names = [text(1, 4) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    if rng.random() < 0.5:
        names.insert(rng.randint(0, len(names)), "<|endoftext|>")
    if names and rng.random() < 0.3:
        names.append(names[0] + text(1, 2))
    if names and rng.random() < 0.2:
        names.append(rng.choice(["aa", "\n\n", "\na", "a\na", "\n", "a", "a\n", "ba\n"]))
    spelled = {spell(t): i for t, i in token.items()}
    out, new = [], len(token)
    for name in dict.fromkeys(names):
        number = spelled.get(name)
        if number is not None and not name.isascii():
            continue  # é is also the spelling of the byte 0xE9
        if number is None:
            number, new = new, new + 1
        out.append((name.encode(), number, rng.random() < 0.8))
    return out


def random_flags(rng, special):
    """Flags for some of the tokens. No lstrip for tokens that begin with whitespace if another has rstrip: Hugging Face fails on these."""
    flags = {s: {f for f in encode_slow.FLAGS if rng.random() < 0.4} for s, _, _ in special if rng.random() < 0.7}
    if any("rstrip" in f for f in flags.values()):
        for s, f in flags.items():
            if s.decode()[0].isspace():
                f.discard("lstrip")
    return flags


def write_json(path, token, merges, special, flags, pattern, whole_first):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": pattern == "gpt2"}
    added = [{"id": i, "content": s.decode(), **{f: f in flags.get(s, ()) for f in encode_slow.FLAGS}, "normalized": False, "special": x}
             for s, i, x in special]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "fuse_unk": False, "byte_fallback": False, "ignore_merges": whole_first,
             "vocab": {spell(t): i for t, i in token.items()},
             "merges": [[spell(a), spell(b)] for a, b in merges]}
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(added, key=lambda t: t["id"]),
                   "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None, "decoder": None, "model": model}, f)


def write_tiktoken(path, token):
    with open(path, "w", encoding="utf-8") as f:
        for t, i in sorted(token.items(), key=lambda x: x[1]):
            f.write(f"{base64.b64encode(t).decode()} {i}\n")


def make_model(rng, alphabet, text):
    """A model, and the options that select it."""
    token, merges = random_model(rng, alphabet)
    pattern = rng.choice(["gpt2", "gpt2", "bytes"])
    if rng.random() < 0.25:
        special = [(s, i + len(token), True) for i, (s, _, _) in enumerate(random_special(rng, text, token))]
        write_tiktoken("m.tiktoken", token)
        options = ["-m", "m.tiktoken", "-p", pattern]
        options += [x for s, i, _ in special for x in ("-s", f"{s.decode()}={i}")]
        return encode_slow.Model(token, None, special, pattern, True), options
    special, whole_first = random_special(rng, text, token), rng.random() < 0.2
    flags = random_flags(rng, special) if rng.random() < 0.5 else {}
    write_json("m.json", token, merges, special, flags, pattern, whole_first)
    merge = {}
    for rank, (a, b) in enumerate(merges):
        merge[token[a], token[b]] = rank, token[a + b]
    return encode_slow.Model(token, merge, special, pattern, whole_first, flags), ["-m", "m.json"]


def separator_of(special, asked):
    """The separator, as bpe-encode(1) defines it; None if there is none."""
    names = [s[0] for s in special if s[2]]
    if asked:
        return asked
    return b"<|endoftext|>" if b"<|endoftext|>" in [s[0] for s in special] else names[0] if len(names) == 1 else None


def put_together(stream):
    """{source: (ids, ends of documents)} from token records in any order."""
    found = sorted((records.tokens(r) for r in records.split(stream) if records.kind(r) == "T"), key=lambda t: (t.source, t.begin, t.first))
    out = {}
    for t in found:
        ids, ends = out.setdefault(t.source, ([], []))
        ends += [len(ids) + e for e in t.ends]
        ids += t.ids
    return out


def may_overlap(a, b):
    """Whether occurrences of a and b in a text can overlap."""
    return a in b or b in a or any(a[-n:] == b[:n] or b[-n:] == a[:n] for n in range(1, min(len(a), len(b))))


def as_text(ids, ends):
    return "".join(" ".join(map(str, ids[a:b])) + "\n" for a, b in zip([0] + ends, ends))


def check_pieces(rng, tag, model, options, files, want, how):
    """Encodes chunks, divided among any number of processes."""
    chunk = ["bpe-chunk", *options[:4 if "-p" in options[:4] else 2], "-b", str(rng.choice([1, 2, 3, 5, 8, 13, 100])), *how["chunk"]]
    if options[1].endswith(".tiktoken") or how["special"] == "text":
        chunk += [x for s, _, special in model.special if not (how["special"] == "text" and special) for x in ("-s", s.decode())]
        if "-s" not in chunk:
            chunk.append("--no-special")
    if rng.random() < 0.5:
        chunk.append("--inline")
    code, chunks, err = run(chunk + files)
    check(code == 0, f"{tag}: {chunk}: exit {code}: {err}")
    parts = records.split(chunks)
    code, raw, err = run(["bpe-encode", *options, *how["encode"], "-f", "raw", "-d", "u16"], chunks)
    ids = [i for f in files for i in want[f][0]]
    check(code == 0 and raw == b"".join(i.to_bytes(2, "little") for i in ids), f"{tag}: {chunk}: -f raw of chunks: exit {code} {err}")
    if how["special"] == "text":
        return
    rng.shuffle(parts)
    n, out = rng.choice([1, 2, 3]), b""
    for worker in range(n):
        code, tokens, err = run(["bpe-encode", *options, *how["encode"]], b"".join(parts[worker::n]))
        check(code == 0, f"{tag}: {chunk}: exit {code}: {err}")
        out += tokens
    pieces = {(p.source, p.begin, p.end) for r in parts if records.kind(r) in "CR" for p in records.pieces(r)}
    strange = {(t.source, t.begin, t.end) for r in records.split(out) if records.kind(r) == "T" for t in [records.tokens(r)]} - pieces
    check(not strange, f"{tag}: {chunk}: tokens of {strange}, which are not pieces")
    got = put_together(out)
    for i, f in enumerate(files):
        check(got.get(i, ([], [])) == want[f], f"{tag}: {chunk}: records of {f}: {got.get(i)} instead of {want[f]}")
    if chunks:
        code, said, err = run(["bpe-view", "--check"], out)
        check(code == 0, f"{tag}: {chunk}: --check: exit {code}: {err}")


def one_case(rng, tag):
    alphabet = rng.choice(ALPHABETS)

    def text(low, high):
        return "".join(rng.choice(alphabet) for _ in range(rng.randint(low, high)))
    model, options = make_model(rng, alphabet, text)
    names = [s[0] for s in model.special]
    eot, special = rng.choice(["none", "before", "after"]), rng.choice(["token", "token", "token", "text"])
    invalid = rng.choice(["error", "error", "replace", "skip", "bytes"])
    asked = rng.choice(names) if names and (rng.random() < 0.3 or (eot != "none" and separator_of(model.special, None) is None)) else None
    if not names:
        eot = "none"
    files = ["a.txt", "b.txt"][:rng.choice([1, 2])]
    want, data = {}, {}
    separator = separator_of(model.special, asked)
    for f in files:
        words = [rng.choice(names) if names and rng.random() < 0.3 else text(0, 6).encode() for _ in range(rng.randint(0, 30))]
        if invalid != "error":
            words = [w if rng.random() < 0.8 else rng.choice([b"\xff", b"\xc3", b"\xe8\xaa", b"\xf0\x9f", b"\xa9"]) for w in words]
        data[f] = b"".join(words)
        with open(f, "wb") as out:
            out.write(data[f])
        want[f] = encode_slow.encode(model, data[f], eot, separator, special, invalid)
    encode = ["--eot=" + eot, "--special=" + special] + (["--eot-token=" + asked.decode()] if asked else [])
    how = {"encode": encode, "chunk": ["--invalid=" + invalid], "special": special}
    tag = f"{tag}: {options} {encode} --invalid={invalid} on {data}"
    code, got, err = run(["bpe-encode", *options, *encode, "--invalid=" + invalid, "-f", "text", *files])
    if special == "text" and any(may_overlap(s, t) for s, _, x in model.special for t, _, y in model.special if x and not y):
        check(code == 64 and "overlap" in err and not got, f"{tag}: exit {code} {err}: {got!r}")
        return
    lines = "".join(as_text(*want[f]) for f in files)
    check(code == 0 and got.decode() == lines, f"{tag}: exit {code} {err}: {got.decode()!r} instead of {lines!r}")
    if len(files) == 1:
        code, raw, err = run(["bpe-encode", *options, *encode, "--invalid=" + invalid, "-d", "u32"], data["a.txt"])
        check(code == 0 and raw == b"".join(i.to_bytes(4, "little") for i in want["a.txt"][0]), f"{tag}: raw: exit {code} {err}")
        decode = [o for i, o in enumerate(options) if o != "-p" and options[i - 1] != "-p"]
        code, back, err = run(["bpe-decode", *decode, "-d", "u32"], raw)
        check(code == 0 and back == b"".join(model.bytes[i] for i in want["a.txt"][0]), f"{tag}: decoded: exit {code} {err}")
        if eot == "none" and invalid in ("error", "bytes") and not any("strip" in f for fs in model.flags.values() for f in fs):
            check(back == data["a.txt"], f"{tag}: decoded to {back!r}")
    if not (asked and special == "text"):
        check_pieces(rng, tag, model, options, files, want, how)


def main():
    seed, cases = int(sys.argv[1]), int(sys.argv[2])
    for case in range(cases):
        one_case(random.Random(f"{seed}/{case}"), f"case {case}")
    print(f"# seed {seed}: {cases} cases, {bad} bad")
    return bad != 0


sys.exit(main())
