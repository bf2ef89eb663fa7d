#!/usr/bin/env python3
"""places.t - token records give the position of each document in its source, for any input format, options and pieces, and whichever
process encoded which piece (places.py).
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import lib  # noqa: E402
from lib import EOT, must, ok, run  # noqa: E402
from places import IN, SPECIAL, encode, from_records, in_jsonl, made_up, made_up_source, models, packed  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 80)


def one(number):
    rng = random.Random(f"{SEED}/{number}")
    how = {"form": rng.choice(["text", "text", "text", "jsonl", "jsonl", "null", "wet"]), "model": rng.choice(list(SPECIAL)),
           "eot": rng.choice(["none", "before", "after"]), "special": rng.choice(["token", "token", "text"]),
           "invalid": rng.choice(["error", "replace", "skip", "bytes"])}
    how["id"] = rng.choice(["", "--id=id", "--id=meta.id"]) if how["form"] == "jsonl" else ""
    if how["form"] == "jsonl" and how["invalid"] == "bytes":
        how["invalid"] = "error"
    how["compressed"] = rng.random() < 0.4
    sources = [made_up_source(rng, how) for _ in range(rng.choice([1, 2, 3]))]
    names = []
    for i, data in enumerate(sources):
        names.append(f"{number}.{i}")
        if how["compressed"]:
            ext, data = packed(rng, data)
            names[i] += "." + ext
        lib.write(names[i], data)
    options = ["-m", how["model"] + ".json", "--invalid=" + how["invalid"], "-b", str(rng.choice([1, 2, 5, 13, 100, 1000]))]
    if how["special"] == "text":
        options += ["--no-special"]
    options += {"text": [], "jsonl": ["--jsonl", "--on-error=skip"], "null": ["--null"], "wet": ["--wet"]}[how["form"]]
    options += [how["id"]] if how["id"] else []
    options += ["--inline"] if rng.random() < 0.4 else []
    tag = f"round {number}: {options} {how}"
    code, chunks, err = run(["bpe-chunk", *options, *names])
    if not ok(code == 0, f"{tag}: chunks", err):
        return
    found, text = from_records(encode(rng, chunks, how), how["form"])
    for i, data in enumerate(sources):
        want = IN[how["form"]](data, how)
        got = found.get(i, [])
        at = next((k for k, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))
        ok(got == want and text.get(i, 0) == len(data), f"{tag}: documents of {names[i]}",
           f"{text.get(i, 0)} of {len(data)} bytes; {len(got)} of {len(want)}; {at}: got {got[at:at + 3]}, not {want[at:at + 3]} in {data[:300]}")
    for name in names:
        os.remove(name)


def windows():
    """Pieces that are read in several windows."""
    rng = random.Random(SEED)
    for form, options in ("text", []), ("null", ["--null"]):
        how = {"form": form, "model": "two", "eot": "after", "special": "token", "invalid": "error"}
        text = made_up(rng, how, 300000)
        data = (text + b"\0" if form == "null" else b"") + text * 3
        lib.write("large", data)
        out = must("bpe-encode", "-m", "two.json", "--eot=after", data=must("bpe-chunk", "-m", "two.json", *options, "large"))
        found, text = from_records(out, form)
        ok(found[0] == IN[form](data, how) and text[0] == len(data), f"{form}: a piece that is read in several windows")


def long_line():
    """A line of JSON that does not fit in memory."""
    how = {"form": "jsonl", "model": "one", "eot": "before", "special": "token", "invalid": "error", "id": "--id=id"}
    line = '{"text": "%s", "id": "after"}\n'
    data = (line % "a b" + line % ("x" * 1000 + EOT + "\\n word " * 1250000) + "\n" + line % "after").encode()
    lib.write("long.jsonl", data)
    lib.write("long.jsonl.zst", lib.pzstd([data]))
    want = in_jsonl(data, how)
    ok(len(want) == 4 and want[2][1] - want[1][0] > 9 << 20, "a line of more than 8 MiB")
    for options in ["long.jsonl"], ["--inline", "long.jsonl"], ["long.jsonl.zst"], ["long.jsonl.zst", "long.jsonl"]:
        out = must("bpe-encode", "-m", "one.json", "--eot=before", data=must("bpe-chunk", "-m", "one.json", "--jsonl", "--id=id", *options))
        ok(from_records(out, "jsonl")[0][0] == want, f"  {options}")


def main():
    global SEED
    SEED = lib.seed()
    models()
    lib.rounds(ROUNDS, one)
    windows()
    long_line()
    return lib.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        sys.exit(main())
