#!/usr/bin/env python3
"""conservation.py SECTION [SEED] - nothing is lost silently, nothing is counted twice.

Each section damages the streams of a small corpus in another way. Whatever happens, the result must be the identical model, or a
non-zero exit status with a reason and no model. Prints a line of the Test Anything Protocol, without a number, for each claim.
"""
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/.."]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import text, write  # noqa: E402

CODES = lib.ERRORS
SECTION = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
rng = random.Random(SEED)
TRIALS = int(os.environ.get("TRIALS") or 3)  # kills of each kind; other trials are in proportion


# ---- Running the programs ----

def run(name, *args, data=b"", timeout=120):
    """(exit status, standard output, standard error); a hang raises TimeoutExpired."""
    return lib.run(["bpe-" + name, *args], data, timeout)


def must(name, *args, data=b""):
    return lib.must("bpe-" + name, *args, data=data)


def finish(counts, *args):
    """Runs bpe-sum and bpe-merge on counts: (exit status, model, messages, exit status of bpe-sum)."""
    code, total, err = run("sum", *args, data=counts)
    merged, model, err2 = run("merge", "-v", "400", data=total)
    return merged, model, err + err2, code


class Verdict:
    """Compares results with the expected model, and counts them."""

    def __init__(self, want, name):
        self.want, self.name, self.same, self.refused, self.bad = want, name, 0, 0, []

    def see(self, result, what, expect=None):
        """expect: "same" or "refused" if only one is right."""
        code, model, err = result[:3]
        sum_code = result[3] if len(result) > 3 else code
        problem = None
        if code == 0 and model != self.want:
            problem = "exit 0 with another model"
        elif code == 0 and sum_code != 0:
            problem = "exit 0, but bpe-sum exits with %d" % sum_code
        elif code != 0 and model:
            problem = "exit %d, but there is a model" % code
        elif code != 0 and code not in CODES:
            problem = "exit status %d" % code
        elif sum_code < 0:
            problem = "bpe-sum: signal %d" % -sum_code
        elif code != 0 and sum_code == 0:
            problem = "exit %d, but bpe-sum exits with 0: %s" % (code, err)
        elif code != 0 and len(err) < 20:
            problem = "exit %d without a reason" % code
        elif expect == "same" and code != 0:
            problem = "refused: " + err
        elif expect == "refused" and code == 0:
            problem = "not refused"
        if problem:
            self.bad.append("%s: %s" % (what, problem))
        elif code == 0:
            self.same += 1
        else:
            self.refused += 1
        return problem is None

    def report(self, some_same=False, some_refused=False):
        n = self.same + self.refused + len(self.bad)
        if some_same and not self.same:
            self.bad.append("no trial gave the model")
        if some_refused and not self.refused:
            self.bad.append("no trial was refused")
        print("%s - %s (%d trials: %d identical, %d refused)" % ("not ok" if self.bad else "ok", self.name, n, self.same, self.refused))
        for line in self.bad[:8]:
            print("# " + line.replace("\n", " | ")[:600])
        if self.bad:
            print("# %d problems; seed %d" % (len(self.bad), SEED))
        sys.stdout.flush()


def claim(good, name, why=""):
    print("%s - %s" % ("ok" if good else "not ok", name))
    if not good:
        print("# %s; seed %d" % (str(why).replace("\n", " | ")[:600], SEED))
    sys.stdout.flush()


# ---- A small corpus ----

class Corpus:
    """The records of a run: chunks, a promise, and the counts of each chunk, from separate processes."""

    def __init__(self, *args, data=b""):
        stream = R.split(must("chunk", *args, data=data))
        self.chunks = [r for r in stream if R.kind(r) in "CR"]
        self.promise = list(dict.fromkeys(r for r in stream if R.kind(r) == "P"))  # it may be at both ends
        self.stream = b"".join(stream)
        self.batches = [R.split(self.count(c)) for c in self.chunks]
        whole = must("count", data=self.stream)
        self.sum = must("sum", data=whole)
        self.words = R.words(self.sum)
        self.model = must("merge", "-v", "400", data=self.sum)

    @staticmethod
    def count(*chunks):
        return must("count", data=b"".join(chunks))

    def counts(self):
        return b"".join(itertools.chain(*self.batches, self.promise))


def small(block="4K", size=40000):
    write("a.txt", text(1, size // 2))
    write("b.txt", text(2, size // 2, "one"))
    c = Corpus("--inline", "-b", block, "a.txt", "b.txt")
    c.stream = b"".join(c.chunks + c.promise)  # the promise only once: of two, one may be lost
    return c


def cut_places(stream, n_random):
    borders = [0]
    for r in R.split(stream):
        borders.append(borders[-1] + len(r))
    places = {b + d for b in borders for d in (-1, 0, 1)} | {rng.randrange(len(stream)) for _ in range(n_random)}
    return sorted(p for p in places if 0 <= p < len(stream))


def count_then_finish(stream):
    """Runs damaged chunks through the rest of the pipeline. bpe-count's exit status is ignored, as under `parallel`."""
    code, counts, err = run("count", data=stream)
    if code < 0:
        return code, b"", err, code
    merged, model, err2, code = finish(counts)
    return merged, model, err + err2, code


# ---- Sections ----

def section_cuts():
    """Streams cut at any byte."""
    c = small()
    for name, stream, end in (("chunks", c.stream, count_then_finish), ("counts", c.counts(), finish)):
        v = Verdict(c.model, "the stream of %s cut at any byte is refused" % name)
        for at in cut_places(stream, 8 * TRIALS):
            v.see(end(stream[:at]), "cut at %d of %d" % (at, len(stream)), "refused")
        v.report()
        v = Verdict(c.model, "the stream of %s without its first bytes is refused" % name)
        for at in cut_places(stream, 2 * TRIALS)[1:]:
            v.see(end(stream[at:]), "begun at %d of %d" % (at, len(stream)), "refused")
        v.report()
    v = Verdict(c.model, "a sum cut at any byte is refused")
    for at in cut_places(c.sum, 8 * TRIALS):
        code, model, err = run("merge", "-v", "400", data=c.sum[:at])
        v.see((code, model, err), "cut at %d of %d" % (at, len(c.sum)), "refused")
        merged, model, err, code = finish(c.sum[:at])
        v.see((merged, model, err, code), "summed, cut at %d of %d" % (at, len(c.sum)), "refused")
    v.report()
    v = Verdict(c.model, "a torn record in the middle, glued to the next, is refused")
    stream = c.counts()
    for _ in range(4 * TRIALS):
        a, b = sorted(rng.randrange(len(stream)) for _ in range(2))
        if a < b:
            v.see(finish(stream[:a] + stream[b:]), "without %d-%d" % (a, b))
    v.report(some_refused=True)


def section_flips():
    """Single bits."""
    c = small()
    for name, stream, end in (("chunks", c.stream, count_then_finish), ("counts", c.counts(), finish), ("the sum", c.sum, finish),
                              ("the sum, for bpe-merge", c.sum, lambda s: run("merge", "-v", "400", data=s))):
        v = Verdict(c.model, "a flipped bit in %s is refused" % name)
        starts = list(itertools.accumulate([0] + [len(r) for r in R.split(stream)]))[:-1]
        places = [rng.randrange(len(stream)) for _ in range(7 * TRIALS)]
        places += [rng.choice(starts) + rng.randrange(R.HEADER + 40) for _ in range(5 * TRIALS)]  # headers and fields
        for at in places:
            at = min(at, len(stream) - 1)
            bad = bytearray(stream)
            bad[at] ^= 1 << rng.randrange(8)
            v.see(end(bytes(bad)), "byte %d: %#x, was %#x" % (at, bad[at], stream[at]), "refused")
        v.report()
    v = Verdict(c.model, "some changed bytes are refused")
    for _ in range(8 * TRIALS):
        stream = rng.choice((c.counts(), c.sum))
        bad = bytearray(stream)
        for _ in range(rng.randint(1, 6)):
            bad[rng.randrange(len(bad))] = rng.choice((0, 10, 255, 0x31, rng.randrange(256)))
        v.see(finish(bytes(bad)), "bytes", "refused" if bytes(bad) != stream else "same")
    v.report()


def section_moves():
    """Whole records that are lost, repeated, moved, or come from another run."""
    c = small()
    one, other = R.split(c.counts()), small("8K", 30000)
    v = Verdict(c.model, "a lost record of counts is noticed")
    for i in range(len(one)):
        v.see(finish(b"".join(one[:i] + one[i + 1:])), "record %d (%s)" % (i, R.kind(one[i])), "refused")
    v.report()
    chunks = R.split(c.stream)
    v = Verdict(c.model, "a lost chunk is noticed")
    for i in range(len(chunks)):
        v.see(count_then_finish(b"".join(chunks[:i] + chunks[i + 1:])), "record %d" % i, "refused")
    v.report()
    v = Verdict(c.model, "repeated records do no harm, in any order")
    for i in range(4 * TRIALS):
        many = one + rng.choices(one, k=rng.randint(1, 20))
        rng.shuffle(many)
        v.see(finish(b"".join(many)), "shuffle %d" % i, "same")
        many = chunks + rng.choices(chunks, k=rng.randint(1, 6))
        rng.shuffle(many)
        v.see(count_then_finish(b"".join(many)), "shuffled chunks %d" % i, "same")
    v.report()
    v = Verdict(c.model, "many records lost or repeated")
    for i in range(6 * TRIALS):
        many = [r for r in one if rng.random() < 0.97] + rng.choices(one, k=3)
        rng.shuffle(many)
        v.see(finish(b"".join(many)), "mix %d" % i, "same" if set(many) >= set(one) else "refused")
    v.report(some_refused=True)
    v = Verdict(c.model, "records exchanged with another run's")
    theirs = R.split(other.counts())
    for i in range(5 * TRIALS):
        many = list(one)
        for _ in range(rng.randint(1, 3)):
            many[rng.randrange(len(many))] = rng.choice(theirs)
        v.see(finish(b"".join(many)), "exchange %d" % i, "refused")
    v.report()
    v = Verdict(None, "two runs are two corpora")
    both = Corpus("--inline", "a.txt", "b.txt", "a.txt", "b.txt")
    write("a.txt", text(1, 20000))
    write("b.txt", text(2, 20000, "one"))
    first, second = Corpus("--inline", "-b", "5K", "a.txt", "b.txt"), Corpus("a.txt", "b.txt")
    both = Corpus("a.txt", "b.txt", "a.txt", "b.txt")
    v.want = both.model
    records = R.split(first.counts() + second.counts())
    for i in range(20):
        v.see(finish(b"".join(records)), "shuffle %d" % i, "same")
        rng.shuffle(records)
    v.report()
    v = Verdict(None, "one run complete, another not")
    for i in range(len(R.split(second.counts()))):
        part = R.split(second.counts())
        v.see(finish(first.counts() + b"".join(part[:i] + part[i + 1:])), "without %d" % i, "refused")
    v.report()


def again(c, counts, how):
    """A second round: counts the missing ranges, and adds the first counts. how() returns the chunks to count."""
    code, out, err = run("sum", "--missing", "missing", data=counts)
    if code == 0:
        return finish(counts)
    if code != 75:
        return code, b"", err, code
    return finish(counts + must("count", data=how()))


def section_overlaps():
    """The same ranges counted in different groupings."""
    c = small()
    v = Verdict(c.model, "batches that overlap in part are never added up")
    w = Verdict(c.model, "  and the ranges then missing are counted in a second round")
    for i in range(60):
        k = len(c.chunks)
        counts = list(c.promise)
        for _ in range(rng.randint(1, 6)):
            a = rng.randrange(k)
            group = c.chunks[a:a + rng.randint(1, 5)]
            counts += R.split(c.count(*group))
        if rng.random() < 0.5:
            counts += itertools.chain(*c.batches)
        if rng.random() < 0.5:
            rng.shuffle(counts)
        v.see(finish(b"".join(counts)), "grouping %d" % i)
        w.see(again(c, b"".join(counts), lambda: must("chunk", "--only", "missing", "a.txt", "b.txt")), "grouping %d" % i, "same")
    v.report(some_refused=True)
    w.report()
    # By reference: pieces that cross the borders of other pieces.
    write("c.txt", text(3, 60000, "one"))
    r = Corpus("-b", "3K", "c.txt")
    code, stream, _ = run("chunk", "-b", "7K", "c.txt")
    v = Verdict(r.model, "pieces of one run with different borders are never added up")
    old = R.run_of(r.chunks[0])
    records = R.split(stream)
    crossing = []
    for record in records:
        if R.kind(record) == "R":
            crossing.append(R.split(R.make(("R", old + R.payload(record)[16:].rstrip(b"\0") + b"\0"))))
    for i in range(20):
        counts = R.split(r.count(*itertools.chain(*crossing))) + list(itertools.chain(*r.batches)) + r.promise
        rng.shuffle(counts)
        v.see(finish(b"".join(counts)), "order %d" % i)
        both = list(itertools.chain(*crossing)) + r.chunks + r.promise
        rng.shuffle(both)
        v.see(count_then_finish(b"".join(both)), "one worker, order %d" % i)
    v.report()
    # The first counts cover c.txt up to an offset inside a later piece.
    head = R.payload(r.chunks[0])
    cursor = R.Cursor(head)
    cursor.id(), cursor.s(), cursor.n(), cursor.n()
    fields = (cursor.n(), cursor.s(), cursor.s(), cursor.n(), cursor.n(), cursor.n(), cursor.n())
    rules = R.Cursor(head)
    rules.id()
    rule = rules.s()

    def piece(begin, end):
        return R.make(("R", old + R.s(rule) + R.n(0) + R.n(1) + R.n(fields[0]) + R.s(fields[1]) + R.s(fields[2]) + R.n(fields[3]) +
                       R.n(fields[4]) + R.n(fields[5]) + R.n(0) + R.n(1) + R.n(begin) + R.n(end - begin)))
    cuts = [0] + sorted(p.end for record in r.chunks for p in R.pieces(record))
    claim(len(cuts) > 8, "the corpus has enough pieces", cuts)
    a, b = cuts[3], cuts[6]
    counts = r.count(piece(0, b)) + b"".join(r.promise)
    v = Verdict(r.model, "a worker's own overlapping pieces")
    late = r.count(piece(a, cuts[-1]))
    v.see(finish(counts + late), "0-%d and %d-end" % (b, a), "refused")
    v.see(again(r, counts + late, lambda: open("missing", "rb").read()), "second round", "same")
    v.see(count_then_finish(piece(0, b) + piece(a, cuts[-1]) + b"".join(r.promise)), "in one worker", "refused")
    v.see(count_then_finish(piece(0, b) + piece(b, cuts[-1]) + b"".join(r.promise)), "other borders", "same")
    v.see(count_then_finish(piece(0, b) + piece(a, b) + piece(b, cuts[-1]) + b"".join(r.promise)), "one within another", "same")
    v.report()
    v = Verdict(r.model, "a piece that does not end at a split point")
    for at in (1, 5000, 5001, 5002, 5003):
        v.see(count_then_finish(piece(0, at) + piece(at, cuts[-1]) + b"".join(r.promise)), "at %d" % at)
    v.report(some_refused=True)


def section_missing():
    """Second rounds, for each kind of input."""
    write("t.txt", text(5, 70000))
    write("u.txt", text(12, 50000, "one") + b"ends so\n\n")
    for name, tool in (("zst", ["zstd", "-q", "-f"]), ("gz", ["gzip", "-k", "-f"])):
        subprocess.run(tool + ["t.txt"], check=True)
    subprocess.run(["sh", "-c", "gzip -c t.txt u.txt > tu.gz; cat t.txt u.txt > tu.txt"], check=True)
    write("t.jsonl", b"".join(b'{"text": "%d \\u00e9 line %d\\nand  more\\n\\nBut %d"}\n' % (i, i * 7, i % 13) for i in range(2500)))
    kinds = (("by reference", ["t.txt", "u.txt"], None, None), ("--inline", ["--inline", "t.txt", "u.txt"], None, ["t.txt", "u.txt"]),
             ("--inline, from the files", ["--inline", "t.txt", "u.txt"], None, None),
             ("zstd", ["t.txt.zst"], None, ["t.txt.zst"]), ("gzip, two members", ["tu.gz"], None, ["tu.gz"]),
             ("standard input", ["-"], "tu.txt", ["-"]), ("mixed", ["t.txt", "t.txt.zst", "u.txt"], None, ["t.txt.zst"]),
             ("JSON Lines by reference", ["--jsonl", "t.jsonl"], None, None),
             ("JSON Lines from standard input", ["--jsonl", "-"], "t.jsonl", ["-"]),
             ("a regex", ["-e", r"\p{L}+|\P{L}", "t.txt"], None, None), ("cl100k --inline", ["--inline", "-p", "cl100k", "tu.txt"], None, ["tu.txt"]))
    for name, args, source, files in kinds:
        given = open(source, "rb").read() if source else b""
        c = Corpus("-b", "6K", *args, data=given)
        v = Verdict(c.model, "--missing and a second round: " + name)

        def how():
            if files is None:
                return open("missing", "rb").read()
            return must("chunk", "--only", "missing", *rng.choice((["-b", "2K"], ["-b", "50K"], [])), *files, data=given)
        for i in range(8):
            some = [b for b in c.batches if rng.random() < (0.5 if len(c.batches) > 1 else 0)]
            counts = b"".join(itertools.chain(*some, c.promise))
            v.see(finish(counts), "incomplete %d" % i, "same" if len(some) == len(c.batches) else "refused")
            v.see(again(c, counts, how), "round %d" % i, "same")
            # The same with a partial sum.
            code, part, err = run("sum", "--partial", "--missing", "missing", data=counts)
            if code:
                v.bad.append("--partial: exit %d %s" % (code, err))
                continue
            more = must("count", data=how()) if os.path.getsize("missing") else b""
            v.see(finish(part), "only a partial sum", "same" if len(some) == len(c.batches) else "refused")
            v.see(finish(part + more), "a partial sum completed", "same")
            v.see(finish(more + part), "in the other order", "same")
            code, model, err = run("merge", "--partial", "-v", "300", data=part)
            if some and (code or not model):
                v.bad.append("bpe-merge --partial: exit %d %s" % (code, err))
        v.report()
    code, out, err = run("count", "missing")
    c = Corpus("-b", "6K", "t.txt.zst")
    run("sum", "--missing", "missing", data=b"".join(c.promise))
    code, out, err = run("count", "missing")
    claim(code == 65 and "--only" in err, "bpe-count refuses a list of text by value, and names --only", (code, err))
    code, out, err = run("chunk", "--only", "missing")
    claim(code == 64 and "t.txt.zst" in err, "--only without the file: the message names it", (code, err))
    write("t.txt.zst", b"")
    code, out, err = run("chunk", "--only", "missing", "t.txt.zst")
    claim(code in (65, 75), "--only with a file that has changed", (code, err))
    write("missing2", open("missing", "rb").read() + must("sum", "--partial", data=c.counts()))
    code, out, err = run("chunk", "--only", "missing2", "t.txt.zst")
    claim(code == 65, "--only with a file that is not a list of ranges", (code, err))
    v = Verdict(None, "--only: a read that ends with the file ends the document")
    for block in (4096, 8192):
        write("w.txt", (b"word and\nMore " * 1000)[:block * 5 // 4 - 2] + b"\n\n")
        c = Corpus("--inline", "w.txt")
        v.want = c.model
        missing = lambda: must("chunk", "--only", "missing", "-b", str(block), "w.txt")  # noqa: E731
        v.see(again(c, b"".join(c.promise), missing), "blocks of %d" % block, "same")
        if R.words(must("sum", data=b"".join(c.promise) + must("count", data=missing()))) != c.words:
            v.bad.append("blocks of %d: other words" % block)
    v.report()


def section_trees():
    """Sums of sums, and partial sums, in trees of any shape."""
    c = small()
    v = Verdict(c.model, "trees of sums, three deep")
    for i in range(12):
        level = [b"".join(b) for b in c.batches] + [b"".join(c.promise)]
        for _ in range(3):
            rng.shuffle(level)
            k = rng.randint(2, 4)
            groups = [b"".join(level[j:j + k]) for j in range(0, len(level), k)]
            level = []
            for g in groups:
                code, out, err = run("sum", "--partial", *rng.choice(([], ["-S", "1M"], ["-S", "64K"])), data=g)
                level.append(out)
                if code:
                    v.bad.append("exit %d: %s" % (code, err))
        top = b"".join(level)
        v.see(finish(top), "tree %d" % i, "same")
        total = must("sum", data=top)
        if R.words(total) != c.words:
            v.bad.append("tree %d: other words" % i)
        v.see(finish(top + c.counts()), "with the counts again %d" % i)
        lost = list(level)
        if len(lost) > 1:
            lost.pop(rng.randrange(len(lost)))
            code = finish(b"".join(lost))
            v.see(code, "without one branch")
    v.report()
    total = must("sum", data=c.counts())
    v = Verdict(c.model, "a duplicate sum counts once")
    v.see(finish(total + total), "twice", "same")
    v.see(finish(total + must("sum", data=total)), "summed again", "same")
    v.see(finish(total + c.counts()), "followed by its own counts", "same")
    v.see(finish(c.counts() + total), "after its own counts", "same")
    v.report()
    if True:
        # Two runs in one sum, and one of the runs again.
        write("d.txt", text(9, 9000))
        d = Corpus("d.txt")
        both = must("sum", data=c.counts() + d.counts())
        v = Verdict(must("merge", "-v", "400", data=both), "a sum over two runs")
        v.see(finish(both), "alone", "same")
        v.see(finish(both + both), "twice", "same")
        v.see(finish(both + d.counts()), "followed by one of them", "same")
        v.see(finish(d.counts() + both), "one of them first")
        v.see(finish(d.sum + both), "the sum of one first")
        for r in range(len(R.split(both))):
            part = R.split(both)
            v.see(finish(b"".join(part[:r] + part[r + 1:])), "without record %d" % r, "refused")
        write("e.txt", text(10, 7000))
        e = Corpus("e.txt")
        for r in range(len(R.split(both))):
            part = R.split(both)
            v.see(finish(b"".join(part[:r] + part[r + 1:]) + e.counts()), "a third run, and the two without record %d" % r, "refused")
        v.report()


def section_changed():
    """Files that have changed when they are counted."""
    data = text(6, 90000)

    def fresh():
        write("f.txt", data)
        os.utime("f.txt", ns=(10 ** 18, 10 ** 18))
    changes = {
        "content and time": lambda: write("f.txt", data.replace(b"e", b"E")),
        "one byte more": lambda: write("f.txt", data + b"x"),
        "cut short": lambda: os.truncate("f.txt", 50000),
        "empty": lambda: os.truncate("f.txt", 0),
        "only the time, by a nanosecond": lambda: os.utime("f.txt", ns=(10 ** 18, 10 ** 18 + 1)),
        "only the time, in the past": lambda: os.utime("f.txt", ns=(0, 0)),
        "replaced by another of the same size": lambda: (os.remove("f.txt"), write("f.txt", data[::-1])),
        "removed": lambda: os.remove("f.txt"),
        "a directory": lambda: (os.remove("f.txt"), os.mkdir("f.txt")),
    }
    for name, change in changes.items():
        fresh()
        stream = must("chunk", "-b", "8K", "f.txt")
        records = R.split(stream)
        change()
        v = Verdict(b"", "a file that changed between bpe-chunk and bpe-count: " + name)
        result = count_then_finish(stream)
        v.see(result, name, "refused")
        code, counts, err = run("count", data=stream)
        wanted = 66 if name in ("removed", "a directory") else 65
        if code != wanted or "f.txt" not in err or result[0] != wanted:
            v.bad.append("exit %d, pipeline %d: %s" % (code, result[0], err))
        v.report()
        if os.path.isdir("f.txt"):
            os.rmdir("f.txt")
    fresh()
    stream = must("chunk", "-b", "8K", "f.txt")
    first = run("count", data=stream)[1]
    del records
    # After it was counted, the file may change.
    os.remove("f.txt")
    claim(finish(first)[0] == 0, "counts from before the change stay valid")


def section_failures():
    """Failed attempts in the stream, and their retries."""
    c = small()
    write("bad.txt", text(7, 20000) + b"\xe9 bad\n" + text(8, 9000))
    stream = must("chunk", "-b", "4K", "bad.txt")
    code, counts, err = run("count", data=stream)
    merged, model, said, sum_code = finish(counts)
    claim(code == sum_code == merged == 65 and not model and said.count("bad.txt: byte 2") == 2,
          "bpe-merge repeats a failure's message and exit status", (code, sum_code, merged, said))
    # An attempt that fails because the file is missing, and another that succeeds.
    write("g.txt", text(4, 50000))
    r = Corpus("-b", "5K", "g.txt")
    os.rename("g.txt", "away")
    failed = [run("count", data=chunk)[1] for chunk in r.chunks]
    os.rename("away", "g.txt")
    claim(all(R.kind(R.split(f)[-1]) == "F" for f in failed), "a failed worker leaves a failure")
    v = Verdict(r.model, "failed attempts, then successful ones")
    for i in range(20):
        parts = rng.sample(failed, rng.randint(1, len(failed))) + [b"".join(b) for b in r.batches] + r.promise
        rng.shuffle(parts)
        v.see(finish(b"".join(parts)), "order %d" % i, "same")
        tear = R.split(rng.choice(failed))
        v.see(finish(b"".join(parts + tear[:-1])), "without the failure", "same")
    v.report()
    v = Verdict(r.model, "failed attempts without a retry")
    for i in range(20):
        lost = rng.randrange(len(r.batches))
        parts = [failed[0 if len(failed) == 1 else rng.randrange(len(failed))]] + \
                [b"".join(b) for j, b in enumerate(r.batches) if j != lost] + r.promise
        rng.shuffle(parts)
        v.see(finish(b"".join(parts)), "order %d" % i, "refused")
    v.report()
    # A failure of bpe-sum is passed on to bpe-merge.
    code, out, err = run("sum", data=b"no records at all")
    claim(code == 65 and R.kind(R.split(out)[-1]) == "F", "bpe-sum passes its own failure on", (code, out))
    code, model, err = run("merge", "-v", "300", data=out)
    claim(code == 65 and not model and "records" in err, "  and bpe-merge repeats it", (code, err))
    # A failure that names no run: the loss is unknown, so complete counts prove nothing.
    v = Verdict(c.model, "a failure without a run is final")
    v.see(finish(c.counts() + out), "after", "refused")
    v.see(finish(out + c.counts()), "before", "refused")
    for data in (c.sum + out, out + c.sum):
        v.see(run("merge", "-v", "400", data=data), "with a sum, into bpe-merge", "refused")
    late = run("sum", data=b"")[1]
    v.see(run("merge", "-v", "400", data=c.sum + late), "a complete sum and an incomplete one, into bpe-merge", "refused")
    v.report()
    # The first failure in the text is reported, in any order of arrival.
    write("bad2.txt", b"\xe9" + text(1, 3000) + b"\xf1")
    many = must("chunk", "--inline", "-b", "1K", "g.txt", "bad2.txt")
    parts = [run("count", data=x)[1] for x in R.split(many)]
    said = set()
    for _ in range(10):
        rng.shuffle(parts)
        said.add(finish(b"".join(parts))[2])
    claim(len(said) == 1 and "bad2.txt: byte 0" in said.pop(), "the first failure of several is reported, in any order", said)


def section_rules():
    """Counts made under other rules."""
    write("a.txt", text(1, 9000))
    base = Corpus("a.txt")
    v = Verdict(base.model, "counts made under other rules are refused")
    for args in (["-p", "cl100k"], ["-p", "bytes"], ["-e", r"\p{L}+|\P{L}"], ["-s", "X"], ["--no-special"],
                 ["-s", "<|endoftext|>", "-s", "Y"]):
        other = Corpus(*args, "a.txt")
        for pair in ((base, other), (other, base)):
            result = finish(pair[0].counts() + pair[1].counts())
            v.see(result, " ".join(args), "refused")
            result = finish(pair[0].sum + pair[1].sum)
            v.see(result, "sums: " + " ".join(args), "refused")
            if result[0] != 65:
                v.bad.append("%s: exit %d" % (args, result[0]))
    v.report()


def section_reading():
    """Counts of sources that were read in different ways add up if the rules are the same."""
    documents = [b"one two two\n", b"three\n\nfour four four\n", "f\u00fcnf\n".encode()]
    write("plain.txt", b"<|endoftext|>".join(documents))
    whole = Corpus("plain.txt")
    for i, document in enumerate(documents):
        write("d%d.txt" % i, document)
        write("d%d.jsonl" % i, json.dumps({"text": document.decode()}).encode() + b"\n")
        write("d%d.content" % i, json.dumps({"content": document.decode(), "text": 7}).encode() + b"\nno JSON\n")
    parts = [Corpus("--invalid=replace", "d0.txt"), Corpus("--jsonl", "--invalid=skip", "d1.jsonl"),
             Corpus("--jsonl=content", "--on-error=skip", "d2.content")]
    v = Verdict(whole.model, "plain text, JSON Lines of several fields and policies add up")
    for order in itertools.permutations(parts):
        v.see(finish(b"".join(p.counts() for p in order)), "counts", "same")
        v.see(finish(b"".join(p.sum for p in order)), "sums", "same")
    v.report()
    claim(R.words(must("sum", data=b"".join(p.sum for p in parts))) == R.words(whole.sum), "  to the counts of the whole")


def section_merge():
    """Input that bpe-merge must not accept as a sum."""
    c = small()
    cases = {"counts": c.counts(), "one batch of counts": b"".join(c.batches[0]), "chunks": c.stream, "text": text(1, 5000), "nothing": b"",
             "two sums": c.sum + Corpus("a.txt").sum, "a promise": b"".join(c.promise),
             "a sum and counts": c.sum + b"".join(c.batches[0]), "a sum and chunks": c.sum + c.stream, "a newline": b"\n",
             "ranges": Corpus("a.txt").stream,
             "a partial sum": must("sum", "--partial", data=b"".join(c.batches[0] + c.promise)),
             "complete counts in one batch": must("count", data=c.stream),
             "a sum with the counts of another": b"".join(R.split(Corpus("a.txt").sum)[:1] + R.split(c.sum)[1:]),
             "counts without a summary": b"".join(r for r in R.split(c.sum) if R.kind(r) == "W"),
             "a summary without counts": b"".join(r for r in R.split(c.sum) if R.kind(r) != "W")}
    for name, data in cases.items():
        code, out, err = run("merge", "-v", "400", data=data)
        wanted = {"chunks": (65,), "text": (65,), "ranges": (65,), "a newline": (65,), "two sums": (65,), "a sum and chunks": (65,)}
        claim(code in wanted.get(name, (65, 75)) and not out and err.startswith("bpe-merge: ") and err.count("\n") == 1,
              "bpe-merge refuses " + name, (code, len(out), err))
    code, out, err = run("merge", "-v", "400", data=c.sum + c.sum)
    claim((code, out) == (0, c.model) or (code in CODES and not out), "the same sum twice into bpe-merge", (code, err))
    code, out, err = run("merge", "-v", "300", "--partial", data=cases["a partial sum"])
    claim(code == 0 and out, "bpe-merge --partial accepts a partial sum", (code, err))
    code, out, err = run("sum", data=b"")
    claim(code == 75 and "no records arrived" in err, "bpe-sum of empty input exits with 75", (code, err))
    code, out, err = run("sum", "--partial", data=b"")
    claim(code == 0 and not out and "no records arrived" in err, "  with --partial, it writes nothing, with a warning", (code, err))
    for name, data in (("chunks", c.stream), ("text", text(1, 5000))):
        code, out, err = run("sum", data=data)
        claim(code == 65 and err, "bpe-sum refuses " + name, (code, err))
    code, out, err = run("count", data=c.counts())
    claim(code == 65 and "bpe-sum" in err, "bpe-count refuses counts", (code, err))
    code, out, err = run("count", data=text(1, 5000))
    claim(code == 65 and "bpe-chunk" in err, "bpe-count refuses text", (code, err))


def section_crafted():
    """Records with correct checksums and contents that no program would write."""
    c = small()
    batch, seq = bytes(range(16)), 0
    run_id = R.run_of(c.promise[0])
    big = 2 ** 64 - 1
    commit = next(r for r in itertools.chain(*c.batches) if R.kind(r) == "K")
    cur = R.Cursor(R.payload(commit))
    cur.id(), cur.n(), cur.n(), cur.n(), cur.n()
    rules = R.s(cur.s())
    words = R.n(ord("W"))

    def end(t, n_words, checksum, runs, part=(0, 1), b=batch):
        body = words + rules + R.n(n_words) + checksum.to_bytes(8, "little") + R.n(0) + R.n(len(runs)) + b"".join(runs)
        return (t, b + R.n(n_words) + R.n(part[0]) + R.n(part[1]) + body)

    def a_run(i=run_id, whole=0, total=0, ranges=(), n=None):
        return i + R.n(0) + R.n(0) + R.s(b"") + R.n(whole) + R.n(total) + R.n(len(ranges) if n is None else n) + \
            b"".join(R.n(x) for r in ranges for x in r)
    other = bytes(16 * [7])
    cases = {
        "a source of number 2^28 - 1": [end("K", 0, 0, [a_run(ranges=[(2 ** 28 - 1, 0, 5)])])],
        "a source of number 2^64 - 1": [end("K", 0, 0, [a_run(ranges=[(big, 0, 5)])])],
        "2^40 parts": [end("K", 0, 0, [a_run()], (0, 2 ** 40))],
        "2^64 - 1 parts": [end("S", 0, 0, [a_run()], (5, big))],
        "a promise of 2^50 parts": [("P", other + R.n(3) + R.n(2 ** 50) + b"x")],
        "a promise of 2^60 inputs": [("P", other + R.n(0) + R.n(1) + rules + R.n(2 ** 60))],
        "promises of 2^64 bytes": [("P", other + R.n(0) + R.n(1) + rules + R.n(2) + 2 * (R.s(b"x") + R.s(bytes(4)) + R.n(2 ** 63) + R.n(1) + R.n(0) + R.n(0)))],
        "a range that ends before it begins": [end("K", 0, 0, [a_run(ranges=[(0, 9, 5)])])],
        "an empty range": [end("K", 0, 0, [a_run(ranges=[(0, 5, 5)])])],
        "a range up to 2^64 - 1": [end("K", 0, 0, [a_run(ranges=[(0, 0, big)])])],
        "more ranges than there are": [end("K", 0, 0, [a_run(n=2 ** 61)])],
        "more runs than there are": [("K", batch + R.n(0) + R.n(0) + R.n(1) + words + rules + R.n(0) + bytes(8) + R.n(0) + R.n(2 ** 62))],
        "a run twice in one commit": [end("K", 0, 0, [a_run(ranges=[(0, 0, 5)]), a_run(ranges=[(0, 0, 5)])])],
        "ranges that overlap in one commit": [end("K", 0, 0, [a_run(ranges=[(0, 0, 5), (0, 3, 9)])])],
        "a complete run twice in one summary": [end("S", 0, 0, [a_run(other, 1, 5), a_run(other, 1, 5)])],
        "a complete run with ranges": [end("S", 0, 0, [a_run(other, 1, 5, [(0, 0, 5)])])],
        "a summary of an incomplete run": [end("S", 0, 0, [a_run(other, 0, 5, [(0, 0, 5)])])],
        "a commit without runs": [end("K", 0, 0, [])],
        "a wrong number of counts": [end("K", 9, 0, [a_run(ranges=[(0, 0, 5)])])],
        "an empty pretoken": [("W", run_id + batch + R.n(0) + R.n(0) + R.n(0) + R.n(3)), end("K", 1, 0, [a_run(ranges=[(0, 0, 5)])])],
        "a count of 0": [("W", run_id + batch + R.n(0) + R.n(0) + R.s(b"x") + R.n(0))],
        "a long pretoken of 2^63 bytes": [("W", run_id + batch + R.n(0) + R.n(1) + R.n(2 ** 63) + R.n(3) + b"xyz")],
        "the end of a pretoken without its start": [("W", run_id + batch + R.n(0) + R.n(2) + b"xyz")],
        "a record of number 2^64 - 1": [("W", run_id + batch + R.n(big) + R.n(0) + R.s(b"x") + R.n(1))],
        "a failure with exit status 0": [("F", run_id + R.n(0) + R.n(0) + R.n(0) + R.s(b"all is well"))],
        "a failure with exit status 2^63": [("F", bytes(16) + R.n(big) + R.n(big) + R.n(2 ** 63) + R.s(b"x"))],
        "a failure with exit status 256": [("F", bytes(16) + R.n(big) + R.n(big) + R.n(256) + R.s(b"x"))],
        "a failure without a message": [("F", bytes(16) + R.n(big) + R.n(big) + R.n(65) + R.s(b""))],
        "an unknown type": [("Z", b"hello")],
        "an empty payload": [("K", b"")],
        "rules of 2^60 special tokens": [("P", other + R.n(0) + R.n(1) + R.s(R.n(0) + R.s(b"gpt2") + R.n(2 ** 60)) + R.n(0))],
    }
    incomplete = b"".join(itertools.chain(*c.batches[1:], c.promise))
    for name, parts in cases.items():
        made = R.make(*parts)
        v = Verdict(c.model, "a crafted record: " + name)
        try:
            for where, data in (("before the rest", made + c.counts()), ("after a complete sum", c.counts() + made)):
                v.see(finish(data), where)
            v.see(finish(made + incomplete), "in place of a batch", "refused")
            # The record alone may be accepted: two records can be a sum.
            for prog in (["merge", "-v", "300"], ["sum"], ["view"], ["view", "--check"], ["count"], ["sum", "--partial"]):
                code, out, err = run(*prog, data=made)
                if code != 0 and (code not in CODES or len(err) < 20 or (out and prog[0] == "merge")):
                    v.bad.append("%s: exit %d: %s" % (prog, code, err))
        except subprocess.TimeoutExpired:
            v.bad.append("hangs")
        v.report()
    overflow = R.make(("W", run_id + batch + R.n(0) + R.n(0) + R.s(b"x") + R.n(big)))
    twice = R.make(("W", run_id + batch + R.n(1) + R.n(0) + R.s(b"x") + R.n(big)))
    total = sum(int(r[11:27], 16) for r in (overflow, twice)) % 2 ** 64
    whole = R.make(end("S", 2, total, [a_run(other, 1, 5)]))
    code, out, err = run("sum", data=overflow + twice + whole)
    claim(code == 65 and "2^64" in err, "counts that add up to more than 64 bits are refused", (code, err))
    chunk = R.payload(c.chunks[0])
    cur = R.Cursor(chunk)
    cur.id(), cur.s()
    head = chunk[:cur.at]
    far = {"a chunk at offset 2^64 - 3": R.n(0) + R.s(b"x") + R.n(big - 2) + R.n(0) + R.n(0) + b"hello",
           "a chunk cut inside a pretoken": R.n(0) + R.s(b"x") + R.n(0) + R.n(1) + R.n(0) + b"hello",
           "an empty chunk": R.n(0) + R.s(b"x") + R.n(7) + R.n(0) + R.n(0),
           "a chunk of a source that is not in the promise": R.n(77) + R.s(b"x") + R.n(0) + R.n(0) + R.n(0) + b"hello",
           "a chunk beyond its source's end": R.n(0) + R.s(b"x") + R.n(10 ** 9) + R.n(0) + R.n(0) + b"hello"}
    for name, fields in far.items():
        v = Verdict(c.model, "a crafted record: " + name)
        made = R.make(("C", head + fields))
        v.see(count_then_finish(made + c.stream), "before")
        v.see(count_then_finish(c.stream + made), "after")
        v.see(count_then_finish(made), "alone", "refused")
        v.report()


def section_random():
    """Random operations on the records of a run, with the real programs."""
    corpora = [small(), ]
    write("e.txt", text(11, 30000))
    corpora.append(Corpus("-b", "2K", "e.txt"))
    rounds = max(8 * TRIALS, 32)
    v = [Verdict(c.model, "random operations on the records of a run") for c in corpora]
    for i in range(rounds):
        k = i % len(corpora)
        c = corpora[k]
        pool = [b"".join(b) for b in c.batches] + [b"".join(c.promise)]
        history = []
        for _ in range(rng.randint(1, 7)):
            op = rng.choice(("drop", "repeat", "shuffle", "retry", "regroup", "sum", "tear", "flip", "records", "sum", "failure"))
            history.append(op)
            j = rng.randrange(len(pool)) if pool else None
            if op == "drop" and j is not None and rng.random() < 0.4:
                pool.pop(j)
            elif op == "repeat" and j is not None:
                pool.append(pool[j])
            elif op == "shuffle":
                rng.shuffle(pool)
            elif op == "retry":
                pool.append(c.count(rng.choice(c.chunks)))
            elif op == "regroup":
                a = rng.randrange(len(c.chunks))
                pool.insert(rng.randrange(len(pool) + 1), c.count(*c.chunks[a:a + rng.randint(2, 4)]))
            elif op == "sum" and pool:
                part = rng.sample(pool, rng.randint(1, len(pool)))
                code, out, _ = run("sum", "--partial", *rng.choice(([], ["-S", "32K"])), data=b"".join(part))
                if code == 0 and rng.random() < 0.8:
                    for p in part:
                        pool.remove(p)
                pool.append(out)
            elif op == "tear" and j is not None and rng.random() < 0.3:
                r = R.split(pool[j]) if pool[j] else []
                pool[j] = b"".join(r[:rng.randrange(len(r) + 1)])
            elif op == "flip" and j is not None and pool[j] and rng.random() < 0.1:
                bad = bytearray(pool[j])
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
                pool[j] = bytes(bad)
            elif op == "records":
                try:
                    r = R.split(b"".join(pool))
                except R.Bad:
                    continue
                rng.shuffle(r)
                pool = r
            elif op == "failure":
                pool.append(run("count", data=rng.choice(c.chunks)[:-2])[1])
        v[k].see(finish(b"".join(pool), *rng.choice(([], ["-S", "32K"]))), "round %d: %s" % (i, " ".join(history)))
    for one in v:
        one.report(some_same=True, some_refused=True)


# ---- Killing ----

def descendants(root):
    """(pid, name, parent) of all processes below root."""
    kids = {}
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % pid) as f:
                stat = f.read()
        except OSError:
            continue
        name, rest = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:].split()
        if rest[0] != "Z":
            kids.setdefault(int(rest[1]), []).append((int(pid), name, int(rest[1])))
    out, todo = [], [root]
    while todo:
        for kid in kids.get(todo.pop(), []):
            out.append(kid)
            todo.append(kid[0])
    return out


def finish_without_orphans(p, may_have):
    try:
        return p.communicate(timeout=4 if may_have else 120)
    except subprocess.TimeoutExpired:
        if not may_have:
            raise
    ours = {pid for pid, _, _ in descendants(p.pid)} | {p.pid}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if os.getsid(pid) == p.pid and pid not in ours:
                os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return p.communicate(timeout=120)


def kill_one(line, victim, v, took):
    """Runs a shell command, kills processes named `victim` at a random moment, and judges the result. Returns how many were killed."""
    to_file = victim == "bpe-merge" or rng.random() < 0.5  # bpe-merge, when killed, may leave part of a model on standard output
    if os.path.exists("model"):
        os.remove("model")
    with tempfile.TemporaryFile() as err:
        p = subprocess.Popen(["bash", "-c", line + (" -o model" if to_file else "")], stdout=subprocess.PIPE, stderr=err,
                             start_new_session=True)
        moment = time.monotonic() + rng.uniform(0, 0.9 * took)
        while time.monotonic() < moment and p.poll() is None:
            time.sleep(0.002)
        killed, patience = 0, time.monotonic() + took
        while not killed and p.poll() is None and time.monotonic() < patience:
            # Only the first of parallel's processes: it would wait forever for its own helpers.
            them = [pid for pid, name, parent in descendants(p.pid)
                    if (name.startswith("bpe-") or name == "xargs" or (name == "parallel" and parent == p.pid)) and
                    (victim in ("any", "all", name)) and (to_file or name != "bpe-merge")]
            if them and victim == "any":
                them = [rng.choice(them)]
            for pid in them:
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except OSError:
                    pass
        try:
            # Orphans of parallel may wait for each other forever, and so do all processes that share their pipes.
            model, _ = finish_without_orphans(p, victim in ("parallel", "any", "all"))
        except subprocess.TimeoutExpired:
            alive = descendants(p.pid)
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
            v.bad.append("%s killed: hangs with %s" % (victim, alive))
            return 0
        err.seek(0)
        said = err.read().decode("utf-8", "replace")
    if to_file and os.path.exists("model"):
        with open("model", "rb") as f:
            model = f.read()
    what = "%s killed (%d)" % (victim, killed)
    if p.returncode == 137 and to_file and killed:
        # bpe-merge was killed: its file must be complete, or not exist.
        v.see((0 if model else 75, model, "bpe-merge was killed"), what)
    else:
        v.see((p.returncode, model, said), what)
    return killed


def section_kill():
    """kill -9 of any process at any moment, in pipelines as users write them."""
    data = text(21, 2 << 20) * 4
    write("big.txt", data)
    want = must("merge", "-v", "2000", data=must("sum", data=must("count", data=must("chunk", "big.txt"))))
    lines = {
        "parallel, text by value": ("bpe-chunk --inline big.txt | parallel -j2 --pipe bpe-count | bpe-sum | bpe-merge -v 2000",
                                    ["bpe-count", "bpe-chunk", "any", "bpe-sum", "bpe-merge", "parallel", "all"]),
        "parallel, by reference": ("bpe-chunk -b 64K big.txt | parallel -j2 --pipe --block 64K bpe-count | bpe-sum | "
                                   "bpe-merge -v 2000",
                                   ["bpe-count", "bpe-chunk", "any", "bpe-sum", "bpe-merge", "parallel", "all"]),
        "xargs into one pipe": ("bpe-chunk --inline big.txt >chunks; split -n l/7 chunks piece.; ls piece.* | "
                                "xargs -P2 -n1 bpe-count | bpe-sum | bpe-merge -v 2000",
                                ["bpe-count", "bpe-sum", "xargs", "bpe-merge", "any", "bpe-chunk", "all"]),
        "one process each": ("bpe-chunk --inline -b 64K big.txt | bpe-count -S 1M | bpe-sum -S 1M | bpe-merge -v 2000",
                             ["bpe-chunk", "bpe-count", "bpe-sum", "bpe-merge"]),
    }
    for name, (line, victims) in lines.items():
        if name.startswith("parallel") and not any(os.access(d + "/parallel", os.X_OK) for d in os.environ["PATH"].split(":")):
            print("ok - kill -9: %s # SKIP no GNU parallel" % name)
            continue
        v = Verdict(want, "kill -9 at random moments: " + name)
        start = time.monotonic()
        p = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        took = time.monotonic() - start
        v.see((p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")), "undisturbed", "same")
        killed = 0
        i = 0  # the kill may come too late, more often on a busy machine
        while i < TRIALS or (killed < 3 and i < 10 * TRIALS):
            killed += kill_one(line, victims[i % len(victims)], v, took) > 0
            i += 1
        if killed < 3:
            v.bad.append("processes were killed in only %d of %d trials" % (killed, i))
        v.report(some_refused=True)


sections = {k[8:]: f for k, f in list(globals().items()) if k.startswith("section_")}
sections[SECTION]()
