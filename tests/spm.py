"""spm.py - makes SentencePiece's tokenizer.model for tests: a protobuf message of its sentencepiece_model.proto.

    spm.model([("<unk>", 0, spm.UNKNOWN), ("a", -1), ("ab", -2)], prefix=0, byte_fallback=0)
"""
import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2
TRAINER = {"type": 3, "suffix": 24, "byte_fallback": 35, "eos": 47, "pad": 48}
NORMALIZER = {"name": 1, "charsmap": 2, "prefix": 3, "strip": 4, "escape": 5}
BYTES = [(f"<0x{b:02X}>", 0, BYTE) for b in range(256)]


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A protobuf field: an integer, a float, or the bytes of a string or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text, score=0, kind=NORMAL):
    return field(1, field(1, text) + field(2, float(score)) + (field(3, kind) if kind != NORMAL else b""))


def model(pieces, **settings):
    """Settings are named as in TRAINER and NORMALIZER. Those left out have SentencePiece's defaults, except that the type is BPE and
    that spaces are not stripped."""
    settings = {"type": BPE, "strip": 0, **settings}
    parts = [b"".join(field(number, settings[name]) for name, number in numbers.items() if name in settings) for numbers in (TRAINER, NORMALIZER)]
    return b"".join(piece(*p) for p in pieces) + field(2, parts[0]) + field(3, parts[1])
