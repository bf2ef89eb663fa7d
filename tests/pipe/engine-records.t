#!/usr/bin/env python3
"""engine-records.t - the engines in Python (pipelines/records.py) read records as the programs do, and divide them into tasks. Records
that are cut off or damaged are refused, with the message of bpe-view.
"""
import importlib.util
import io
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE, HERE + "/../../pipelines"]
import lib  # noqa: E402
import records as R  # noqa: E402
from failure import Failure  # noqa: E402
from lib import must, ok, run  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 150)
spec = importlib.util.spec_from_file_location("engine_records", lib.TOP + "/pipelines/records.py")
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)


def read(stream):
    """(the records, the message about the stream or "")."""
    found = []
    try:
        for record in engine.records_of(io.BytesIO(stream)):
            found.append(record)
    except Failure as failure:
        return found, str(failure) if failure.status == 65 else f"{failure.status}: {failure}"
    return found, ""


def view(stream):
    """bpe-view's message about the stream, or ""."""
    return run(["bpe-view"], stream)[2].replace("bpe-view: ", "", 1).rstrip("\n")


def streams():
    for i in range(3):
        lib.write(f"t{i}", lib.text(i, 30000))
    names = ["t0", "t1", "t2"]
    yield "ranges", must("bpe-chunk", "-b", "1000", *names)
    yield "text", must("bpe-chunk", "--inline", *names)
    yield "compressed", must("bpe-chunk", "-", data=must("gzip", "-c", *names))
    yield "counts", must("bpe-count", data=must("bpe-chunk", *names))
    yield "a sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *names)))
    lib.write("m.json", must("bpe-merge", "-v", "300", data=must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *names)))))
    yield "tokens", must("bpe-encode", "-m", "m.json", data=must("bpe-chunk", "-m", "m.json", *names))
    yield "each type", R.make(*((kind, bytes(range(n))) for n, kind in enumerate("CRPWTKSFJ")), ("C", b""), ("C", b"\n" * 1000))


def units(name, stream):
    for size in 1, 1000, 50000, 1 << 30:
        got = list(engine.units_of(io.BytesIO(stream), size))
        alone = [unit for unit in got for record in R.split(unit)[:-1] if R.kind(record) == "R"]
        small = [unit for unit in got[:-1] if len(unit) < size and R.kind(R.split(unit)[-1]) != "R"]
        large = [unit for unit in got if len(unit) - len(R.split(unit)[-1]) >= size]
        ok(b"".join(got) == stream and not alone + small + large, f"{name}: units of {size} bytes", [len(unit) for unit in got])


def damaged(rng, stream):
    """The first records of a stream, cut off, or with one byte changed."""
    some = R.split(stream)[: rng.randrange(1, 4)]
    stream = bytearray(b"".join(record for record in some if len(record) < 100000) or stream[:100])
    at = rng.choice([rng.randrange(30), rng.randrange(len(stream)), len(stream) - 1 - rng.randrange(min(30, len(stream)))])
    at = min(at, len(stream) - 1)
    if rng.random() < 0.4:
        del stream[max(at, 1) :]
    else:
        stream[at] = rng.choice([10, 0xFF, 0x31, 0x30, 0x66, rng.randrange(256)])
    return bytes(stream)


def main():
    rng = random.Random(lib.seed())
    made = list(streams())
    for name, stream in made:
        ok(read(stream) == (R.split(stream), ""), f"{name}: complete records", read(stream)[1])
        units(name, stream)
    whole = b"".join(stream for _, stream in made)
    ok(read(whole) == (R.split(whole), "") and read(b"") == ([], ""), "streams one after the other, and none")
    stream = made[-1][1]
    ends = [sum(len(record) for record in R.split(stream)[:n]) for n in range(12)]
    cuts = [at for at in range(len(stream)) if bool(read(stream[:at])[1].endswith("cut off inside a record")) == (at in ends)]
    ok(not cuts, "a stream that is cut off anywhere inside a record", cuts)
    alone = R.split(made[3][1])[0]
    for wrong in [b"text\n", b"\xff", alone + b"x\n", b"\xff2" + alone[2:], alone[:3] + b"40000001" + alone[11:], alone[:3] + b"0000000g" + alone[11:],
                  alone[:4], alone[:-1]]:
        found, why = read(wrong)
        ok(why and why == view(wrong), f"{wrong[:30]}: the message of bpe-view", (why, view(wrong)))
    for number in range(ROUNDS):
        bad = damaged(rng, made[rng.randrange(len(made) - 1)][1])
        found, why = read(bad)
        said = view(bad)
        frame = any(words in said for words in ("cut off inside", "begins here", "no stream", "version", "length", "damaged header"))
        ok((bool(said) if why else not frame) and bad.startswith(b"".join(found)), f"round {number}: refused where bpe-view does",
           (bad[:60], why, said))
    return lib.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        sys.exit(main())
