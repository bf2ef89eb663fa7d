#!/usr/bin/env python3
"""forms.py FORM DIR N TEXT - the documents of TEXT, which end with <|endoftext|>, in a corpus format: N files in DIR,
of about equal size, in the order of the text.

FORM    txt      plain text, unchanged
        jsonl    a JSON object per line: {"id", "text", "url"}
        ascii    the same, with each non-ASCII character as \\uXXXX (json.dumps's default)
        nul      each document ends with a NUL byte
        parquet  columns id, text, url; groups of 1000 rows, zstd (needs pyarrow)
        short.jsonl, short.txt   documents of 300 characters, from the first 60 MB; in JSON, with 800 bytes of other fields

Documents without text are left out. DIR appears when all its files are complete; the same text gives the same files."""
import json
import os
import random
import shutil
import sys

EOT = "<|endoftext|>"
SHORT, SHORT_OF = 300, 60_000_000


def documents(path):
    """The documents with text, reading a block at a time."""
    rest = ""
    with open(path, encoding="utf-8", newline="") as f:
        while block := f.read(1 << 24):
            *whole, rest = (rest + block).split(EOT)
            yield from filter(None, whole)
    if rest:
        yield rest


def pieces(path):
    """Texts of SHORT characters, as in corpora of titles, comments and questions."""
    left = SHORT_OF
    for document in documents(path):
        for i in range(0, len(document), SHORT):
            yield document[i:i + SHORT]
        left -= len(document)
        if left <= 0:
            return


def fields(i):
    """The other fields of web corpora."""
    return {"id": f"doc-{i:08d}", "url": f"https://example.org/{i}.html"}


def other_fields(i, rng):
    """About 800 bytes of objects, lists, numbers and null."""
    meta = {"language": "en", "score": rng.random(), "tags": ["a", "b", {"c": None}], "dump": "2024-10", "size": [1, 2.5e3]}
    notes = {f"field_{k}": rng.choice("abcdef") * rng.randint(20, 52) for k in range(12)}
    return {"id": i, "meta": meta, **notes}


def json_lines(texts, short=False, ascii_only=False):
    rng = random.Random(1)
    for i, text in enumerate(texts):
        if short:
            row = {**other_fields(i, rng), "text": text, "kept": True}
        else:
            row = {"id": fields(i)["id"], "text": text, "url": fields(i)["url"]}
        yield json.dumps(row, ensure_ascii=ascii_only) + "\n"


def write_parquet(path, texts):
    import pyarrow
    import pyarrow.parquet
    rows = [dict(fields(i), text=text) for i, text in enumerate(texts)]
    table = pyarrow.table({name: [row[name] for row in rows] for name in ("id", "text", "url")})
    pyarrow.parquet.write_table(table, path, compression="zstd", row_group_size=1000)


def writer(lines):
    def write(path, texts):
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.writelines(lines(texts))
    return write


# How texts are extracted, how they are written, and the suffix of file names.
FORMS = {
    "txt": (documents, writer(lambda texts: (t + EOT for t in texts)), "txt"),
    "jsonl": (documents, writer(json_lines), "jsonl"),
    "ascii": (documents, writer(lambda texts: json_lines(texts, ascii_only=True)), "jsonl"),
    "nul": (documents, writer(lambda texts: (t + "\0" for t in texts)), "nul"),
    "parquet": (documents, write_parquet, "parquet"),
    "short.jsonl": (pieces, writer(lambda texts: json_lines(texts, short=True)), "jsonl"),
    "short.txt": (pieces, writer(lambda texts: (t + EOT for t in texts)), "txt"),
}


def parts(texts, n):
    """Divides the texts into n lists of about equal size."""
    texts = list(texts)
    left, total = sum(map(len, texts)), 0
    for k in range(n, 0, -1):
        part, size = [], 0
        while total < len(texts) and (k == 1 or size < left / k):
            part.append(texts[total])
            size += len(texts[total])
            total += 1
        left -= size
        yield part


def main():
    form, out, n, text = sys.argv[1:]
    find, write, ending = FORMS[form]
    shutil.rmtree(out + ".tmp", ignore_errors=True)
    os.mkdir(out + ".tmp")
    for i, part in enumerate(parts(find(text), int(n))):
        write(os.path.join(out + ".tmp", f"{i:02d}.{ending}"), part)
    os.rename(out + ".tmp", out)


main()
