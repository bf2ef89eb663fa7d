"""lib.py - for tests in Python: runs the programs, prints the Test Anything Protocol, shows bytes as readable text.

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    import lib

    code, out, err = lib.run(["bpe-view"], records)
    lib.ok(code == 0, "bpe-view reads the records", err)
    sys.exit(lib.done())

BUILD is the directory of the programs (default: build); they and those of tests/oracle are put on PATH. Random tests must be
repeatable: seed() returns the random seed and prints it.
"""
import atexit
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(TESTS)
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(TOP, "build"))
os.environ["PATH"] = f"{BUILD}:{BUILD}/tests/oracle:{os.environ['PATH']}"
# Under ASan, malloc must return NULL when memory runs out, rather than end the program.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1:max_allocation_size_mb=4096"
ERRORS = {64, 65, 66, 70, 71, 73, 74, 75}  # the documented exit statuses of errors
EOT = "<|endoftext|>"


# ---- Running programs ----

def run(args, data=b"", timeout=None, **options):
    """Returns (exit status, standard output, standard error as text); the status of a signal is negative."""
    p = subprocess.run(args, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False, **options)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def must(*args, data=b""):
    """Returns a program's output. If the program fails, the test ends."""
    code, out, err = run(args, data)
    if code:
        raise SystemExit(f"not ok - {' '.join(args)}\n# exit {code}: {err}")
    return out


def text(seed, size, kind="mixed"):
    """Artificial text; see text.py."""
    return must(sys.executable, TESTS + "/text.py", str(seed), str(size), kind)


def write(path, data):
    """Writes bytes, or text as UTF-8."""
    with open(path, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


# ---- The Test Anything Protocol ----

count = failed = 0


def ok(good, name, note=""):
    """Reports one test; if it failed, also the note. Returns `good`."""
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {name}", flush=True)
    if not good and note:
        print("# " + str(note)[:1500].replace("\n", "\n# "), flush=True)
    return good


def skip(name, reason):
    """Reports one test that cannot run here."""
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {reason}")


def skip_all(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def done():
    """Prints the plan and returns the exit status. No test at all is a failure, too."""
    print(f"1..{count}")
    return 1 if failed or not count else 0


def rounds(n, one):
    """Calls one(0), one(1), ...: an exception in one of them is a failed test, and does not end the others."""
    for number in range(n):
        try:
            one(number)
        except Exception as why:  # pylint: disable=broad-except
            ok(False, f"round {number}: files are written and read", f"{type(why).__name__}: {why}")


def own_directory(in_memory=False):
    """Changes to an empty directory, which is removed when the test ends, and sets the environment as lib.sh does. in_memory: the
    directory is in memory, where a sync takes no time, if there is enough space."""
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)
    os.environ.update(LC_ALL="C.UTF-8", PARALLEL="-j2", PARALLEL_HOME=os.environ.get("TMPDIR") or "/tmp", BUILD=BUILD)
    shm = os.environ.get("TEST_SHM") or "/dev/shm"
    if in_memory and os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 500 << 20:
        os.environ["TMPDIR"] = shm
    place = tempfile.mkdtemp(prefix="bpe-test-", dir=os.environ.get("TMPDIR") or "/tmp")
    owner = os.getpid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    atexit.register(lambda: os.getpid() == owner and (os.chdir("/"), shutil.rmtree(place, ignore_errors=True)))
    os.chdir(place)


def sanitized():
    """Whether the programs are built with AddressSanitizer."""
    return b"__asan_init" in run(["nm", "-D", BUILD + "/bpe-chunk"])[1]


def seed(given=None):
    """Returns the random seed, and prints it: the one given, else SEED of the environment, else a random one."""
    value = int(given if given is not None else os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"# seed {value}", flush=True)
    return value


# ---- Bytes as readable text ----

def byte_to_unicode():
    """GPT-2's table: printable bytes stand for themselves; the others are mapped to the characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(0x100 + n) for n, b in enumerate(rest)}}


SPELLED = byte_to_unicode()
BYTE = {c: b for b, c in SPELLED.items()}
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}


def spell(token):
    return "".join(SPELLED[b] for b in token)


def unspell(spelled):
    return bytes(BYTE[c] for c in spelled)


def unescape(shown):
    """Replaces bpe-view's escapes by the bytes they stand for."""
    return re.sub(rb"\\(?:([nrt\\])|x([0-9A-F]{2}))", lambda m: ESCAPES[m[1]] if m[1] else bytes([int(m[2], 16)]), shown)


def first_difference(got, want):
    return next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))


# ---- Compressed files of independent frames ----

def gzip_member(data, extra=b"", name=b"", comment=b"", header_crc=False, level=6):
    """A gzip member (RFC 1952) with any optional header fields."""
    flags = 4 * bool(extra) + 8 * bool(name) + 16 * bool(comment) + 2 * header_crc
    head = struct.pack("<HBBIBB", 0x8B1F, 8, flags, 0, 0, 255)
    head += struct.pack("<H", len(extra)) + extra if extra else b""
    head += name + b"\0" if name else b""
    head += comment + b"\0" if comment else b""
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) if header_crc else b""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    return head + deflate.compress(data) + deflate.flush() + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def bgzf(parts, before=b"", after=b""):
    """A gzip member for each part, with its length in its header, and an empty one at the end, as bgzip writes them. `before` and `after`
    are other extra fields around the length."""
    out = []
    for part in [*parts, b""]:
        n = len(gzip_member(part, before + b"BC\2\0\0\0" + after))
        out.append(gzip_member(part, before + b"BC\2\0" + struct.pack("<H", n - 1) + after))
    return b"".join(out)


def zstd_frame(data):
    """A frame of uncompressed blocks, which needs no other program."""
    blocks = [data[i:i + 100000] for i in range(0, len(data), 100000)] or [b""]
    heads = [struct.pack("<I", (i == len(blocks) - 1) | len(b) << 3)[:3] for i, b in enumerate(blocks)]
    return struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)) + b"".join(h + b for h, b in zip(heads, blocks))


def zstd_seekable(parts, checksums=False):
    """zstd's seekable format: a frame for each part, then a table of their lengths."""
    frames = [zstd_frame(part) for part in parts]
    table = b"".join(struct.pack("<II", len(f), len(p)) + b"sum." * checksums for f, p in zip(frames, parts))
    table += struct.pack("<IBI", len(parts), 0x80 * checksums, 0x8F92EAB1)
    return b"".join(frames) + struct.pack("<II", 0x184D2A5E, len(table)) + table


def pzstd(parts):
    """Before each frame, a skippable frame with its length, as pzstd writes them."""
    return b"".join(struct.pack("<III", 0x184D2A50, 4, len(f)) + f for f in map(zstd_frame, parts))
