#!/usr/bin/env python3
"""golden.t - records of every type are, byte for byte, what they were: records.txt.

For each, the programs' own functions must make the same payload and the same record (golden_put.c), a right header put before
the payload must give the record, and bpe-view must show it as it did. A change of the format shows here. If it is meant,
`golden.t --write` writes records.txt anew; look at the difference before you believe it, and see VERSIONS in bpe-records(5).
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE + "/../pipe"]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import ok  # noqa: E402

PATH = os.path.join(lib.TESTS, "golden", "records.txt")
HEAD = """\
Records of every type, for golden.t. Of each its name and type, its payload before the newlines are taken out, the whole record,
and what bpe-view shows of it.
"""


def folded(data):
    """Hexadecimal, in lines."""
    text = data.hex()
    return [text[i:i + 96] for i in range(0, len(text), 96)]


def view(records, name):
    """What bpe-view shows of a record; of one that goes on with another, what it shows of both."""
    before = {"long-more": "long-first"}.get(name)
    code, out, err = lib.run(["bpe-view"], (records[before][2] if before else b"") + records[name][2])
    return (out.decode() if code == 0 else err).splitlines()


def made():
    """{name: (type, payload, record)} of golden_put."""
    lines = lib.must(os.path.join(lib.BUILD, "tests/golden/golden_put")).decode().splitlines()
    return {name: (kind, bytes.fromhex(payload), bytes.fromhex(record)) for name, kind, payload, record in (line.split("\t") for line in lines)}


def write():
    with open(PATH, "w", encoding="utf-8") as f:
        f.write(HEAD)
        records = made()
        for name, (kind, payload, record) in records.items():
            f.write("\n".join(["", f"{kind} {name}", "payload", *("  " + line for line in folded(payload)),
                               "record", *("  " + line for line in folded(record)), "view", *("  " + line for line in view(records, name)), ""]))


def wanted():
    """{name: (type, payload, record, view)} of records.txt."""
    found, parts, part = {}, {}, []
    for line in lib.read(PATH).decode()[len(HEAD):].splitlines():
        if line.startswith("  "):
            part.append(line[2:])
        elif line in ("payload", "record", "view"):
            parts[line] = part = []
        elif line:
            kind, name = line.split(" ")
            parts = {}
            found[name] = kind, parts
    return {name: (kind, bytes.fromhex("".join(p["payload"])), bytes.fromhex("".join(p["record"])), p["view"])
            for name, (kind, p) in found.items()}


def main():
    if sys.argv[1:] == ["--write"]:
        write()
        return 0
    got, want = made(), wanted()
    ok(list(got) == list(want), "the records are those of records.txt", f"{list(got)}, {list(want)}")
    ok({kind for kind, *_ in want.values()} == set("CRPWKSTF"), "there is one of each type")
    for name, (kind, payload, record, shown) in want.items():
        if name in got:
            ok(got[name][0] == kind and got[name][1] == payload, f"{name}: its payload", f"got {got[name][1].hex()}")
            ok(got[name][2] == record, f"{name}: the record", f"got {got[name][2].hex()}")
        ok(R.make((kind, payload)) == record, f"{name}: its header and its stuffing")
        ok(R.kind(record) == kind and R.payload(record) == payload, f"{name}: another reader finds the payload in it")
        ok(view(want, name) == shown, f"{name}: what bpe-view shows of it", view(want, name))
    return lib.done()


sys.exit(main())
