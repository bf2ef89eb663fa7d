#!/usr/bin/env python3
"""fault.py - runs every program while its first, second, ... call of each kind fails.

The program must exit with 0 and the right output, or with a documented exit code and one line on standard error. In the second case, the
rest of the pipeline must never turn the output written so far into a different model. Short reads and writes, and EINTR, must make no
difference. Prints lines of the Test Anything Protocol without numbers.
"""
import errno
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import must, text, write  # noqa: E402

rng = random.Random(lib.seed())
BUILD = lib.BUILD
SHIM, MARK = BUILD + "/tests/fault/fault.so", "fault-mark"
BUDGET = float(os.environ.get("FAULT_SECONDS") or 20)
FIRST = 50 if "FAULT_SECONDS" in os.environ else 8  # each of the first FIRST calls fails; later ones are sampled at random

FAULTS = [(call, getattr(errno, e)) for call, names in
          (("write", "ENOSPC EIO"), ("read", "EIO"), ("pread", "EIO"), ("pwrite", "ENOSPC EIO"), ("malloc", "ENOMEM"),
           ("open", "EMFILE EACCES"), ("mkostemp", "EACCES ENOSPC"), ("close", "EIO"), ("fsync", "EIO ENOSPC"), ("rename", "EXDEV"))
          for e in names.split()]
HARMLESS = [(call, error) for call in ("write", "read", "pread", "pwrite") for error in (0, errno.EINTR)]


def run(args, data=b"", fault=None):
    """(exit status, standard output, standard error, whether the fault happened)"""
    env = dict(os.environ)
    if fault:
        env.update(LD_PRELOAD=SHIM, FAULT_CALL=fault[0], FAULT_ERROR=str(fault[1]), FAULT_AT=str(fault[2]), FAULT_MARK=MARK)
        if os.path.exists(MARK):
            os.remove(MARK)
    return (*lib.run(args, data, 10, env=env), os.path.exists(MARK))


WHOLE = ("bpe-merge", "bpe-model", "bpe-encode", "bpe-decode")  # their output is compared directly


def rest(name, out, more=b""):
    """The model that the rest of the pipeline makes of a program's output, or None if it is refused. more: counts that complete a
    partial sum."""
    if more:
        name, out = "bpe-count", out + more
    for program in (("bpe-chunk", ["bpe-count"]), ("bpe-count", ["bpe-sum"]), ("bpe-sum", ["bpe-merge", "-v", "500"])):
        if name == program[0] or name == "":
            code, out, err, _ = run(program[1], out)
            if code < 0:
                raise RuntimeError("%s: signal %d" % (program[1][0], -code))
            name = ""
    return out or None


class Case:
    def __init__(self, label, args, data=b"", file=None, more=b""):
        self.label, self.args, self.data, self.file, self.more = label, args, data, file, more

    def result(self, fault=None):
        if self.file and os.path.exists(self.file):
            os.remove(self.file)
        code, out, err, fired = run(self.args, self.data, fault)
        code = 0 if code == 1 and "--diff" in self.args else code  # compared, and they differ
        made = None
        if self.file and os.path.exists(self.file):
            with open(self.file, "rb") as f:
                made = f.read()
        return code, out, err, fired, made

    def judge(self, fault, want, harmless):
        """(problem or None, whether the fault happened)"""
        try:
            code, out, err, fired, made = self.result(fault)
        except subprocess.TimeoutExpired:
            return "hangs", True
        if code < 0:
            return "signal %d: %s" % (-code, err), fired
        if code not in lib.ERRORS and code != 0:
            return "exit %d: %s" % (code, err), fired
        if not harmless and code == 0 and fault[0] in ("write", "pwrite", "fsync", "rename", "mkostemp") and fired:
            return "exit 0, as if nothing had happened", fired
        if harmless and code:
            return "exit %d: %s" % (code, err), fired
        note = self.more and " never counted" in err  # a note printed before the failure
        if code and (err.count("\n") != 1 + bool(note) or not err.startswith(self.args[0] + ": ")):
            return "exit %d, but not one line of error: %r" % (code, err), fired
        if code == 0 and err and not self.more:
            return "exit 0 with an error: %r" % err, fired
        left = [f for f in os.listdir(".") if (f.startswith((self.file or "\0") + ".") and f != "model.tiktoken.json") or
                f.startswith("bpe-")]
        for f in left:
            os.remove(f)
        if left:
            return "leaves %s behind" % left, fired
        if self.file and made is not None and made != self.made:
            return "exit %d with another %s" % (code, self.file), fired
        name = self.args[0]
        if name in WHOLE:
            model = made if self.file else out
            if (code == 0 or self.file and made) and model != want:
                return "exit %d with another model (%s bytes)" % (code, model and len(model)), fired
            # A failing write to standard output may cut the model short; the exit status reports it.
            if code and not self.file and out and not want.startswith(out):
                return "exit %d with another model" % code, fired
        elif name == "bpe-view":
            if (out != want) if code == 0 else not want.startswith(out):
                return "exit %d, other text" % code, fired
        else:
            try:
                model = rest(name, out, self.more)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                return str(e), fired
            if model != want and (model is not None or code == 0):
                return "exit %d, and then %s" % (code, "another model" if model else "no model"), fired
        return None, fired


def sweep(case, faults, harmless, until):
    """Injects each fault at each call and prints the verdict."""
    code, out, err, _, made = case.result()
    case.made = made
    name = case.args[0]
    want = (made if case.file else out) if name in (*WHOLE, "bpe-view") else rest(name, out, case.more)
    if code or not want:
        print("not ok - %s\n# without a fault: exit %d: %s" % (case.label, code, err))
        return
    n, bad = 0, []
    for call, error in faults:
        at, step = 0 if harmless else 1, 1
        while True:
            problem, fired = case.judge((call, error, at), want, harmless)
            n += fired
            if problem:
                bad.append("call %d of %s, %s: %s" % (at, call, os.strerror(error) if error else "short", problem))
            if not fired and at > 0 or len(bad) > 20:
                break
            if at >= FIRST:
                step = rng.randint(1, at // 6 + 1)
            if time.monotonic() > until:
                step = max(step, at // 2)
            at += step
    what = "short or interrupted reads and writes make no difference" if harmless else "failing calls"
    print("%s - %s: %s (%d faults)" % ("not ok" if bad else "ok", case.label, what, n))
    for line in bad[:10]:
        print("# " + line.replace("\n", " | ")[:400])
    sys.stdout.flush()


def main():
    write("a.txt", text(1, 60000))
    write("b.txt", text(2, 20000) + b"\n" + b"long" * 3000 + b"\n")
    write("c.jsonl", b"".join(b'{"text": "line %d \\u00e9"}\n' % i for i in range(1000)))
    for tool in (["zstd", "-q", "-f", "a.txt"], ["gzip", "-k", "-f", "a.txt"]):
        subprocess.run(tool, check=True)
    chunks = must("bpe-chunk", "-b", "16K", "a.txt", "b.txt")
    inline = must("bpe-chunk", "--inline", "-b", "16K", "a.txt", "b.txt")
    counts = b"".join(must("bpe-count", data=r + b"\n") for r in inline.split(b"\n")[:-1])
    total = must("bpe-sum", data=counts)
    for fmt, kept in ("json", "kept.json"), ("gpt2", "kept.pair"), ("tiktoken", "kept.tiktoken"):
        must("bpe-merge", "-v", "500", "-f", fmt, "-o", kept, data=total)
    first = must("bpe-count", data=inline.split(b"\n")[0] + b"\n").count(b"\n")
    lacking = b"".join(r + b"\n" for r in counts.split(b"\n")[:first])
    part = b"".join(r + b"\n" for r in counts.split(b"\n")[first:-1])
    os.environ["TMPDIR"] = "."
    cases = [
        Case("bpe-chunk, by reference", ["bpe-chunk", "-b", "16K", "a.txt", "b.txt"]),
        Case("bpe-chunk --inline", ["bpe-chunk", "--inline", "-b", "16K", "a.txt", "b.txt"]),
        Case("bpe-chunk, zstd", ["bpe-chunk", "-b", "16K", "a.txt.zst"]),
        Case("bpe-chunk, gzip", ["bpe-chunk", "-b", "16K", "a.txt.gz"]),
        Case("bpe-chunk, standard input", ["bpe-chunk"], open("a.txt", "rb").read()),
        Case("bpe-chunk --jsonl -e", ["bpe-chunk", "--jsonl", "-e", r"\p{L}+|\P{L}", "c.jsonl"]),
        Case("bpe-count, by reference", ["bpe-count"], chunks),
        Case("bpe-count, by value", ["bpe-count", "-S", "64K"], inline),
        Case("bpe-count, JSON Lines and a regex", ["bpe-count"], must("bpe-chunk", "--jsonl", "-e", r"\p{L}+|\P{L}", "c.jsonl")),
        Case("bpe-sum", ["bpe-sum"], counts),
        Case("bpe-sum that spills to disk", ["bpe-sum", "-S", "8K"], counts),
        Case("bpe-merge", ["bpe-merge", "-v", "500"], total),
        Case("bpe-merge -o", ["bpe-merge", "-v", "500", "-o", "model.json"], total, "model.json"),
        Case("bpe-merge -f tiktoken -o", ["bpe-merge", "-v", "500", "-f", "tiktoken", "-o", "model.tiktoken"], total, "model.tiktoken"),
        Case("bpe-model", ["bpe-model", "kept.json"]),
        Case("bpe-model, standard input", ["bpe-model", "-f", "merges"], open("kept.json", "rb").read()),
        Case("bpe-model --info of a pair", ["bpe-model", "--info", "kept.pair"]),
        Case("bpe-model -o of a .tiktoken file", ["bpe-model", "-o", "model.json", "kept.tiktoken"], b"", "model.json"),
        Case("bpe-model --prune", ["bpe-model", "--prune=50", "--add-special=<x>", "--pad-to-multiple=64", "kept.json"], total),
        Case("bpe-model -v, of a .tiktoken file", ["bpe-model", "-v", "400", "-f", "hf-dir", "-o", "changed", "kept.tiktoken"], b"", "changed/tokenizer.json"),
        Case("bpe-model --diff", ["bpe-model", "--diff", "kept.json", "kept.tiktoken"]),
        Case("bpe-encode", ["bpe-encode", "-m", "kept.json", "a.txt", "b.txt"]),
        Case("bpe-encode -o", ["bpe-encode", "-m", "kept.tiktoken", "-o", "ids.bin", "a.txt.zst"], b"", "ids.bin"),
        Case("bpe-encode, by reference", ["bpe-encode", "-m", "kept.json", "-f", "raw"], chunks),
        Case("bpe-encode, by value", ["bpe-encode", "-m", "kept.json", "-f", "text", "--eot=after"], inline),
        Case("bpe-decode", ["bpe-decode", "-m", "kept.json"], must("bpe-encode", "-m", "kept.json", "a.txt")),
        Case("bpe-view", ["bpe-view"], counts),
        Case("bpe-view --check", ["bpe-view", "--check"], counts),
        Case("bpe-sum --partial --missing", ["bpe-sum", "--partial", "--missing", "list"], part, "list", lacking),
    ]
    start = time.monotonic()
    for i, case in enumerate(cases):
        until = start + BUDGET * (i + 1) / len(cases)
        sweep(case, FAULTS, False, until)
        sweep(case, HARMLESS, True, until)


main()
