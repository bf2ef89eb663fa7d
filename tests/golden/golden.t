#!/usr/bin/env python3
"""golden.t - records of every type equal those in records.txt, byte for byte.

For each, the programs' own functions must make the same payload and the same record (golden_put.c), the payload with a correct
header must give the record, and bpe-view must show the same as before. A change of the format fails here. If it is intended,
`golden.t --write` rewrites records.txt; review the difference, and see VERSIONS in bpe-records(5).
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
Records of every type, for golden.t: the type and name of each, its payload before byte stuffing, the whole record, and the
output of bpe-view.
"""


def folded(data):
    """Hexadecimal, in lines."""
    text = data.hex()
    return [text[i:i + 96] for i in range(0, len(text), 96)]


def view(records, name):
    """The output of bpe-view for a record, and for the record that it continues, if any."""
    before = {"long-more": "long-first"}.get(name)
    code, out, err = lib.run(["bpe-view"], (records[before][2] if before else b"") + records[name][2])
    return (out.decode() if code == 0 else err).splitlines()


def made():
    """{name: (type, payload, record)} from golden_put."""
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
    """{name: (type, payload, record, view)} from records.txt."""
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
    ok(list(got) == list(want), "the same records as in records.txt", f"{list(got)}, {list(want)}")
    ok({kind for kind, *_ in want.values()} == set("CRPWKSTF"), "there is one of each type")
    for name, (kind, payload, record, shown) in want.items():
        if name in got:
            ok(got[name][0] == kind and got[name][1] == payload, f"{name}: its payload", f"got {got[name][1].hex()}")
            ok(got[name][2] == record, f"{name}: the record", f"got {got[name][2].hex()}")
        ok(R.make((kind, payload)) == record, f"{name}: its header and stuffing")
        ok(R.kind(record) == kind and R.payload(record) == payload, f"{name}: another reader finds the payload")
        ok(view(want, name) == shown, f"{name}: the output of bpe-view", view(want, name))
    return lib.done()


sys.exit(main())
