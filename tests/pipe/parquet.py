#!/usr/bin/env python3
"""parquet.py make SEED - makes Parquet files with all the ways to store text. parquet.py documents FILE COLUMN [NULS [NULLS]]: prints what
bpe parquet should write, by to_pylist, which is slow and obvious. parquet.py damage SEED - makes damaged files. parquet.py spread FROM TO
ROWS - copies the texts of a file into row groups with holes between them. pyarrow is from PyPI."""
import inspect
import io
import os
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

try:
    import pyarrow.parquet.encryption as encryption
except ImportError:
    encryption = None

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


class Sparse(io.FileIO):
    """A file in which writes of zeros become holes."""

    def write(self, data):
        return self.seek(len(data), os.SEEK_CUR) if data == bytes(len(data)) else super().write(data)


def write_groups(name, texts, rows, hole):
    """Writes row groups, each after this many zeros."""
    data = pa.table({"text": texts})
    with pa.PythonFile(Sparse(name, "w"), "w") as sink, pq.ParquetWriter(sink, data.schema) as out:
        for begin in range(0, len(texts), rows):
            sink.write(bytes(hole))
            out.write_table(data.slice(begin, rows))


def make(seed):
    rng = random.Random(seed)
    many = [rng.choice([None, "", "word " * rng.randint(1, 2000), "é" * rng.randint(1, 30)]) for _ in range(3000)]
    for compression in ("none", "snappy", "zstd", "gzip"):
        pq.write_table(table(many), f"{compression}.parquet", compression=compression, row_group_size=rng.randint(1, 700))
    pq.write_table(table(SOME), "some.parquet", row_group_size=4)
    pq.write_table(table(SOME[:0]), "none-at-all.parquet")
    long = ["".join(rng.choices("aé漢 \n", k=rng.choice((0, 1, 3000)))) for _ in range(500)] + ["x" * 5000]
    pq.write_table(table(long), "long.parquet", row_group_size=100)
    long[250] = "\0" + "x" * 3000 + "\0"
    pq.write_table(table(long), "long-nul.parquet", row_group_size=100)
    pq.write_table(pa.table({"text": ["fine", "no\0t", "\0", None]}), "nul.parquet", row_group_size=1)
    write_groups("near.parquet", many, 150, 0)
    write_groups("far.parquet", many, 150, 20 << 20)
    holes = pa.table({"text": many[:1000]})
    with pq.ParquetWriter("holes.parquet", holes.schema) as out:  # row groups without rows
        for begin, end in (0, 0), (0, 500), (0, 0), (0, 0), (500, 1000), (0, 0):
            out.write_table(holes.slice(begin, end - begin))
    pq.write_table(pa.table({"text": [f"{i} " * 400 for i in range(20000)]}), "one-group.parquet")


def bad(far, near):
    """far-bad.parquet: far.parquet with invalid UTF-8 in a text of row group 16; near-before.parquet: the texts before it."""
    texts = [text and text.encode() for text in pq.read_table(near)["text"].to_pylist()]
    rows = pq.ParquetFile(far).metadata.row_group(0).num_rows
    texts = texts[: 16 * rows + 1] + [b"\xff"] + texts[16 * rows + 1 :]
    texts += texts[-(30 * rows - len(texts)) :]
    write_groups("far-bad.parquet", pa.array(texts, pa.binary()), rows, 20 << 20)
    write_groups("near-before.parquet", pa.array(texts[: 16 * rows + 1], pa.binary()), rows, 0)


def encrypt():
    """Encrypts the first of several columns."""

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, name):
            return key

    keys = encryption.KmsConnectionConfig()
    what = encryption.EncryptionConfiguration(footer_key="footer", column_keys={"column": ["secret"]}, plaintext_footer=True)
    properties = encryption.CryptoFactory(lambda _: Keys()).file_encryption_properties(keys, what)
    secret = pa.table({"secret": SOME, "text": SOME})
    with pq.ParquetWriter("encrypted.parquet", secret.schema, encryption_properties=properties) as out:
        out.write_table(secret)


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


# ---- Damage ----


def zigzag(n):
    """A number as Thrift writes it."""
    n, out = 2 * n, b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def replaced(data, begin, was, now, wanted=lambda metadata: True):
    """The bytes with another number in the header of the page at this offset, or in the footer, such that `wanted` is true."""
    was, now = zigzag(was), zigzag(now)
    at = begin - 1
    while True:
        at = data.index(was, at + 1)
        new = data[:at] + now + data[at + len(was) :]
        if wanted(pq.ParquetFile(pa.BufferReader(new)).metadata):
            return new


def damage(seed):
    rng = random.Random(seed)
    texts = [f"{i} " + "word " * rng.randint(0, 50) for i in range(3777)]
    options = {"compression": "none", "use_dictionary": False, "row_group_size": 1000, "write_statistics": False}
    pq.write_table(pa.table({"text": texts, "other": texts[::-1]}), "sound.parquet", **options)
    with open("sound.parquet", "rb") as file:
        data = file.read()
    metadata = pq.ParquetFile("sound.parquet").metadata
    footer = len(data) - 8 - metadata.serialized_size
    place = [metadata.row_group(g).column(0).data_page_offset for g in range(4)]
    damaged = {
        "page": replaced(data, place[3], 777, 776),
        "rows": replaced(data, footer, 3777, 3776, lambda m: m.num_rows == 3776),
        "group": replaced(data, footer, 777, 776, lambda m: m.row_group(3).num_rows == 776),
        "values": replaced(data, footer, 777, 776, lambda m: m.row_group(3).column(0).num_values == 776),
        "place": replaced(data, footer, place[1], place[2], lambda m: m.row_group(1).column(0).data_page_offset == place[2]),
    }
    if "write_page_checksum" in inspect.signature(pq.ParquetWriter.__init__).parameters:
        for compression in "none", "snappy", "zstd":
            name = f"checksum-{compression}"
            options.update(compression=compression, write_page_checksum=True)
            pq.write_table(pa.table({"text": texts}), "checksum.parquet", **options)
            with open("checksum.parquet", "rb") as file:
                bad = bytearray(file.read())
            chunk = pq.ParquetFile("checksum.parquet").metadata.row_group(rng.randrange(4)).column(0)
            bad[chunk.data_page_offset + rng.randrange(60, chunk.total_compressed_size)] ^= 1 << rng.randrange(8)
            damaged[name] = bytes(bad)
    for name, content in damaged.items():
        with open(f"damaged-{name}.parquet", "wb") as file:
            file.write(content)


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
    if encryption:
        encrypt()
elif sys.argv[1] == "spread":  # FROM TO ROWS
    write_groups(sys.argv[3], pq.read_table(sys.argv[2])["text"], int(sys.argv[4]), 20 << 20)
elif sys.argv[1] == "bad":
    bad(*sys.argv[2:])
elif sys.argv[1] == "damage":
    damage(int(sys.argv[2]))
else:
    documents(*sys.argv[2:])
