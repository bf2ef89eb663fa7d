#!/usr/bin/env python3
"""frames.t - compressed files that are cut at their frames: the counts and ids are those of the text, whatever the text, its frames and
pieces, and whichever processes die.

Frames of a few bytes are the hard case: they end inside lines, special tokens and characters, and most pieces contain no text.
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import must, ok, run  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 100)
FORMATS = {"gz": lib.bgzf, "zst": lib.zstd_seekable, "pz": lib.pzstd}
HELP = run(["bpe-chunk", "-h"])[1].decode()
WORDS = ["the", "a", " cat", "sat ", "don't", "12345", "ж", "中文", "é", "🙂", " ", "  ", "\t", ".", "<|", "|>", "<", "end", "}\n"]


def made_up(rng, size, specials, rare=None):
    """Random text, with or without split points."""
    newline = rng.choice(["\n", "\n\n", "\n ", "", "\r\n"])
    rare = rng.choice([0.02, 0.2, 0.0005, 0]) if rare is None else rare
    out = []
    n = 0
    while n < size:
        x = rng.random()
        word = newline if x < rare else rng.choice(specials) if specials and x < 2 * rare else rng.choice(WORDS)
        out.append(word)
        n += len(word.encode())
    return "".join(out)


def made_up_lines(rng, size):
    """Random JSON Lines."""
    out = []
    n = 0
    while n < size:
        text = made_up(rng, rng.randrange(80), ["<|endoftext|>"]).replace("\t", " ").replace('"', "'")
        text = text.replace("\r", "").replace("\n", "\\n")
        line = rng.choice(['{"text": "%s"}\n', '{"id": 1, "text":"%s", "x": [{}]}\r\n']) % text
        out.append(line)
        n += len(line.encode())
    whole = "".join(out)
    return whole if rng.random() < 0.5 else whole.rstrip("\n")


def choose(rng):
    """(options, text) of one round."""
    size = rng.choice([0, 20, 300, 300, 3000])
    kinds = [([], ["<|endoftext|>"]), (["--no-special"], []), (["-s", "<s>", "-s", "</s>\n"], ["<s>", "</s>\n"]),
             (["-s", "<|end|>", "-s", "<|end|>the"], ["<|end|>", "<|end|>the"]), (["-s", "aa"], ["aa", "aaa"]),
             (["-s", "ab", "-s", "ba"], ["ab", "ba", "aba"]), (["-p", "cl100k"], ["<|endoftext|>"]),
             (["-p", "bytes"], ["<|endoftext|>"]), (["-e", "[a-z]+"], ["<|endoftext|>"]),
             (["-s", "a\n", "-s", "\nthe"], ["a\n", "\nthe"])]
    if rng.random() < 0.2:
        return ["--jsonl"], made_up_lines(rng, size).encode()
    options, specials = rng.choice(kinds)
    text = made_up(rng, size, specials).encode()
    if "--null" in HELP and rng.random() < 0.2:
        return ["--null"], text.replace(b"\n", b"\0") + b"\0" * (size > 0)
    return options, text


def parts_of(rng, text):
    """The text in parts, some of them empty, one for each frame."""
    most = rng.choice([1, 3, 10, 30, 1000])
    parts = []
    at = 0
    while at < len(text):
        n = rng.randrange(most + 1)
        parts.append(text[at:at + n])
        at += n
    return parts


def one_piece_each(record):
    """Splits a range record into one for each piece."""
    c = R.Cursor(R.payload(record))
    head = c.id() + R.s(c.s()) + R.n(c.n())
    out = []
    for _ in range(c.n()):
        begin = c.at
        c.n(), c.s(), c.s()
        for _ in range(4):
            c.n()
        of_file = c.data[begin:c.at]
        for _ in range(c.n()):
            out.append(("R", head + R.n(1) + of_file + R.n(1) + R.n(c.n()) + R.n(c.n())))
    return R.split(R.make(*out)) if out else []


def chunked(*args):
    """bpe-chunk's (range records of one piece each, promise records); None if it sends the text by value."""
    records = R.split(must("bpe-chunk", *args))
    if not any(R.kind(r) == "R" for r in records):
        return None
    return ([p for r in records if R.kind(r) == "R" for p in one_piece_each(r)],
            [r for r in records if R.kind(r) == "P"])


def dealt(rng, records, work):
    """The output of 1 to 3 processes that share the records."""
    records = records[:]
    rng.shuffle(records)
    n = rng.randrange(1, 4)
    return b"".join(must(*work, data=b"".join(records[i::n])) for i in range(n) if records[i::n])


def counts_with_losses(rng, options, name):
    """The counts after some records were lost and made again, until nothing is missing. Returns a message on failure, None if by value."""
    got = chunked(*options, "-b", str(rng.choice([1, 40, 300, 3000])), name)
    if not got:
        return None
    records, promises = got
    tiles = sorted((p.begin, p.end) for r in records for p in R.pieces(r))
    for (_, end), (begin, _) in zip([(0, 0), *tiles], [*tiles, (os.path.getsize(name), 0)]):
        if begin != end:
            return f"pieces do not tile the file: {tiles}"
    counts = b""
    for turn in range(20):
        kept = [r for r in records if rng.random() < 0.6] if turn < 3 else records
        counts += dealt(rng, kept, ["bpe-count"]) + b"".join(promises)
        code, out, err = run(["bpe-sum", "--missing", name + ".missing"], counts)
        if code == 0:
            return R.words(out)
        if code != 75:
            return err
        args = ["--only", name + ".missing", "-b", str(rng.choice([1, 50, 5000])), name]
        records = chunked(*args)[0] if rng.random() < 0.7 else R.split(lib.read(name + ".missing"))
    return "never complete"


def round_of(rng, number):
    options, text = choose(rng)
    parts = parts_of(rng, text)
    kind = rng.choice(list(FORMATS))
    packed = FORMATS[kind](parts)
    name = f"{number}.{kind}"
    lib.write("plain", text)
    lib.write(name, packed)
    want = R.words(must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *options, "plain"))))
    got = counts_with_losses(rng, options, name)
    by_value = got is None
    if by_value:
        got = R.words(must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *options, name))))
    if got != want:
        return f"{options} {len(text)} bytes in {len(parts)} frames of {kind}: {got if isinstance(got, str) else (got - want, want - got)}", by_value
    return None, by_value


def ids_of(rng, number):
    """The ids of pieces in any order, with separators. Returns None if they are right, "" if by value, else the difference."""
    special = rng.choice([["<|endoftext|>"], ["<|endoftext|>"], ["<s>", "</s>\n"]])
    text = made_up(rng, rng.choice([100, 300, 3000]), special, 0.05).encode()
    model = f"{len(special)}.json"
    if not os.path.exists(model):
        learn = [x for s in special for x in ("-s", s)]
        learned = must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *learn, data=(made_up(rng, 20000, special)).encode())))
        lib.write(model, must("bpe-merge", "-v", "400", data=learned))
    kind = rng.choice(list(FORMATS))
    name = f"ids{number}.{kind}"
    lib.write("plain", text)
    lib.write(name, FORMATS[kind](parts_of(rng, text)))
    eot = ["--eot", rng.choice(["none", "before", "after"]), "--eot-token", special[0]]
    want = must("bpe-encode", "-m", model, "-d", "u32", *eot, "plain")
    got = chunked("-m", model, "-b", str(rng.choice([1, 40, 300])), name)
    if not got:
        return ""
    out = dealt(rng, got[0], ["bpe-encode", "-m", model, "-d", "u32", *eot])
    tokens = sorted((R.tokens(r) for r in R.split(out) if R.kind(r) == "T"), key=lambda t: (t.source, t.begin, t.first))
    ids = b"".join(i.to_bytes(4, "little") for t in tokens for i in t.ids)
    return None if ids == want else f"{eot} {len(text)} bytes of {kind}: ids differ at {lib.first_difference(ids, want) // 4} of {len(want) // 4}"


def refused():
    """A record that cannot be right: a piece of a file whose text has no safe split point."""
    lib.write("r.gz", lib.bgzf([b"the cat\n"] * 9))
    lib.write("s.gz", lib.bgzf([b"the cat\n"] * 9))
    whole = chunked("-s", "aa", "r.gz", "s.gz")[0][0]
    size = R.n(os.path.getsize("r.gz"))
    fields = R.payload(whole).rstrip(b"\0")
    first = chunked("-b", "60", "r.gz")[0][0]
    parts = [R.make(("R", fields[:fields.rindex(b"\0" + size)] + R.n(r.begin) + R.n(r.end - r.begin))) for r in R.pieces(first)]
    code, out, err = run(["bpe-count"], parts[0])
    ok(code == 65 and "r.gz: a piece of compressed text that cannot be cut" in err, "a piece of a file that cannot be cut is refused", (code, err))
    ok(R.words(out) == {}, "  and not counted")
    code, out, err = run(["bpe-count"], whole)
    ok(code == 0 and R.words(out)[b" cat"] == 9, "  the whole file is accepted", (code, err))


def other_fields():
    """The length in the header of a gzip member, among other fields."""
    parts, bad = [b"the cat %d\n" % i * 5 for i in range(9)], []
    lib.write("fields.gz", lib.bgzf(parts))
    n = len(chunked("-b", "60", "fields.gz")[0])
    for before, after in [(b"", b"XY\5\0hello"), (b"XY\5\0hello", b""), (b"\0\0\0\0XY\1\0x", b"\0\0\0\0"), (b"XY\xf0\xd0" + b"BC" * 26744, b"")]:
        lib.write("fields.gz", lib.bgzf(parts, before, after))
        got = chunked("-b", "60", "fields.gz")
        bad += [f"{before[:12]} {after}: {got and len(got[0])} pieces, not {n}"] if not got or len(got[0]) != n else []
    for wrong in [b"BC\2\0", b"B", b"", b"BC\3\0abc", b"XY\xff\xffhello"]:
        lib.write("fields.gz", b"".join(lib.gzip_member(part, wrong) for part in parts))
        bad += [f"{wrong}: by reference"] if chunked("-b", "60", "fields.gz") else []
    ok(n > 5 and not bad, "the length of a gzip member is found among other fields", "\n".join(bad))


def long_special():
    """A special token that is longer than one read, and than most frames."""
    text = "".join(f"the cat {i}\n" for i in range(20000)).encode()
    lib.write("plain", text)
    bad = []
    for n, frame in ((300, 100), (20000, 1000), (30000, 3000), (40000, 20000), (100000, 20000)):
        lib.write("long.gz", lib.bgzf([text[i:i + frame] for i in range(0, len(text), frame)]))
        options = ["-s", "<" + "x" * n + ">"]
        want = R.words(must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *options, "plain"))))
        got = counts_with_losses(random.Random(n), options, "long.gz")
        bad += [f"{n} bytes, frames of {frame}"] if got != want else []
    ok(not bad, "the same counts with long special tokens", "\n".join(bad))


def main():
    seed = lib.seed()
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        bad, values = [], 0
        for number in range(ROUNDS):
            why, by_value = round_of(random.Random(seed + number), number)
            values += by_value
            bad += [f"round {number}: {why}"] if why else []
        ok(not bad, f"the counts are those of the text, in {ROUNDS} rounds", "\n".join(bad))
        ok(values < 0.7 * ROUNDS, f"most of them by reference ({values} by value)")
        said = [ids_of(random.Random(seed + number), number) for number in range(ROUNDS // 3)]
        ok(not any(said), "the ids are those of the text", "\n".join(filter(None, said)))
        long_special()
        other_fields()
        refused()
        ok(said.count("") < len(said) / 2, f"most of them by reference ({said.count('')} by value)")
    return lib.done()


sys.exit(main())
