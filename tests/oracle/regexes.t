#!/usr/bin/env python3
"""regexes.t - regexes split text as Hugging Face tokenizers does, for the cases written by regex_peers.py, and unsupported regexes are
refused. The same holds where PCRE2 has no JIT."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regexes.txt")


def main():
    with open(FILE, encoding="ascii") as f:
        cases = [json.loads(line) for line in f if not line.startswith("#")]
    lines = (" ".join(part.encode().hex() for part in [*regexes, text]) for regexes, text, _, _ in cases)
    lines = "\n".join(lines).encode() + b"\n"
    out = lib.must("pretok", "--lines", data=lines).decode().split("\n")
    wrong, other, n = [], [], 0
    for (regexes, text, want, refused), got in zip(cases, out):
        if got.startswith("- ") != refused:
            other.append(f"{regexes!r}: {got[:200]}")
        elif not refused:
            n += 1
            if [int(length) for length in got.split()] != want:
                wrong.append(f"{regexes!r} on {text!r}: {got}, not {want}")
    lib.ok(len(out) == len(cases) + 1 and n > 500, f"more than 500 regexes are compared: {n}")
    lib.ok(not wrong, "regexes split text as Hugging Face does", "\n".join(wrong[:20]))
    lib.ok(not other, f"exactly the {len(cases) - n} unsupported regexes are refused", "\n".join(other[:20]))
    if "__asan" in lib.must("nm", "-D", lib.BUILD + "/bpe-chunk").decode():
        lib.skip("without JIT", "nojit.so does not work with sanitizers")
    else:
        same = lib.must("env", f"LD_PRELOAD={lib.BUILD}/tests/fault/nojit.so", "pretok", "--lines", data=lines).decode().split("\n")
        lib.ok(same == out, "same results without JIT", "\n".join(a for a, b in zip(same, out) if a != b)[:1000])
    return lib.done()


sys.exit(main())
