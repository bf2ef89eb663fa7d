#!/usr/bin/env python3
"""forms.py FORM DIR N TEXT - the documents of TEXT, which end with <|endoftext|>, as a corpus has them: N files in DIR,
about equally large, in the order of the text.

FORM    txt      plain text, as it is
        jsonl    a JSON object a line: {"id", "text", "url"}
        ascii    the same, each character that is not ASCII as \\uXXXX (json.dumps's default)
        nul      each document ends with a NUL byte
        parquet  columns id, text, url; groups of 1000 rows, zstd (takes pyarrow)
        short.jsonl, short.txt   300 characters a document, of the first 60 MB; in JSON with 800 bytes of other fields

Documents without text are left out. DIR appears when all its files are complete; the same text gives the same files."""
import json
import os
import random
import shutil
import sys

EOT = "<|endoftext|>"
SHORT, SHORT_OF = 300, 60_000_000


def documents(path):
    """Those with text; read a bit at a time."""
    rest = ""
    with open(path, encoding="utf-8", newline="") as f:
        while block := f.read(1 << 24):
            *whole, rest = (rest + block).split(EOT)
            yield from filter(None, whole)
    if rest:
        yield rest


def pieces(path):
    """Texts of SHORT characters: what there is in corpora of titles, comments and questions."""
    left = SHORT_OF
    for document in documents(path):
        for i in range(0, len(document), SHORT):
            yield document[i:i + SHORT]
        left -= len(document)
        if left <= 0:
            return


def fields(i):
    """What stands beside the text in web corpora."""
    return {"id": f"doc-{i:08d}", "url": f"https://example.org/{i}.html"}


def other_fields(i, rng):
    """About 800 bytes: objects, lists, numbers, null; before the text and after it."""
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


# How the texts are found, how they are written, and how the files' names end.
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
    """The texts in n lists of about the same size."""
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
