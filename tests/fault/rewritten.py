#!/usr/bin/env python3
"""rewritten.py - for rewritten.t: a file is rewritten at each call that reads it. The program must report this and exit with 65, or its
output must be that of the old or the new file, never of a mixture."""
import base64
import gzip
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import must, write  # noqa: E402

SHIM, MARK, NOTHING = lib.BUILD + "/tests/fault/fault.so", "fault-mark", -3
MOST = 24  # calls to try
ENCODE = ["bpe-encode", "-m", "m.json"]
CHANGES = {"rewritten": "cat after >file", "longer": "cat more >>file", "shorter": "truncate -s 600000 file"}


def run(args, data=b"", how=None, call=None, at=0):
    env = dict(os.environ)
    if how:
        env.update(LD_PRELOAD=SHIM, FAULT_CALL=call, FAULT_ERROR=str(NOTHING), FAULT_AT=str(at), FAULT_MARK=MARK, FAULT_RUN=how)
        if os.path.exists(MARK):
            os.remove(MARK)
    if data is None:
        with open("file", "rb") as f:
            p = lib.subprocess.run(args, stdin=f, stdout=lib.subprocess.PIPE, stderr=lib.subprocess.PIPE, timeout=60, check=False, env=env)
            return p.returncode, p.stdout, p.stderr.decode(errors="replace")
    return lib.run(args, data, 60, env=env)


def reset(content):
    write("file", content)
    os.utime("file", (10 ** 9, 10 ** 9))


def whole(code, out, err):
    return code, out, err


def summed(code, counts, err):
    """The result of bpe-count, without its random parts."""
    total = lib.run(["bpe-sum"], counts)
    return code or total[0], lib.run(["bpe-view"], total[1])[1].partition(b"#")[0], err


def counted(code, chunks, err):
    return summed(code, lib.run(["bpe-count"], chunks)[1], err)


def sweep(label, args, before, after, call="read", change="rewritten", finish=whole, data=b"", name="file", says="while it was read"):
    """Changes the file at each call. The program must refuse it at least twice."""
    write("after", after)
    write("more", after[:1000])
    reset(before)
    if callable(data):
        data = data()
    wanted = [finish(*run(args, data))[:2]]
    must("sh", "-c", CHANGES[change])
    wanted.append(finish(*run(args, data))[:2])
    refused, bad, at = 0, [], 0
    while at < MOST and not bad:
        at += 1
        reset(before)
        code, out, err = finish(*run(args, data, CHANGES[change], call, at))
        if not os.path.exists(MARK):
            break
        said = f"{args[0]}: {name}: changed {says} (" in err
        refused += code == 65 and said
        if (code, out) not in wanted and not (code == 65 and said):
            bad.append(f"call {at}: exit {code}, {len(out)} bytes of neither file: {err}")
    lib.ok(wanted[0][0] == 0 and refused > 1 and not bad, f"{label}: file {change} at each of {at} calls", f"{[w[0] for w in wanted]} {refused}\n" + "\n".join(bad))


def replaced(args, content):
    """Replaces the file with a named pipe at each call that opens a file."""
    bad, at = [], 0
    while not bad:
        at += 1
        reset(content)
        code, _, err = run(args, b"", "rm file; mkfifo file", "open", at)
        if not os.path.exists(MARK):
            break
        if code and (code, err) != (65, "bpe-chunk: file: is a named pipe; replace it with a regular file\n"):
            bad.append(f"call {at}: exit {code}: {err}")
        os.remove("file")
    lib.ok(not bad and at > 1, f"{' '.join(args)}: file replaced with a pipe at each of {at} calls", "\n".join(bad))


def sizes():
    """Files whose size differs from the number of bytes that can be read."""
    for path in "/sys/kernel/uevent_seqnum", "/sys/kernel/mm/transparent_hugepage/enabled":
        if os.path.exists(path) and os.path.getsize(path) == 4096:
            code, _, err = run([*ENCODE, path])
            lib.ok(code == 65 and f"bpe-encode: {path}: changed while it was read (" in err and "of 4096 bytes could be read" in err,
                   "a file shorter than its size", f"{code} {err}")
            break
    else:
        lib.skip("a file shorter than its size", "no such file in /sys")
    if os.path.exists("/proc/self/status"):
        code, out, err = run([*ENCODE, "/proc/self/status"])
        lib.ok(code == 0 and out, "a file in /proc, whose size is 0", err)


def lines(word, n=90000):
    return b"".join(b"the %s %d\n\n" % (word, i) for i in range(n))


def jsonl(word):
    return b"".join(b'{"text": "the %s %d"}\n' % (word, i) for i in range(60000))


def wet(word):
    block = b"the %s sat\n" % word * 30
    record = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
    return record * 2500


def stored(data):
    """A gzip file whose length does not depend on its contents."""
    return gzip.compress(data, 0, mtime=0)


def ranks(*tokens):
    """A .tiktoken file with these four words in this order: two near the beginning, two at the end."""
    rng = random.Random(1)
    words = sorted({bytes(rng.choices(b"abcdefgh", k=5)) for _ in range(9000)})
    words[100:102] = tokens[:2]
    words[-2:] = tokens[2:]
    return b"".join(b"%s %d\n" % (base64.b64encode(t), i) for i, t in enumerate([bytes([i]) for i in range(256)] + words))


def main():
    write("t.txt", lines(b"cat", 500) + lines(b"dog", 500))
    write("m.json", must("bpe-merge", "-v", "400", data=must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "t.txt")))))
    cat, dog = lines(b"cat"), lines(b"dog")
    sweep("bpe-encode", [*ENCODE, "file"], cat, dog)
    sweep("bpe-encode", [*ENCODE, "file"], cat, dog, change="longer")
    sweep("bpe-encode", [*ENCODE, "file"], cat, dog, change="shorter")
    sweep("bpe-encode, text that becomes invalid", [*ENCODE, "file"], cat, dog.replace(b"dog", b"\xff\xfe\xfd"))
    sweep("bpe-encode of standard input", [*ENCODE, "-"], cat, dog, data=None, name="standard input")
    sweep("bpe-encode --jsonl", [*ENCODE, "--jsonl", "file"], jsonl(b"cat"), jsonl(b"dog"))
    sweep("bpe-encode --jsonl, different line lengths", [*ENCODE, "--jsonl", "file"], jsonl(b"cat"), b"{}" + jsonl(b"tiger"))
    sweep("bpe-encode -0", [*ENCODE, "-0", "file"], cat.replace(b"\n\n", b"\0"), dog.replace(b"\n\n", b"\0"))
    sweep("bpe-encode --wet", [*ENCODE, "--wet", "file"], wet(b"cat"), wet(b"dog"))
    sweep("bpe-encode of zstd", [*ENCODE, "file"], lib.zstd_frame(cat), lib.zstd_frame(dog))
    sweep("bpe-encode of zstd", [*ENCODE, "file"], lib.zstd_frame(cat), lib.zstd_frame(dog), change="shorter")
    sweep("bpe-encode of gzip", [*ENCODE, "file"], stored(cat), stored(dog))
    sweep("bpe-chunk --inline", ["bpe-chunk", "--inline", "file"], cat, dog, finish=counted)
    sweep("bpe-chunk --inline --jsonl", ["bpe-chunk", "--inline", "--jsonl", "file"], jsonl(b"cat"), jsonl(b"dog"), finish=counted)
    sweep("bpe-chunk of one zstd file", ["bpe-chunk", "file"], lib.zstd_frame(cat), lib.zstd_frame(dog), finish=counted)
    sweep("bpe-chunk of standard input", ["bpe-chunk"], cat, dog, finish=counted, data=None, name="standard input")
    for options, form in ([], lines), (["--jsonl"], jsonl):
        for program, finish in (["bpe-count"], summed), ([*ENCODE, "-f", "raw"], whole):
            sweep(f"{program[0]} by reference {' '.join(options)}", program, form(b"cat"), form(b"tiger"), "pread", finish=finish,
                  data=lambda options=options: must("bpe-chunk", "-m", "m.json", *options, "file"), says="since bpe-chunk read it")
    for options in [], ["-b", "4K"], ["--inline"]:
        for content in cat, lib.zstd_frame(cat):
            replaced(["bpe-chunk", *options, "file"], content)
    ids = [must(*ENCODE, data=t) for t in (cat, dog)]
    sweep("bpe-decode", ["bpe-decode", "-m", "m.json", "file"], ids[0], ids[1])
    sweep("bpe-decode", ["bpe-decode", "-m", "m.json", "file"], ids[0], ids[1], change="longer")
    sizes()
    write("words.txt", "vvvvv\nwwwww\nxxxxx\nyyyyy")
    sweep("bpe-encode's model", ["bpe-encode", "-p", "gpt2", "-m", "file", "-f", "text", "words.txt"],
          ranks(b"vvvvv", b"wwwww", b"xxxxx", b"yyyyy"), ranks(b"wwwww", b"vvvvv", b"yyyyy", b"xxxxx"))


main()
sys.exit(lib.done())
