#!/usr/bin/env python3
"""parquet.py make - Parquet files in all ways in which text is stored. parquet.py documents FILE COLUMN [NULS [NULLS]]: what
bpe parquet should write, by to_pylist: slow and obvious. pyarrow is from PyPI."""
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

SOME = ["abc", None, "", "é\n", "a 漢字 text", "last", None, "x" * 70000, "\n"]


def table(texts):
    as_bytes = [None if text is None else text.encode() for text in texts]
    inner = pa.struct([("b", pa.string()), ("c", pa.struct([("d", pa.string())]))])
    return pa.table(
        {
            "text": texts,
            "large": pa.array(texts, pa.large_string()),
            "bytes": pa.array(as_bytes, pa.binary()),
            "view": pa.array(texts, pa.string_view()),
            "dictionary": pa.array(texts).dictionary_encode(),
            "nothing": pa.nulls(len(texts)),
            "a": pa.array([None if i % 5 == 3 else {"b": t, "c": {"d": t}} for i, t in enumerate(texts)], inner),
            "odd.name": texts,
            "number": range(len(texts)),
            "list": [[text] for text in texts],
        }
    )


def make(seed):
    rng = random.Random(seed)
    many = [rng.choice([None, "", "word " * rng.randint(1, 2000), "é" * rng.randint(1, 30)]) for _ in range(3000)]
    for compression in ("none", "snappy", "zstd", "gzip"):
        pq.write_table(table(many), f"{compression}.parquet", compression=compression, row_group_size=rng.randint(1, 700))
    pq.write_table(table(SOME), "some.parquet", row_group_size=4)
    pq.write_table(table(SOME[:0]), "none-at-all.parquet")
    pq.write_table(pa.table({"text": ["fine", "no\0t", "\0", None]}), "nul.parquet", row_group_size=1)
    pq.write_table(pa.table({"text": [f"{i} " * 400 for i in range(20000)]}), "one-group.parquet")


def documents(path, column, nuls="replace", nulls="empty"):
    table = pq.read_table(path)
    names = [column] if column in table.column_names else column.split(".")
    for row in table.select(names[:1]).to_pylist():
        for name in names:
            row = None if row is None else row[name]
        if row is None and nulls == "skip":
            continue
        text = (row or b"") if isinstance(row, bytes) else (row or "").encode()
        sys.stdout.buffer.write(text.replace(b"\0", {"replace": "\ufffd".encode(), "skip": b""}[nuls]) + b"\0")


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    documents(*sys.argv[2:])
