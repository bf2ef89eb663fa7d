"""fuzz.py SECONDS SEED - see fuzz.sh."""
import gzip
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, TESTS + "/pipe"]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import must, text  # noqa: E402

SECONDS, SEED = float(sys.argv[1]), int(sys.argv[2])
CODES = {0} | lib.ERRORS
rng = random.Random(SEED)
MEMORY = 4 << 30
SANITIZED = b"__asan_init" in lib.read(lib.BUILD + "/bpe-chunk")


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:  # a damaged length must not use all memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(args, data=b"", timeout=10):
    return lib.run(args, data, timeout, preexec_fn=limit)


# ---- Damage ----

INTERESTING = [0, 1, 9, 10, 11, 13, 32, 0x30, 0x31, 0x7F, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xED, 0xF4, 0xF5, 0xFE, 0xFF]
TOKENS = [b"<|endoftext|>", b"<|endof", b"\n", b"\r\n", b" \n ", b"\n\n", b"'ll", b"\xff1", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x99\x82",
          b"\\ud800", b"\\u0000", b"\\u00e9", b'"', b"{", b"}", b'"text":', b"1e999", b"NaN", b"\\", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
          b"\xef\xbb\xbf", b"\x00", "\u4e2d\n\u4e2d".encode(), "\u017f".encode()]


def damage(data):
    """Makes some random changes to bytes."""
    b = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8, 30))):
        at = rng.randrange(len(b) + 1)
        how = rng.randrange(8)
        if how == 0 and at < len(b):
            b[at] ^= 1 << rng.randrange(8)
        elif how == 1 and at < len(b):
            b[at] = rng.choice(INTERESTING)
        elif how == 2:
            b[at:at] = rng.choice(TOKENS)
        elif how == 3:
            del b[at:at + rng.choice((1, 2, 5, 50, 1000))]
        elif how == 4:
            n = rng.choice((1, 3, 30, 1000))
            b[at:at] = b[at:at + n]
        elif how == 5:
            other = rng.randrange(len(b) + 1)
            b[at:at] = b[other:other + rng.choice((4, 100, 3000))]
        elif how == 6:
            del b[at:]
        else:
            b[at:at] = bytes(rng.choice(INTERESTING) for _ in range(rng.randint(1, 6)))
    return bytes(b)


def damage_number(p):
    """Changes one LEB128 integer, or bytes that look like one."""
    at = rng.randrange(len(p) + 1)
    end = at
    while end < len(p) and p[end] >= 0x80:
        end += 1
    v = rng.choice((0, 1, 2, 3, 127, 128, 255, 2 ** 16, 2 ** 28 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 63, 2 ** 64 - 1, rng.getrandbits(20)))
    return p[:at] + R.n(v) + p[end + 1:]


def damage_records(stream):
    """Drops, repeats or moves records, or changes their contents and corrects the checksum."""
    r = R.split(stream)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not r:
            break
        i, how = rng.randrange(len(r)), rng.randrange(8)
        if how == 0:
            r.pop(i)
        elif how == 1:
            r.insert(rng.randrange(len(r)), r[i])
        elif how == 2:
            rng.shuffle(r)
        else:
            try:
                t, p = R.kind(r[i]), R.payload(r[i])
            except R.Bad:
                continue
            head = p[:400]  # the fields are here
            head = damage_number(head) if rng.random() < 0.6 else damage(head)
            if rng.random() < 0.05:
                t = rng.choice("CRPWKSFZ")
            r[i] = R.make((t, head + p[400:]))
    return b"".join(r)


# ---- Trials ----

class Fuzz:
    def __init__(self):
        self.passed = self.failed = 0
        self.keep = None

    def problem(self, what, data):
        self.failed += 1
        if not self.keep:
            self.keep = tempfile.mkdtemp(prefix="bpe-fuzz-")
        name = "%s/%04d" % (self.keep, self.failed)
        with open(name, "wb") as f:
            f.write(data)
        print("%s: %s" % (name, what.replace("\n", " | ")[:600]), flush=True)

    def try_one(self, args, data, expect=None):
        """Runs a program; expect(status, output) returns what is wrong with them, or None."""
        try:
            code, out, err = run(args, data)
        except subprocess.TimeoutExpired:
            self.problem("%s: hangs" % " ".join(args), data)
            return None
        wrong = None  # (bpe-count passes on a failure of bpe-chunk without its own message)
        if code not in CODES:
            wrong = "exit %d" % code
        elif code and not err and not (args[0] in ("bpe-count", "bpe-encode") and out.startswith(b"\xff1F") or b"\n\xff1F" in out):
            wrong = "exit %d without a message" % code
        elif code and args[0] == "bpe-merge" and out:
            wrong = "exit %d, but it wrote a model" % code
        elif expect:
            wrong = expect(code, out)
        if wrong:
            self.problem("%s: %s: %s" % (" ".join(args), wrong, err), data)
            return None
        self.passed += 1
        return code, out


# ---- Models ----

MODEL_FILES = {"json": ["m.json"], "gpt2": ["m.gpt2/vocab.json", "m.gpt2/merges.txt"], "tiktoken": ["m.tiktoken", "m.tiktoken.json"]}
MODEL_TOKENS = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"0", b"-1", b"4294967296", b"1e9", b"\\u0120", b"\\ud800", b'"vocab"',
                b'"ignore_merges": true', b'"type": "Split"', "\u0120".encode(), b"\n", b" ", b"AAAA 9\n", b"#version", b"\r\n"]

VETOES = b'a\nab\r\n\n"b\\u0063\\n"\n "\n"\\ud83d\\ude42"\r\n\\\n"\\""'  # a list for bpe-merge --veto


def make_models(total):
    """The files of a small model in each format."""
    made = {}
    for fmt, files in MODEL_FILES.items():
        must("bpe-merge", "-v", "300", "--special-last", "-f", fmt, "-o", files[0].split("/")[0], data=total)
        made[fmt] = {name: open(name, "rb").read() for name in files}
    return made


def damage_model(data):
    if rng.random() < 0.5:
        return damage(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        # Inserts a token, or part of the file, where the structure is.
        at, other = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        ends = [i for i in (data.find(b"\n", at), data.find(b",", at), data.find(b'"', at)) if i >= 0]
        at = rng.choice(ends or [at])
        new = rng.choice((rng.choice(MODEL_TOKENS), data[other:other + rng.randrange(80)]))
        data = data[:at] + new + data[at + rng.choice((0, 0, 1, len(new))):]
    return data


def try_model(f, models):
    """If a model can be read, writing it in another format and reading that must give the same model."""
    fmt = rng.choice(list(models))
    files = models[fmt]
    name = rng.choice(list(files))
    bad = damage_model(files[name])
    for n, data in files.items():
        with open(n, "wb") as out:
            out.write(bad if n == name else data)
    model = name.split("/")[0].replace(".tiktoken.json", ".tiktoken")
    f.try_one(["bpe-model", "--info", model], bad)
    got = f.try_one(["bpe-model", model], bad)
    if not got or got[0]:
        return
    f.try_one(["bpe-model", "-"], got[1], lambda code, out: None if out == got[1] else "exit %d, a different model when read back" % code)
    got = f.try_one(["bpe-model", "-f", "tiktoken", "-o", "again.tiktoken", model], bad)
    if got and got[0] == 0:
        one = must("bpe-model", "-f", "merges", "again.tiktoken")
        f.try_one(["bpe-model", "-f", "merges", model], bad, lambda code, out: None if set(one.split(b"\n")) <= set(out.split(b"\n")) else "different merges")


# ---- Encoding ----

ENCODERS = [["-m", "m.json"], ["-m", "m.gpt2"], ["-m", "m.tiktoken"], ["-m", "cl100k.json"], ["-m", "bytes.json"]]


def make_encoders(total):
    """Undamaged models, in a separate directory."""
    os.mkdir("encoders")
    os.chdir("encoders")
    for fmt, files in MODEL_FILES.items():
        must("bpe-merge", "-v", "600", "-f", fmt, "-o", files[0].split("/")[0], data=total)
    for pattern in "cl100k", "bytes":
        special = ["-s", "<|endoftext|>", "-s", "aba", "-s", "\n\n"] if pattern == "cl100k" else []
        counts = must("bpe-count", data=must("bpe-chunk", "--inline", "-p", pattern, *special, "../a.txt"))
        must("bpe-merge", "-v", "400", "-o", pattern + ".json", data=must("bpe-sum", data=counts))
    os.chdir("..")
    return [["-m", "encoders/" + model] for _, model in ENCODERS]


def try_encode(f, model, plain, lines):
    """Encoding bytes and decoding gives the same bytes; whole text and chunks give the same ids, or an error."""
    how = rng.randrange(4)
    bad = damage(rng.choice((plain, plain, lines)))
    if how == 0:
        bad = rng.randbytes(rng.choice((0, 1, 2, 7, 63, 64, 65, 300, 5000)))
    width = rng.choice(([], ["-d", "u32"]))
    lib.write("bad.txt", bad)
    packed = bad[:2] == b"\x1f\x8b" or bad[:4] == b"\x28\xb5\x2f\xfd" or bad[:1] == b"\xff"
    if how <= 1:
        special = rng.choice(([], ["--special=text"]))
        got = f.try_one(["bpe-encode", *model, *width, *special, "--invalid=bytes", "bad.txt"], bad,
                        lambda code, out: "exit %d" % code if code and not packed else None)
        if got and not got[0] and not packed:
            f.try_one(["bpe-decode", *model, *width], got[1],
                      lambda code, out: None if code == 0 and out == bad else "exit %d, not the encoded bytes" % code)
        return
    options = rng.choice(([], ["--invalid=replace"], ["--invalid=skip"], ["--invalid=bytes"])) if how == 2 else \
        ["--jsonl", *rng.choice(([], ["--on-error=skip"], ["--on-error=skip", "--invalid=replace"], ["--invalid=skip"]))]
    eot = rng.choice(([], ["--eot=before"], ["--eot=after"]))
    if "bytes.json" in model[1]:
        eot = []
    results = set()
    got = f.try_one(["bpe-encode", *model, *width, *eot, *options, "bad.txt"], bad)
    if got:
        results.add((got[0], b"" if got[0] else got[1]))
    for cut in (["-b", "2K"], ["--inline", "-b", "3K"]):
        got = f.try_one(["bpe-chunk", *model, *options, *cut, "bad.txt"], bad)
        got = got and f.try_one(["bpe-encode", *model, *width, *eot, "-f", "raw"], got[1])
        if got:
            results.add((got[0], b"" if got[0] else got[1]))
    if len(results) > 1 and not packed:
        f.problem("bpe-encode %s: chunks give different ids: exits %s" % (model + width + eot + options, sorted(r[0] for r in results)), bad)


def try_records_and_ids(f, model, plain):
    """Damaged chunks, also with corrected checksums, and random ids."""
    if rng.random() < 0.5:
        ids = rng.randbytes(rng.randrange(600))
        if rng.random() < 0.5:
            ids = b"".join(rng.randrange(700).to_bytes(2, "little") for _ in range(rng.randrange(300)))
        f.try_one(["bpe-decode", *model, *rng.choice(([], ["-d", "u16"], ["-d", "u32"]))], damage(ids) if rng.random() < 0.3 else ids)
        return
    bad = damage(plain) if rng.random() < 0.3 else plain
    lib.write("bad.txt", bad)
    got = f.try_one(["bpe-chunk", *model, *rng.choice(([], ["--invalid=bytes"])), *rng.choice((["-b", "2K"], ["--inline", "-b", "3K"])), "bad.txt"], bad)
    if got:
        bad = damage_records(got[1]) if rng.random() < 0.7 else damage(got[1])
        f.try_one(["bpe-encode", *model, *rng.choice(([], ["-f", "raw"], ["-f", "text"], ["--eot=after"], ["--special=error"]))], bad)


def try_cuts(f, options, path, bad):
    """A file cut in two ways, by reference and by value, must give the same sum, or none."""
    sums = set()
    for how in (["-b", "2K"], ["--inline", "-b", "3K"]):
        got = f.try_one(["bpe-chunk", *options, *how, path], bad)
        got = got and f.try_one(["bpe-count"], got[1])
        got = got and f.try_one(["bpe-sum"], got[1])
        if got:
            sums.add((got[0], b"" if got[0] else repr(sorted(R.words(got[1]).items())).encode()))
    if len(sums) > 1:
        f.problem("bpe-chunk %s: two ways of cutting give different sums: exits %s" % (options, sorted(s[0] for s in sums)), bad)


def main():
    print("seed %d" % SEED, flush=True)
    here = tempfile.mkdtemp(prefix="bpe-fuzz-run-")
    os.chdir(here)
    f = Fuzz()
    plain = text(1, 20000) + text(2, 6000, "space") + text(3, 9000, "one")
    lines = b"".join(b'{"id": %d, "text": "line %d \\u00e9\\ud83d\\ude42\\n", "x": {"text": [1, 2.5e3, null, true]}}\n' % (i, i) for i in range(300))
    lib.write("a.txt", plain)
    inline = must("bpe-chunk", "--inline", "-b", "4K", "a.txt")
    ranges = must("bpe-chunk", "-b", "4K", "a.txt")
    counts = b"".join(must("bpe-count", data=r) for r in R.split(inline))
    total = must("bpe-sum", data=counts)
    lib.write("a.sum", total)
    weighted = must("bpe-sum", "--weight=2/3", data=counts)
    want = must("bpe-merge", "-v", "400", data=total)
    partial = must("bpe-sum", "--partial", data=b"".join(R.split(counts)[8:]))
    missing_list = run(["bpe-sum", "--missing", "list"], b"".join(R.split(counts)[8:]))
    missing = open("list", "rb").read() if missing_list else b""
    packed = gzip.compress(plain), subprocess.run(["zstd", "-q"], input=plain, stdout=subprocess.PIPE, check=True).stdout

    models = make_models(total)
    encoders = make_encoders(total)

    def same(code, out):
        return "a different model" if code == 0 and out != want else None

    def no_model(code, out):
        return "a model from a damaged stream" if code == 0 else None

    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        kind = rng.randrange(19)
        if kind <= 2:  # bytes of a stream: checksums detect all changes
            base = (inline, counts, total)[kind]
            bad = damage(base)
            if kind == 0:
                got = f.try_one(["bpe-count"], bad)
                bad = got[1] if got else b""
            if kind <= 1:
                got = f.try_one(["bpe-sum"], bad)
                bad = got[1] if got else b""
            f.try_one(["bpe-merge", "-v", "400"], bad, same)
        elif kind <= 6:  # valid records: any result except a crash
            base = (inline, ranges, counts, total, partial, weighted)[rng.randrange(6)]
            bad = damage_records(base)
            f.try_one(["bpe-view"], bad)
            f.try_one(["bpe-view", "--check"], bad)
            got = f.try_one(["bpe-view", "--armor"], bad)
            if got and not got[0]:
                f.try_one(["bpe-view", "--dearmor"], got[1], lambda code, out: None if (code, out) == (0, bad) else "exit %d, or different records" % code)
                f.try_one(["bpe-view", "--dearmor"], damage(got[1]))
            got = f.try_one(["bpe-count"], bad)
            if got and rng.random() < 0.5:
                bad = got[1]
            got = f.try_one(rng.choice((["bpe-sum"], ["bpe-sum", "--partial", "--missing", "out"], ["bpe-sum", "-S", "16K"], ["bpe-sum", "--weight=1/3"])), bad)
            if got and rng.random() < 0.8:
                bad = got[1]
            f.try_one(["bpe-merge", "-v", "400", *rng.choice(([], ["--partial"], ["--tie=lex"], ["-f", "merges"]))], bad)
        elif kind == 7:
            bad = damage_records(missing) if rng.random() < 0.7 else damage(missing)
            lib.write("bad-list", bad)
            got = f.try_one(["bpe-chunk", "--only", "bad-list", "a.txt"], bad)
            if got:
                f.try_one(["bpe-count"], got[1])
        elif kind == 8:  # text, with each policy and pattern
            bad = damage(plain)
            lib.write("bad.txt", bad)
            options = rng.choice(([], ["--invalid=replace"], ["--invalid=skip"])) + \
                rng.choice(([], [], ["-p", "cl100k-tiktoken"], ["-p", "o200k"], ["-p", "deepseek-v3"], ["-p", "kimi-k2"], ["-p", "gpt2-digits"], ["-p", "superbpe"], ["-p", "superbpe-lines"], ["-p", "cl100k"], ["-p", "bytes"], ["-e", r"\p{L}+|\s+(?!\S)|[^\p{L}\s]+"], ["--no-special"],
                            ["-s", "\n", "-s", "<|end", "-s", "<|endoftext|>"], ["-s", "aba", "-s", "e"]))
            try_cuts(f, options, "bad.txt", bad)
        elif kind == 9:
            bad = damage(lines)
            lib.write("bad.jsonl", bad)
            options = rng.choice(([], ["--on-error=skip"], ["--on-error=skip", "--invalid=replace"], ["--invalid=skip"]))
            try_cuts(f, ["--jsonl", *options], "bad.jsonl", bad)
        elif kind == 10:
            bad = damage(rng.choice(packed))
            got = f.try_one(["bpe-chunk", "--invalid=replace", "-b", "4K"], bad)
            got = got and f.try_one(["bpe-count"], got[1])
            got = got and f.try_one(["bpe-sum"], got[1])
        elif kind == 18:
            f.try_one(["bpe-merge", "-v", "400", "--veto=-", "a.sum"], damage(VETOES))
        elif kind >= 16:
            try_records_and_ids(f, rng.choice(encoders), plain)
        elif kind >= 14:
            try_encode(f, rng.choice(encoders), plain, lines)
        elif kind >= 12:
            try_model(f, models)
        else:  # whole records lost, repeated, moved: the same model, or refused
            r = R.split(rng.choice((counts, total, inline)))
            stream = [x for x in r if rng.random() < 0.98] + rng.choices(r, k=rng.randint(0, 5))
            rng.shuffle(stream)
            got = None
            if R.kind(r[0]) == "C":
                got = f.try_one(["bpe-count"], b"".join(stream))
                got = got and f.try_one(["bpe-sum"], got[1])
            else:
                got = f.try_one(["bpe-sum"], b"".join(stream))
            if got:
                f.try_one(["bpe-merge", "-v", "400"], got[1], same if set(stream) >= set(r) else no_model)
    os.chdir("/")
    shutil.rmtree(here)
    if f.keep:
        print("seed %d; failing inputs are in %s" % (SEED, f.keep))
    print("%d executions were right, %d wrong" % (f.passed, f.failed))
    sys.exit(1 if f.failed else 0)


main()
