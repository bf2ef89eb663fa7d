#!/usr/bin/env python3
"""gunzip.t - intact and damaged gzip streams, read in steps of any length: each library accepts exactly the streams that Python's zlib
accepts, with the same text. TIMES=N: number of streams.
"""
import os
import random
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

TIMES = int(os.environ.get("TIMES") or 250)


# ISA-L does not check the codes of a Huffman table that no byte of the text uses. A stream damaged only there yields the same text, as
# confirmed by its checksum and length.
UNUSED_CODES = re.compile("invalid (distances|literal/lengths|code lengths) set")


def reference(data, unused_codes=False):
    """The text, or None if the stream is damaged. Zeros may follow the last member. unused_codes: whether only unused codes are damaged."""
    out = b""
    while True:
        one = zlib.decompressobj(31)
        try:
            out += one.decompress(data)
        except zlib.error as e:
            return bool(UNUSED_CODES.search(str(e))) if unused_codes else None
        if not one.eof:
            return None
        data = one.unused_data
        if not data.strip(b"\0"):
            return out
        if data[:1] != b"\x1f":
            return None


def member(rng):
    kind = rng.randrange(5)
    n = rng.choice([0, 1, 5, 300, 5000, 70000, 200000])
    if kind == 0:
        data = bytes(n)
    elif kind == 1:
        data = rng.randbytes(n)
    elif kind == 2:
        data = (rng.randbytes(rng.randrange(1, 40000)) * (n // 1000 + 1))[:n]
    else:
        data = b"".join(rng.choice([b"the ", b"cat ", b"sat\n", rng.randbytes(1)]) for _ in range(n // 4))
    whole = lib.gzip_member(data, extra=rng.choice([b"", b"", b"ab\1\0x"]), name=rng.choice([b"", b"a.txt"]),
                            comment=rng.choice([b"", b"", b"no"]), header_crc=rng.random() < 0.3)
    body = lib.gzip_member(data)
    bits = -rng.randrange(9, 16)
    deflate = zlib.compressobj(rng.randrange(10), zlib.DEFLATED, bits, rng.randrange(1, 10), rng.randrange(5))
    packed = b""
    for at in range(0, len(data), 50000):
        packed += deflate.compress(data[at:at + 50000])
        packed += deflate.flush(rng.choice([zlib.Z_NO_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH])) if rng.random() < 0.3 else b""
    head = whole[:len(whole) - (len(body) - 10)]
    return head + packed + deflate.flush() + body[-8:]


def damaged(rng, data):
    """The stream with up to two random changes."""
    data = bytearray(data)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        if not data:
            break
        at = rng.choice([rng.randrange(len(data)), rng.randrange(min(len(data), 40)), len(data) - 1 - rng.randrange(min(len(data), 12))])
        how = rng.randrange(7)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[at:]
        elif how == 2:
            data += rng.randbytes(rng.randrange(1, 12))
        elif how == 3:
            data += bytes(rng.randrange(1, 30))
        elif how == 4:
            del data[at]
        elif how == 5:
            data[at:at] = rng.randbytes(1)
        else:
            data[at] = rng.randrange(256)
    return bytes(data)


def streams(rng):
    for _ in range(TIMES):
        whole = b"".join(member(rng) for _ in range(rng.choice([1, 1, 1, 2, 5])))
        data = damaged(rng, whole) or whole  # input.c opens no decoder for an empty stream
        step = rng.choice([1, 2, 3, 7, 13, 100, 1000, 1 << 18]) if len(data) < 20000 else rng.choice([100, 4096, 1 << 18])
        yield data, step, rng.choice([1, 10, 500, 70000, 1 << 18]) if step < 1000 else rng.choice([500, 70000, 1 << 18])


def answers(library, asked):
    data = b"".join(struct.pack("<III", step, cap, len(d)) + d for d, step, cap in asked)
    code, out, err = lib.run([f"{lib.BUILD}/tests/oracle/gunzip", library], data)
    if code == 3:
        return None
    if code:
        return [f"exit {code} {err}"] * len(asked)
    texts, at = [], 0
    while at < len(out):
        good, n = out[at], struct.unpack("<I", out[at + 1:at + 5])[0]
        texts.append(out[at + 5:at + 5 + n] if good else None)
        at += 5 + n
    return texts


def main():
    rng = random.Random(lib.seed())
    asked, bad, none, accepted = [], {"zlib": [], "ISA-L": []}, set(), 0
    for one in [*streams(rng), None]:
        if one and len(asked) < 200:
            asked.append(one)
            continue
        want = [reference(data) for data, _, _ in asked]
        accepted += sum(text is not None for text in want)
        for library, wrong in bad.items():
            got = answers(library, asked)
            if got is None:
                none.add(library)
                continue
            for (data, step, cap), text, right in zip(asked, got, want):
                lax = library == "ISA-L" and text is not None and right is None and reference(data, True)
                if text != right and not lax:
                    wrong.append(f"step {step} room {cap}: {str(text)[:60]} wanted {str(right)[:60]}: {data[:400].hex()}")
            if len(got) != len(want):
                wrong.append("missing result of a stream")
        asked = [one] if one else []
    for library, wrong in bad.items():
        if library in none:
            lib.skip(library, "built without it")
        else:
            lib.ok(not wrong, f"{library}: {TIMES} streams: same results as Python's zlib", f"{len(wrong)}: " + "\n".join(wrong[:3]))
    lib.ok(TIMES / 5 < accepted < TIMES * 4 / 5, f"{accepted} streams are accepted, neither too few nor too many")
    # Many empty members must take linear time.
    empty = lib.gzip_member(b"") * 100000
    for library in bad:
        got = None if library in none else answers(library, [(empty, 1 << 18, 1 << 18)])
        lib.ok(library in none or got == [b""], f"{library}: 100,000 empty members")
    return lib.done()


sys.exit(main())
