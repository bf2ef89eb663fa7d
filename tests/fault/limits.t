#!/usr/bin/env python3
"""limits.t - every program under process limits (ulimit). If a file reaches the size limit, the program prints one line, exits with 74, and
leaves no unfinished file. If the stack limit is too small for the largest possible input, the program refuses to start."""
import gzip
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import must, write  # noqa: E402


def run(args, data=b"", limits=(), out=subprocess.PIPE, env=None):
    """(exit status, standard output, standard error) under these limits, [(which, bytes), ...]."""
    def limit():
        for which, size in limits:
            resource.setrlimit(which, (size, resource.getrlimit(which)[1]))
    p = subprocess.run(args, input=data, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False, preexec_fn=limit, env=env)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def tree():
    """{name: content} of all files in the working directory."""
    return {os.path.join(d, f): lib.read(os.path.join(d, f)) for d, _, files in os.walk(".") for f in files}


def make_inputs():
    write("in.txt", lib.text(1, 300000))
    write("in.chunks", must("bpe-chunk", "--inline", "-b", "16K", "in.txt"))
    write("in.counts", must("bpe-count", "in.chunks"))
    write("in.sum", must("bpe-sum", "in.counts"))
    write("some.counts", b"".join(r + b"\n" for r in lib.read("in.counts").split(b"\n")[:3]))
    write("in.json", must("bpe-merge", "-v", "500", "in.sum"))
    write("in.ids", must("bpe-encode", "-m", "in.json", "in.txt"))
    write("in.named", must("bpe-chunk", "--inline", "-b", "16K", "-m", "in.json", "in.txt"))
    write("in.tokens", must("bpe-encode", "-m", "in.json", "in.named"))
    must("bpe-shard", "-n", "1000", "--docs", "-o", "in.shards", "in.tokens")


# ---- File size (ulimit -f) ----

# (file, limit, command). The file is standard output, "tmp" for temporary files, or a file that the program creates.
OUT, TOKENIZER = "standard output", ["bpe-merge", "-v", "500", "in.sum"]
FILES = [(OUT, 1500, ["bpe-chunk", "--inline", "in.txt"]), (OUT, 0, ["bpe-chunk", "in.txt"]), (OUT, 1500, ["bpe-count", "in.chunks"]),
         (OUT, 1500, ["bpe-sum", "in.counts"]), (OUT, 1500, TOKENIZER), (OUT, 1500, ["bpe-model", "in.json"]),
         (OUT, 1500, ["bpe-encode", "-m", "in.json", "in.txt"]), (OUT, 1500, ["bpe-encode", "-m", "in.json", "-f", "text", "in.txt"]),
         (OUT, 1500, ["bpe-encode", "-m", "in.json", "in.named"]),
         (OUT, 1500, ["bpe-decode", "-m", "in.json", "in.ids"]), (OUT, 1500, ["bpe-view", "in.sum"]), (OUT, 1500, ["bpe-view", "--armor", "in.sum"]),
         (OUT, 1500, ["bpe-shard", "--list", "in.shards"]), (OUT, 1500, ["bpe-shard", "--help"]), (OUT, 7, ["bpe-chunk", "--version"]),
         ("new", 1500, [*TOKENIZER, "-o", "new"]), ("new", 1500, ["bpe-model", "-o", "new", "in.json"]),
         ("new.json", 0, [*TOKENIZER, "-f", "tiktoken", "-o", "new"]), ("new", 1500, [*TOKENIZER, "-f", "tiktoken", "-o", "new"]),
         ("new/vocab.json", 1500, ["bpe-model", "-f", "gpt2", "-o", "new", "in.json"]),
         ("new", 1500, ["bpe-encode", "-m", "in.json", "-o", "new", "in.txt"]),
         ("new", 0, ["bpe-sum", "--missing", "new", "some.counts"]),
         ("tmp", 1500, ["bpe-sum", "-S", "8K", "-T", "tmp", "in.counts"]),
         ("tmp", 1500, ["bpe-encode", "-m", "in.json", "--jsonl", "-f", "text", "-"])]


def too_large(name, args, most):
    """The file is limited to `most` bytes."""
    before = tree()
    data = b'{"text": "%s"}\n' % (b"".join(b"%x " % (i * i) for i in range(2000000))) if args[-1] == "-" else b""
    with open("out", "wb") as out:
        code, _, err = run(args, data, [(resource.RLIMIT_FSIZE, most)], out=out if name == OUT else subprocess.DEVNULL)
    os.remove("out")
    wanted = f"{name}: cannot write{' a temporary file there (see TMPDIR, -T)' if name == 'tmp' else ''}: File too large"
    lib.ok((code, err) == (74, f"{args[0]}: {wanted}\n"), f"{' '.join(args)}: {name} limited to {most} bytes", f"exit {code}: {err}wanted: {wanted}")
    after = tree()
    changed = [f for f in set(before) | set(after) if before.get(f) != after.get(f)]
    lib.ok(not changed and not os.path.exists("new"), "  no file is left", changed)


def shards_too_large(options, source):
    """The same command resumes without the limit."""
    shutil.rmtree("shards", ignore_errors=True)
    command = ["bpe-shard", "--resume", "-n", "40000", "-S", "16K", *options, "-o", "shards", source]
    must(*command)
    whole, bad, n = tree(), [], 0
    for most in [0, 1, 30, 100, 300, 1000, 3000, 10000, 30000, 60000, 100000]:
        shutil.rmtree("shards")
        code, _, err = run(command, limits=[(resource.RLIMIT_FSIZE, most)], out=subprocess.DEVNULL)
        n += code != 0
        if code and (code != 74 or err.count("\n") != 1 or not err.endswith(": File too large\n")):
            bad.append(f"{most} bytes: exit {code}: {err}")
        must(*command)
        if tree() != whole:
            bad.append(f"{most} bytes: another directory")
    lib.ok(n > 5 and not bad, f"{' '.join(command)}: resumes after each size limit", f"{n} times; " + "\n".join(bad))
    shutil.rmtree("shards")


# ---- Stack (ulimit -s) ----

KIB = 1 << 10
# The dynamic loader uses up 16 KiB.
TOO_SMALL = [24 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 192 * KIB]
ENOUGH = [256 * KIB, 512 * KIB, 1024 * KIB, 8192 * KIB, resource.RLIM_INFINITY]
NESTED = "(?:" * 100 + r"\p{L}+|\s" + ")+" * 100 + "|."


def deep():
    """Commands that need a lot of stack, with their input."""
    rng = random.Random(1)
    long = bytes(rng.choices(b"abcdefgh", k=100000)) + b" " + b"word" * 500 + b"\n" + lib.read("in.txt")
    write("long.txt", long)
    write("long.jsonl", b'{"text": "%s"}\n' % (b"the cat \\u00e9 " * 700000) + b'{"n": %s, "text": ""}\n' % (b"[" * 100 + b"]" * 100))
    write("bad.jsonl", b'{"text": "the cat"}\n' * 5000 + b"{}\n")
    write("in.txt.zst", lib.zstd_frame(lib.read("in.txt")))
    write("in.txt.gz", gzip.compress(lib.read("in.txt")))
    write("bgzf.gz", lib.bgzf([long[i:i + 20000] for i in range(0, len(long), 20000)]))
    # Pretokens with common prefixes of each length.
    write("alike.txt", b"\n".join(b"a" * k + b"%c%03d" % (98 + j % 20, j) * (19 - k > 0) for k in range(20) for j in range(60)) +
          "".join("a" * k + chr(0x4E00 + 71 * j) * 2 + " " for k in range(17) for j in range(60)).encode())
    write("in.tiktoken", must("bpe-model", "-f", "tiktoken", "-o", "in.tiktoken", "in.json") or lib.read("in.tiktoken"))
    write("nested.json", must("bpe-merge", "-v", "300", data=must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "-e", NESTED, "in.txt")))))
    encode = ["bpe-encode", "-m", "in.json"]
    yield from ((["bpe-chunk", *o, f], b"") for o, f in [([], "in.txt"), (["-e", NESTED], "in.txt"), (["-m", "nested.json"], "in.txt"), ([], "bgzf.gz"),
                                                        (["--inline"], "in.txt.zst"), (["--jsonl", "--inline"], "bad.jsonl")])
    for options in [], ["-p", "o200k"], ["-e", NESTED], ["-p", "bytes"]:
        yield ["bpe-count"], must("bpe-chunk", *options, "long.txt", "in.txt.zst", "in.txt.gz")
    for file in "long.jsonl", "bad.jsonl":
        yield ["bpe-count"], must("bpe-chunk", "--jsonl", file)
        yield [*encode, "--jsonl", file], b""
    for memory in "8K", "100M":
        yield ["bpe-sum", "-S", memory], must("bpe-count", data=must("bpe-chunk", "alike.txt", "long.txt"))
    for form in "json", "tiktoken", "merges":
        yield ["bpe-merge", "-v", "900", "-f", form, "in.sum"], b""
    for model in "in.json", "in.tiktoken", "nested.json":
        yield ["bpe-encode", "-m", model, "long.txt", "in.txt.gz"], b""
        yield ["bpe-model", "--info", model], b""
        yield ["bpe-model", "-v", "300", "--pad-to-multiple=1000", model], b""
        yield ["bpe-model", "--diff", model, "in.json"], b""
    yield ["bpe-model", "--prune=100", "in.json", "in.sum"], b""
    yield encode, must("bpe-chunk", "-m", "in.json", "in.txt.zst", "in.txt.gz")
    yield ["bpe-decode", "-m", "in.json", "in.ids"], b""
    yield ["bpe-view", "--armor", "in.tokens"], b""
    yield ["bpe-view", "--nonsense"], b""
    for options in ["--docs", "-f", "megatron"], ["--shuffle=documents", "-f", "mds"]:
        yield ["bpe-shard", "--resume", "-S", "16K", "-n", "40000", *options, "-o", "shards", "in.tokens"], b""
    yield ["bpe-shard", "--check=in.shards", "-m", "in.json", "in.txt"], b""


def small_stack(args, data):
    usual, bad = run(args, data)[0], []
    env = {"PATH": os.environ["PATH"]}  # the environment is on the stack, too
    for size in TOO_SMALL + ENOUGH:
        shutil.rmtree("shards", ignore_errors=True)
        code, _, err = run(args, data, [(resource.RLIMIT_STACK, size)], env=env)
        refused = code == 71 and err.startswith(args[0] + ": ") and " of stack are left, " in err and err.count("\n") == 1
        if code != usual if size in ENOUGH else not refused:
            bad.append(f"{size // KIB} KiB: exit {code}: {err}")
    shutil.rmtree("shards", ignore_errors=True)
    lib.ok(usual in ("--diff" in args, 0, *lib.ERRORS) and not bad, f"{' '.join(a[:30] for a in args)}: any stack size", f"exit {usual}; " + "\n".join(bad))


top = tempfile.mkdtemp(prefix="bpe-test-")
os.chdir(top)
os.mkdir("tmp")
os.environ["TMPDIR"] = "tmp"
make_inputs()
for where, size, command in FILES:
    too_large(where, command, size)
    if where == OUT:
        too_large(where, command, 0)
for more in [], ["--docs", "-f", "megatron"], ["--shuffle=documents", "--docs"], ["-f", "mds", "--sha256"]:
    shards_too_large(more, "in.tokens")
shards_too_large(["-f", "dolma"], "in.shards")
if "__asan" in must("nm", "-D", lib.BUILD + "/bpe-chunk").decode():
    lib.skip("small stacks", "sanitized builds use more stack")
else:
    for command, given in deep():
        small_stack(command, given)
os.chdir("/")
shutil.rmtree(top)
sys.exit(lib.done())
