#!/usr/bin/env python3
"""changing.t - files that are changed, or replaced by a pipe, between two programs that read them or while one reads them: this must be
an error, without a model or ids of text that never existed, and no program may hang."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import must, write  # noqa: E402

PATIENCE = 20


def run(args, data=b""):
    """(exit status, standard error); the status of a program that hangs is None."""
    try:
        code, _, err = lib.run(args, data, PATIENCE)
        return code, err
    except subprocess.TimeoutExpired:
        return None, "it hangs"


def become_pipe(*paths):
    for path in paths:
        os.remove(path)
        os.mkfifo(path)


def changed(args, first, change):
    """Like run, for a program that reads the FIFO `first`; the files change when the program opens it."""
    os.mkfifo(first)
    with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        with open(first, "wb", buffering=0) as f:
            change()
            f.write(lib.read("pipe.txt"))
        timer = threading.Timer(PATIENCE, p.kill)
        timer.start()
        err = p.stderr.read().decode()
        timer.cancel()
    os.remove(first)
    return p.returncode, err


# ---- Replaced by a pipe without a writer ----

def says(name, got, wanted):
    lib.ok(got == (65, wanted + "\n"), name, f"{got}; wanted: {wanted}")


def pipes_by_reference():
    """Replaced between bpe-chunk and bpe-count or bpe-encode."""
    named = {"plain": ["f.txt"], "compressed": ["f.txt.zst", "g.txt.zst"], "parts of one": ["parts.zst"]}
    for kind, files in named.items():
        for program in ["bpe-count"], ["bpe-encode", "-m", "m.json"]:
            make_files()
            chunks = must("bpe-chunk", "-m", "m.json", "-b", "30K", *files)
            become_pipe(*files)
            says(f"{program[0]}, {kind}", run(program, chunks),
                 f"{program[0]}: {files[0]}: changed since bpe-chunk read it (it is no longer a regular file); run the same command again")


def pipes_in_chunk():
    """Replaced after bpe-chunk has opened all of its files once."""
    for options, files in ([], ["f.txt"]), (["--inline"], ["f.txt"]), ([], ["f.txt.zst"]), ([], ["parts.zst", "g.txt.zst"]), (["-s", "a\na"], ["f.txt"]):
        make_files()
        args = ["bpe-chunk", "-b", "4K", *options, "pipe", *files]
        says(ascii(args), changed(args, "pipe", lambda files=files: become_pipe(*files)), f"bpe-chunk: {files[0]}: is a named pipe; replace it with a regular file")


def pipes_in_sum():
    make_files()
    write("f.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "f.txt"))))
    write("pipe.txt", must("bpe-count", data=must("bpe-chunk", "g.txt")))
    says("bpe-sum", changed(["bpe-sum", "-S", "64K", "f.sum", "pipe"], "pipe", lambda: become_pipe("f.sum")),
         "bpe-sum: f.sum: changed while it was being added up; run this again")


def pipes_in_shards():
    make_files()
    chunks = must("bpe-chunk", "--inline", "-b", "8K", "-m", "m.json", "f.txt").split(b"\n")[:-1]
    batches = [must("bpe-encode", "-m", "m.json", data=r + b"\n") for r in chunks]
    tokens, some = b"".join(batches), b"".join(batches[:8] + batches[9:])
    must("bpe-shard", "-n", "4000", "-o", "shards", data=tokens)
    first = "shards/" + sorted(f for f in os.listdir("shards") if f.endswith(".npy"))[0]
    check = ["bpe-shard", "--check=shards", "-m", "m.json", "f.txt"]
    code, err = run(check)
    lib.ok(code == 0, "bpe-shard --check", err)
    become_pipe("f.txt")
    says("  when the corpus is a pipe", run(check), "bpe-shard: f.txt: is a named pipe; replace it with a regular file")
    make_files()
    become_pipe(first)
    says("  when a shard is a pipe", run(check), f"bpe-shard: {first}: is a named pipe; replace it with a regular file")
    for options in [], ["--shuffle=documents"], ["--docs", "-f", "megatron"]:
        pipes_in_work(["bpe-shard", "--resume", "-S", "16K", "-n", "4000", *options, "-o", "begun"], some, tokens)


def pipes_in_work(command, some, tokens):
    """bpe-shard --resume after one of its own files was replaced."""
    bad, begun = [], run(command, some)
    names = [f"{d}/{f}" for d, _, files in os.walk("begun") for f in files]
    for name in names:
        shutil.copytree("begun", "copy")
        become_pipe(name)
        code, err = run(command, tokens)
        if code not in (0, *lib.ERRORS) or (code and err.count("\n") != 1):
            bad.append(f"{name}: {code} {err}")
        shutil.rmtree("begun")
        os.rename("copy", "begun")
    shutil.rmtree("begun")
    lib.ok(begun[0] == 75 and not bad and len(names) > 3, f"{' '.join(command)}: each of {len(names)} files is a pipe", f"{begun} " + "\n".join(bad))


# ----

def make_files():
    for path in "f.txt", "g.txt", "f.txt.zst", "g.txt.zst", "parts.zst":
        if os.path.exists(path):
            os.remove(path)
    f, g = lib.text(1, 100000), lib.text(2, 60000)
    write("f.txt", f)
    write("g.txt", g)
    write("f.txt.zst", lib.zstd_frame(f))
    write("g.txt.zst", lib.zstd_frame(g))
    write("parts.zst", lib.zstd_seekable([f[i:i + 20000] for i in range(0, len(f), 20000)]))


top = tempfile.mkdtemp(prefix="bpe-test-")
os.chdir(top)
make_files()
write("pipe.txt", "from a pipe\n" * 100)
write("m.json", must("bpe-merge", "-v", "400", data=must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "f.txt")))))
pipes_by_reference()
pipes_in_chunk()
pipes_in_sum()
pipes_in_shards()
os.chdir("/")
shutil.rmtree(top)
sys.exit(lib.done())
