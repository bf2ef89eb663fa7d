"""places.py - the positions of documents in a source, found slowly in the source itself, and from token records, which are put in order
as bpe-records(5) specifies. Also makes random sources."""
import json
import os
import re
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import EOT, must  # noqa: E402

WORDS = ["the", "a", " cat", "sat ", "don't", "12345", "ж", "中文", "é", "🙂", " ", "  ", "\t", ".", "<|", "|>", "\n", "\n\n", "\nA"]
WRONG = [b"\xff", b"\xc3", b"\xe8\xaa", b"\xf0\x9f", b"\xa9", b"\xff\xff\xff"]
SPECIAL = {"one": [EOT], "two": [EOT, "<s>"], "overlapping": [EOT, "ab", "ba"], "longer": [EOT, "<s>", "<s>\n"]}


# ---- Documents of a source ----

def documents_of(text, begin, end, how, separate):
    """(begin, end) of the documents in a text. separate: the text has at least one document, and the last ends at `end`."""
    found, inside, at, start = [], False, 0, begin
    names = sorted((s.encode() for s in SPECIAL[how["model"]]), key=len, reverse=True) if how["special"] == "token" else []
    stop = [(m.start(), m.end(), m[0]) for m in re.finditer(b"|".join(map(re.escape, names)), text)] if names else []
    for a, b, name in stop + [(len(text), len(text), None)]:
        stretch = text[at:a]
        if how["invalid"] == "skip":
            stretch = stretch.decode("utf-8", "ignore")
        inside = inside or len(stretch) > 0
        at = b
        if name is None:
            break
        if name.decode() != EOT:
            inside = True
            continue
        if inside or how["eot"] == "none":
            found.append((start, begin + b))
        start, inside = begin + b, False
    if inside or (separate and not found):
        found.append((start, end))
    elif separate:
        found[-1] = found[-1][0], end
    return found


def in_text(data, how):
    return [(*d, i + 1) for i, d in enumerate(documents_of(data, 0, len(data), how, False))]


def in_nul(data, how):
    found, at = [], 0
    while at < len(data):
        nul = data.find(b"\0", at)
        stop, end = (len(data), len(data)) if nul < 0 else (nul, nul + 1)
        found += documents_of(data[at:stop], at, end, how, True)
        at = end
    return [(*d, i + 1) for i, d in enumerate(found)]


def in_wet(data, how):
    found, at = [], 0
    while at < len(data):
        block = data.index(b"\r\n\r\n", at) + 4
        n = int(re.search(rb"Content-Length: (\d+)", data[at:block])[1])
        if b"WARC-Type: conversion" in data[at:block]:
            found += documents_of(data[block:block + n], block, block + n, how, True)
        at = block + n + 4
    return [(*d, i + 1) for i, d in enumerate(found)]


def in_jsonl(data, how):
    found, at = [], 0
    for number, line in enumerate(re.findall(b"[^\n]*\n|[^\n]+$", data)):
        try:
            value = json.loads(line, parse_int=str, parse_float=str)
        except ValueError:
            value = None
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            text = value["text"].encode()
            n = len(documents_of(text, 0, len(text), how, True))
            begins = [at + i for i in range(n)] + [at + len(line)]
            name = value["meta"].get("id") if "meta" in how["id"] else value.get("id") if how["id"] else None
            found += [(a, b, number + 1, name or "") for a, b in zip(begins, begins[1:])]
        at += len(line)
    return found


IN = {"text": in_text, "jsonl": in_jsonl, "null": in_nul, "wet": in_wet}


# ---- Documents from records ----

def check(good, what):
    if not good:
        raise ValueError(what)


def put_together(stream):
    """{source: [(begin, end, line, id)]}, as a reader that follows bpe-records(5) finds them; {source: bytes of text}."""
    pieces = {}
    for record in R.split(stream):
        if R.kind(record) == "T":
            t = R.tokens(record)
            pieces.setdefault((t.source, t.begin, t.end), []).append(t)
    found, text, lines, begun = {}, {}, {}, {}
    for (source, begin, end), parts in sorted(pieces.items()):
        parts.sort(key=lambda t: (t.first, t.number))
        where = f"source {source}, bytes {begin}-{end}"
        check(all((t.tail is not None) == (t is parts[-1]) for t in parts), f"only the last record of a piece has a tail: {where}")
        out = found.setdefault(source, [])
        base = at = text.setdefault(source, 0)
        line = lines.setdefault(source, 0)
        opened = begun.get(source)  # the begin of the document that continues here
        ids = after = 0
        for t in parts:
            check(t.first == ids, "ids are contiguous")
            for m in t.marks:
                check(opened is None or m.gap == 0, f"a document that continues has no gap: {where}")
                line += m.lines
                out.append((at + m.gap if opened is None else opened, at + m.gap + m.len, line + 1, m.id.decode()))
                at += m.gap + m.len
                opened = None
                after = ids + m.ids
            ids += len(t.ids)
        tail = parts[-1].tail
        check(at + tail.gap + tail.open == base + tail.text, f"all bytes are accounted for: {where}")
        check(ids == after or tail.open, f"ids after the last mark belong to a document that continues: {where}")
        check(opened is None or tail.gap == 0, f"a document that continues has no gap: {where}")
        check(opened is None or tail.open or tail.text == 0, f"a document that continues has text: {where}")
        if tail.open and opened is None:
            opened = at + tail.gap
        begun[source], text[source], lines[source] = opened, base + tail.text, lines[source] + tail.lines
    check(not any(x is not None for x in begun.values()), f"all documents end: {begun}")
    return found, text


def from_records(stream, form):
    found, text = put_together(stream)
    if form != "jsonl":
        found = {s: [(a, b, i + 1) for i, (a, b, *_) in enumerate(d)] for s, d in found.items()}
    return found, text


# ---- Random sources ----

def made_up(rng, how, size, clean=False):
    """Random text."""
    wrong = 0 if clean or how["invalid"] == "error" else rng.choice([0, 0.1, 0.5])
    rare = rng.choice([0.02, 0.3, 0.6])
    out, n = [], 0
    while n < size:
        x = rng.random()
        word = rng.choice(WRONG) if rng.random() < wrong else rng.choice(SPECIAL[how["model"]] if x < rare else WORDS).encode()
        out.append(word)
        n += len(word)
    return b"".join(out)


def made_up_source(rng, how):
    size, form, out = rng.choice([0, 1, 20, 300, 300, 3000]), how["form"], []
    if form == "text":
        return made_up(rng, how, size)
    while sum(map(len, out)) < size:
        text = made_up(rng, how, rng.choice([0, 3, 30, 100]), form == "jsonl")
        if form == "null":
            out.append(text.replace(b"\0", b"") + b"\0")
        elif form == "wet":
            kind = rng.choice(["warcinfo", "conversion", "conversion"])
            out.append(f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text + b"\r\n\r\n")
        else:
            name = rng.choice(["a", "é\n\"", None, 7, 1.5e300, "", "x" * rng.choice([1, 900]), -0.0])
            item = {"text": text.decode(), "id": name, "meta": {"id": name}}
            if rng.random() < 0.2:
                del item["id"], item["meta"]["id"]
            line = json.dumps(item, ensure_ascii=rng.random() < 0.5).encode()
            out.append(rng.choice([line, line, line, b"", b"  ", b'{"text": []}', b"{"]) + rng.choice([b"\n", b"\r\n"]))
    data = b"".join(out)
    if form == "null":
        return data.rstrip(b"\0") if rng.random() < 0.5 else data
    return data.rstrip(b"\n") if form == "jsonl" and rng.random() < 0.3 else data


def packed(rng, data):
    """The data compressed in frames, which may be very small."""
    most, parts, at = rng.choice([3, 30, 1000]), [], 0
    while at < len(data):
        n = rng.randrange(1, most + 1)
        parts.append(data[at:at + n])
        at += n
    kind = rng.choice([("gz", lib.bgzf), ("zst", lib.zstd_seekable), ("pz.zst", lib.pzstd)])
    return kind[0], kind[1](parts)


def encode(rng, chunks, how):
    """Token records from several processes, which share the chunks."""
    parts = R.split(chunks)
    rng.shuffle(parts)
    n, out = rng.choice([1, 2, 5]), []
    for worker in range(n):
        out.append(must("bpe-encode", "-m", how["model"] + ".json", "--eot=" + how["eot"], "--special=" + how["special"],
                        data=b"".join(parts[worker::n])))
    rng.shuffle(out)
    return b"".join(out)


def models():
    """A model for each set of special tokens."""
    for name, special in SPECIAL.items():
        tokens = [x for s in special for x in ("-s", s)]
        chunks = must("bpe-chunk", "--inline", *tokens, data=lib.text(1, 20000))
        lib.write(name + ".json", must("bpe-merge", "-v", "300", data=must("bpe-sum", data=must("bpe-count", data=chunks))))
