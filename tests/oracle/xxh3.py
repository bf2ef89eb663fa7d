"""xxh3.py - the hash function XXH3 (Yann Collet, 2019), 64 and 128 bits, slow and obvious, written from its specification: the oracle of
the checksums in records and manifests.

    hash64(data, seed=0), hash128(data, seed=0)   return integers; as text, checksums are big-endian hexadecimal
"""
import struct

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MIX1, MIX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def r32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def r64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def rotate(x, n, bits):
    return (x << n | x >> (bits - n)) & ((1 << bits) - 1)


def fold(a, b):
    """The two halves of the 128-bit product, XORed."""
    return (a * b & M64) ^ (a * b >> 64)


def avalanche64(h):
    """The avalanche function of XXH64."""
    h = (h ^ h >> 33) * P64[1] & M64
    h = (h ^ h >> 29) * P64[2] & M64
    return h ^ h >> 32


def avalanche(h):
    h = (h ^ h >> 37) * MIX1 & M64
    return h ^ h >> 32


def mix16(data, at, key, seed):
    return fold(r64(data, at) ^ (r64(SECRET, key) + seed & M64), r64(data, at + 8) ^ (r64(SECRET, key + 8) - seed & M64))


def few(data):
    """The integer made of an input of 1 to 3 bytes."""
    n = len(data)
    return data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8


def spread(seed):
    return seed ^ swap32(seed & M32) << 32


def short64(data, seed):
    n = len(data)
    if n == 0:
        return avalanche64(seed ^ r64(SECRET, 56) ^ r64(SECRET, 64))
    if n <= 3:
        return avalanche64(few(data) ^ (r32(SECRET, 0) ^ r32(SECRET, 4)) + seed & M64)
    if n <= 8:
        h = r32(data, n - 4) + (r32(data, 0) << 32) ^ (r64(SECRET, 8) ^ r64(SECRET, 16)) - spread(seed) & M64
        h = (h ^ rotate(h, 49, 64) ^ rotate(h, 24, 64)) * MIX2 & M64
        h = (h ^ (h >> 35) + n) * MIX2 & M64
        return h ^ h >> 28
    if n <= 16:
        low = r64(data, 0) ^ (r64(SECRET, 24) ^ r64(SECRET, 32)) + seed & M64
        high = r64(data, n - 8) ^ (r64(SECRET, 40) ^ r64(SECRET, 48)) - seed & M64
        return avalanche(n + swap64(low) + high + fold(low, high) & M64)
    acc = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            acc += mix16(data, 16 * i, 32 * i, seed) + mix16(data, n - 16 * (i + 1), 32 * i + 16, seed)
        return avalanche(acc & M64)
    acc = avalanche(acc + sum(mix16(data, 16 * i, 16 * i, seed) for i in range(8)) & M64)
    acc += sum(mix16(data, 16 * i, 16 * (i - 8) + 3, seed) for i in range(8, n // 16))
    return avalanche(acc + mix16(data, n - 16, 136 - 17, seed) & M64)


def accumulate(data, secret):
    """The eight accumulators of an input of more than 240 bytes."""
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(17)]  # the last: for scrambling

    def stripe(at, key):
        for i, (v, k) in enumerate(zip(struct.unpack_from("<8Q", data, at), key)):
            k ^= v
            acc[i ^ 1] = acc[i ^ 1] + v & M64
            acc[i] = acc[i] + (k & M32) * (k >> 32) & M64
    n = len(data)
    for number in range((n - 1) // 64):
        stripe(64 * number, keys[number % 16])
        if number % 16 == 15:
            acc[:] = [(a ^ a >> 47 ^ k) * P32[0] & M64 for a, k in zip(acc, keys[16])]
    stripe(n - 64, struct.unpack_from("<8Q", secret, 192 - 64 - 7))
    return acc


def merge(acc, secret, at, first):
    return avalanche(first + sum(fold(acc[2 * i] ^ r64(secret, at + 16 * i), acc[2 * i + 1] ^ r64(secret, at + 16 * i + 8))
                                 for i in range(4)) & M64)


def seeded(seed):
    """The secret for long inputs with a seed."""
    return b"".join(struct.pack("<QQ", r64(SECRET, i) + seed & M64, r64(SECRET, i + 8) - seed & M64) for i in range(0, 192, 16))


def hash64(data, seed=0):
    if len(data) <= 240:
        return short64(data, seed)
    secret = seeded(seed)
    return merge(accumulate(data, secret), secret, 11, len(data) * P64[0] & M64)


def short128(data, seed):
    """(low, high)"""
    n = len(data)
    if n == 0:
        return [avalanche64(seed ^ r64(SECRET, at) ^ r64(SECRET, at + 8)) for at in (64, 80)]
    if n <= 3:
        low = few(data)
        high = rotate(swap32(low), 13, 32)
        return (avalanche64(low ^ (r32(SECRET, 0) ^ r32(SECRET, 4)) + seed & M64),
                avalanche64(high ^ (r32(SECRET, 8) ^ r32(SECRET, 12)) - seed & M64))
    if n <= 8:
        keyed = r32(data, 0) + (r32(data, n - 4) << 32) ^ (r64(SECRET, 16) ^ r64(SECRET, 24)) + spread(seed) & M64
        product = keyed * (P64[0] + (n << 2))
        low, high = product & M64, product >> 64 & M64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low = (low ^ low >> 35) * MIX2 & M64
        return low ^ low >> 28, avalanche(high)
    first, last = r64(data, 0), r64(data, n - 8)
    product = (first ^ last ^ (r64(SECRET, 32) ^ r64(SECRET, 40)) - seed & M64) * P64[0]
    low, high = (product & M64) + (n - 1 << 54) & M64, product >> 64
    last ^= (r64(SECRET, 48) ^ r64(SECRET, 56)) + seed & M64
    high = high + last + (last & M32) * (P32[1] - 1) & M64
    product = (low ^ swap64(high)) * P64[1]
    return avalanche(product & M64), avalanche((product >> 64) + high * P64[1] & M64)


def middle128(data, seed):
    """(low, high) of 17 to 240 bytes."""
    n = len(data)
    low, high = n * P64[0] & M64, 0

    def mix32(one, two, key, seed):
        nonlocal low, high
        low = (low + mix16(data, one, key, seed) & M64) ^ (r64(data, two) + r64(data, two + 8) & M64)
        high = (high + mix16(data, two, key + 16, seed) & M64) ^ (r64(data, one) + r64(data, one + 8) & M64)
    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            mix32(16 * i, n - 16 * (i + 1), 32 * i, seed)
    else:
        for at in range(0, 128, 32):
            mix32(at, at + 16, at, seed)
        low, high = avalanche(low), avalanche(high)
        for at in range(128, n - 31, 32):
            mix32(at, at + 16, at - 128 + 3, seed)
        mix32(n - 16, n - 32, 136 - 17 - 16, -seed & M64)
    return avalanche(low + high & M64), -avalanche(low * P64[0] + high * P64[3] + (n - seed) * P64[1] & M64) & M64


def hash128(data, seed=0):
    n = len(data)
    if n <= 240:
        low, high = (short128 if n <= 16 else middle128)(data, seed)
    else:
        secret = seeded(seed)
        acc = accumulate(data, secret)
        low = merge(acc, secret, 11, n * P64[0] & M64)
        high = merge(acc, secret, 192 - 64 - 11, ~(n * P64[1]) & M64)
    return high << 64 | low
