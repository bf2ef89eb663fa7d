#!/usr/bin/env python3
"""weights.t - weighted sums are exact: Python's fractions give the same counts, in whatever order sums are added, and with whatever
weights on the way. Learning from weighted counts is learning from text that is repeated. Prints TAP.
"""
import fractions
import itertools
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/.."]
import lib  # noqa: E402
import records as R  # noqa: E402
from lib import must, ok, read, run, write  # noqa: E402

lib.own_directory(in_memory=True)
rng = random.Random(lib.seed())
Fraction = fractions.Fraction


def refused(code, message, *args, data=b"", sends=False):
    """The program exits with code, prints a line with this message, and writes nothing; sends: only a promise and
    a failure."""
    got, out, err = run(args, data)
    silent = not out or (sends and {R.kind(r) for r in R.split(out)} <= {"P", "F"})
    ok(got == code and message in err and err.count("\n") == 1 and silent, f"exit {code}: {' '.join(args)}", f"{got}: {err}")


def shown(weight):
    """A weight as an option, in one of its forms."""
    forms = [f"{weight.numerator}/{weight.denominator}", str(weight)]
    for places in range(7):
        if weight * 10 ** places == int(weight * 10 ** places):
            forms.append(f"{float(weight):.{places}f}")
            break
    return "--weight=" + rng.choice(forms)


def lines(total):
    """The counts as bpe-view shows them."""
    return [line for line in must("bpe-view", data=total).splitlines() if not line.startswith(b"#")]


# ---- Random sums of random sums ----

NAMES = [f"{i}.txt" for i in range(5)]
for i, name in enumerate(NAMES):
    long = "x" * rng.randrange(4000, 9000) + name if i % 2 else ""
    write(name, lib.text(rng.randrange(1 << 30), rng.choice((300, 3000, 60000))) + long.encode())
    write(name + ".counts", must("bpe-count", data=must("bpe-chunk", name)))
    write(name + ".sum", must("bpe-sum", name + ".counts"))
COUNTS = {name: R.words(read(name + ".counts")) for name in NAMES}


def some_weight():
    return rng.choice((Fraction(rng.randrange(1, 12)), Fraction(rng.randrange(1, 9), rng.randrange(1, 9)), Fraction(1), Fraction(3, 10),
                       Fraction(rng.randrange(1, 1000), 1000)))


def wanted(weights):
    """The exact counts, and their common denominator."""
    out = {}
    for name, weight in weights.items():
        for word, n in COUNTS[name].items():
            out[word] = out.get(word, 0) + n * weight
    return out, math.lcm(*(w.denominator for w in weights.values()))


def add(weights):
    """Adds the sources, each with its weight in the end, in a random tree of sums."""
    if len(weights) == 1 and rng.random() < 0.7:
        (name, weight), = weights.items()
        return weight, name + rng.choice((".sum", ".counts"))
    parts = [{} for _ in range(rng.randint(1, 3))]
    for item in rng.sample(list(weights.items()), len(weights)):
        rng.choice(parts).update([item])
    outer, args, fed = Fraction(rng.randrange(1, 6), rng.randrange(1, 6)), [], b""  # the weight of this whole sum, further up
    for part in filter(None, parts):
        weight, path = add({name: w / outer for name, w in part.items()})
        args.append(shown(weight))
        if fed or rng.random() < 0.7:
            args.append(path)
        else:
            args.append("-")
            fed = read(path)
    memory = rng.choice((["-S", "1M"], ["-S", "64K"], []))
    path = f"{next(numbers)}.sum"
    write(path, must("bpe-sum", *memory, *args, data=fed))
    return outer, path


numbers = itertools.count()
bad = []
for _ in range(12):
    weights = {name: some_weight() for name in rng.sample(NAMES, rng.randint(1, len(NAMES)))}
    direct = must("bpe-sum", *(word for name, w in weights.items() for word in (shown(w), name + ".sum")))
    outer, path = add(weights)
    tree = must("bpe-sum", shown(outer), path)
    want, denominator = wanted(weights)
    if R.words(tree) != want or R.words(direct) != want or lines(tree) != lines(direct):
        bad.append(f"{weights} as {path}")
    if denominator > 1 and not all(b"/%d\t" % denominator in line for line in lines(tree)):
        bad.append(f"{weights} as {path}: the denominator is not {denominator}: {lines(tree)[0]}")
    given = R.weights(tree)
    if sorted(w for w, sources in given.values()) != sorted(weights.values()) and set(weights.values()) != {1}:
        bad.append(f"{weights} as {path}: it has the weights {given}")
ok(not bad, "random sums of sums, with random weights, are exact, and the same in every order", "\n".join(bad))

plain = must("bpe-sum", "0.txt.sum", "1.txt.sum")
for name, args in (("the weight 1", ["--weight=1", "0.txt.sum", "--weight=1.0", "1.txt.sum"]),
                   ("a weight and its reciprocal", ["--weight=3/2", "w.sum", "1.txt.sum"])):
    write("w.sum", must("bpe-sum", "--weight=2/3", "0.txt.sum"))
    args = [arg if name == "the weight 1" or arg != "1.txt.sum" else "--weight=1" for arg in args] + (
        ["1.txt.sum"] if name != "the weight 1" else [])
    got = must("bpe-sum", *args)
    same = [R.payload(a)[32:] == R.payload(b)[32:] for a, b in zip(R.split(got), R.split(plain)) if R.kind(a) == "W"]
    ok(all(same) and lines(got) == lines(plain) and not R.weights(got) and b"weight" not in got, f"{name} leaves no trace")

# ---- Which counts have which weight ----

write("two.sum", must("bpe-sum", "--weight=2", "0.txt.sum", "--weight=1/3", "1.txt.sum"))
code, out, err = run(["bpe-sum", "two.sum", "--weight=2", "0.txt.sum"])
ok(code == 0 and lines(out) == lines(read("two.sum")) and "added only once" in err, "a source that is added again counts once", err)
refused(65, "0.txt.sum: byte ", "bpe-sum", "two.sum", "0.txt.sum", sends=True)
refused(65, "the same run have the weight 2 in an earlier input, and 1/2 here", "bpe-sum", "two.sum", "--weight=0.5", "0.txt.counts",
        sends=True)
refused(65, "the same counts came with the weight 2 in an earlier input, and come with 3 here", "bpe-sum", "--weight=2", "0.txt.sum",
        "--weight=3", "0.txt.sum", sends=True)
ok(b" weight=2 complete\n" in must("bpe-view", "two.sum") and b" weight=1/3 complete\n" in must("bpe-view", "two.sum"),
   "bpe-view shows the weight of each run")
ok(must("bpe-view", "--check", "two.sum").startswith(b"complete: "), "bpe-view --check accepts a weighted sum")

# Part of a run first, the rest later with the same weight.
chunks = R.split(must("bpe-chunk", "--inline", "-b", "500", "0.txt"))
part = b"".join(chunks[:2] + chunks[-1:])
write("part.sum", must("bpe-sum", "--partial", "-q", "--weight=5/7", "--missing=todo", data=must("bpe-count", data=part)))
rest = must("bpe-count", data=must("bpe-chunk", "--only=todo", "0.txt"))
if R.split(rest)[1:]:
    done = must("bpe-sum", "part.sum", "--weight=5/7", "-", data=rest)
    ok(R.words(done) == {word: n * Fraction(5, 7) for word, n in COUNTS["0.txt"].items()}, "an incomplete weighted sum is completed")
    refused(65, "the weight 5/7 in an earlier input, and 1 here", "bpe-sum", "part.sum", "-", data=rest, sends=True)

# Denominators take space, but a record is at most PIPE_BUF bytes long.
write("long.txt", "\n".join("x" * n for n in range(4000, 4070)))
write("long.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "long.txt"))))
total, finest = must("bpe-sum", "--weight=1/18446744073709551615", "long.sum"), Fraction(1, 2 ** 64 - 1)
ok(max(map(len, R.split(total))) <= 4096 and R.words(total) == {word: n * finest for word, n in R.words(read("long.sum")).items()},
   "records have room for the largest denominator")

# Weights that are damaged, or not those of the counts.
write("many.txt", lib.text(1, 60000))
write("third.sum", must("bpe-sum", "--weight=1/3", data=must("bpe-count", data=must("bpe-chunk", "many.txt"))))
given = R.s(b"weights") + R.n(1) + R.s(R.n(1) + R.n(3) + R.n(0))
for name, value in (("another denominator", R.n(1) + R.n(5) + R.n(0)), ("none", None), ("not in lowest terms", R.n(2) + R.n(6) + R.n(0)),
                    ("zero", R.n(0) + R.n(3) + R.n(0)), ("no source's", R.n(1) + R.n(3)), ("more bytes", R.n(1) + R.n(3) + R.n(0) + R.n(0)),
                    ("a source of 0 bytes", R.n(1) + R.n(3) + R.n(1) + R.n(2) + R.n(1) + R.n(0)),
                    ("a source of too many bytes", R.n(1) + R.n(3) + R.n(1) + R.n(2) + R.n(1) + R.n(2 ** 63)),
                    ("sources that are not in order", R.n(1) + R.n(3) + R.n(2) + R.n(2) + R.n(1) + R.n(1) + R.n(1) + R.n(2) + R.n(1)),
                    ("a source with the weight 1", R.n(1) + R.n(3) + R.n(1) + R.n(1) + R.n(1) + R.n(1))):
    *words, end = R.split(read("third.sum"))
    content = R.payload(end)
    assert content.count(given) == 1
    damaged = content.replace(given, R.s(b"weights") + R.n(1) + R.s(value) if value else b"")
    write("damaged.sum", b"".join(words) + R.make((R.kind(end), damaged)))
    why = "denominator" if name in ("another denominator", "none") else "damaged"
    for program, *path in ["bpe-sum", "damaged.sum"], ["bpe-sum", "-S", "16K", "damaged.sum"], ["bpe-sum"], ["bpe-merge", "-v", "300"]:
        refused(65, why, program, *path, data=b"" if "damaged.sum" in path else read("damaged.sum"), sends=True)
*words, end = R.split(read("third.sum"))
head, last = 32 + len(R.n(len(words) - 1)), R.payload(words[-1])
assert len(words) > 1 and last[head:head + 2] == R.n(3) + R.n(3)
write("damaged.sum", b"".join(words[:-1]) + R.make(("W", last[:head + 1] + R.n(5) + last[head + 2:])) + end)
refused(65, "", "bpe-sum", "damaged.sum", sends=True)
refused(65, "several denominators", "bpe-sum", data=read("damaged.sum"), sends=True)
refused(65, "several sums", "bpe-merge", "-v", "300", data=read("damaged.sum"), sends=True)

must("bpe-merge", "-v", "300", "-o", "model.json", "0.txt.sum")
refused(65, "two.sum has weights", "bpe", "describe", "-m", "model.json", "two.sum")

# ---- Weights of bpe-chunk ----

weights = {"0.txt": Fraction(2), "1.txt": Fraction(1, 3), "2.txt": Fraction(1)}
words = [word for name, w in weights.items() for word in (shown(w), name)]
for form in [], ["--inline"], ["-b", "2K"], ["--dealt"]:
    chunks = must("bpe-chunk", *form, *words)
    records = R.split(chunks)
    rng.shuffle(records)
    half = [must("bpe-count", data=b"".join(records[i::2])) for i in range(2)]
    total = must("bpe-sum", data=b"".join(half))
    want, denominator = wanted(weights)
    ok(R.words(total) == want, f"bpe-chunk {' '.join([*form, *words])}: each source has its weight")
(weight, sources), = R.weights(total).values()
ok(weight == 1 and sources == {Fraction(2): os.path.getsize("0.txt"), Fraction(1, 3): os.path.getsize("1.txt")},
   "the sum records how many bytes have which weight", sources)
again = must("bpe-sum", "--weight=3/2", data=total)
ok(R.words(again) == {word: n * Fraction(3, 2) for word, n in want.items()} and must("bpe-view", data=again).split(b"\t")[0].endswith(b"/2"),
   "bpe-sum multiplies them by another weight")
write("some", b"".join(r for r in R.split(must("bpe-chunk", "--inline", "-b", "500", *words)) if R.kind(r) == "P" or rng.random() < 0.5))
must("bpe-sum", "--partial", "-q", "--missing=todo", data=must("bpe-count", "some"))
total = must("bpe-sum", data=must("bpe-count", "some") + must("bpe-count", data=must("bpe-chunk", "--only=todo", *weights)))
ok(R.words(total) == want, "bpe-chunk --only keeps the weights of what is missing")
refused(64, "--only takes the rules from its file", "bpe-chunk", "--only=todo", "--weight=2", "0.txt", sends=True)
write("list", "0.txt\n1.txt\n")
ok(R.words(must("bpe-count", data=must("bpe-chunk", "--weight=2", "--files-from=list"))) == wanted({"0.txt": Fraction(2), "1.txt": Fraction(2)})[0],
   "a weight applies to a list of files")
refused(65, "these chunks have weights, which only bpe-count uses", "bpe-encode", "-m", "model.json", data=must("bpe-chunk", "--weight=2", "0.txt"),
        sends=True)

# ---- Learning ----

names = ["0.txt", "1.txt", "2.txt"]


def merge(total, *options):
    code, model, err = run(["bpe-merge", "-v", "500", "-f", "merges", *options], total)
    return model if code == 0 else err


def weighed(*weights):
    return must("bpe-sum", *(word for name, w in zip(names, weights) for word in (shown(Fraction(w)), name + ".sum")))


repeated = must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", *names, *names, names[0])))
ok(merge(weighed(3, 2, 2)) == merge(repeated), "learning from integer weights is learning from repeated text")
sevenths = weighed(Fraction(3, 7), Fraction(2, 7), Fraction(2, 7))
ok(merge(sevenths) == merge(repeated), "the same factor on all weights changes nothing")
for option in "--min-frequency", "--min-count":
    weighted, want, other = (merge(total, "-v", "5000", f"{option}={n}") for total, n in ((sevenths, 2), (repeated, 14), (repeated, 2)))
    ok(weighted == want != other, f"{option} counts whole occurrences")
must("bpe-merge", "-v", "300", "-o", "m", "--stats=weighted.tsv", data=sevenths)
must("bpe-merge", "-v", "300", "-o", "m", "--stats=repeated.tsv", data=repeated)
want = [[*line[:3], line[3] + b"/7", line[4]] for line in (line.split(b"\t") for line in read("repeated.tsv").splitlines())]
ok([line.split(b"\t") for line in read("weighted.tsv").splitlines()] == want, "--stats shows weighted counts as fractions")
must("bpe-merge", "-v", "300", "-o", "small.json", data=repeated)
ok(merge(sevenths, "--init=small.json", "--min-count=3") == merge(repeated, "--init=small.json", "--min-count=21") !=
   merge(repeated, "--init=small.json", "--min-count=3"), "--init, too")
ok(merge(weighed(3, 2, 2), "--min-count=9") == merge(repeated, "--min-count=9"), "  also with integer weights")

write("w3.sum", must("bpe-sum", "--weight=3", "0.txt.sum"))
for name, *words in (("half", "--weight=1/2", "0.txt.sum"), ("thirds", "--weight=2/3", "1.txt.sum"), ("one", "2.txt.sum"),
                     ("four", "--weight=4", "1.txt.sum"), ("six", "--weight=6", "2.txt.sum")):
    write(name, must("bpe-sum", *words))
parity = ["bpe-merge", "-v", "500", "-f", "merges", "--parity"]
sixfold = {"half": "w3.sum", "thirds": "four", "one": "six", "--min-count=2": "--min-count=12", "--min-frequency=2": "--min-frequency=12"}
for form in ["--ratio"], ["--dev", "one", "half", "thirds"], ["--global-merges=40", "--min-count=2"]:
    form = ["--min-frequency=2", *form]
    several = [sixfold.get(arg, arg) for arg in form]
    got = must(*parity, "half", "thirds", "one", *form, "--stats=weighted.tsv")
    want = must(*parity, "w3.sum", "four", "six", *several, "--stats=repeated.tsv")
    stats = [[*line[:3], line[3] + b"/6", line[4]] for line in (line.split(b"\t") for line in read("repeated.tsv").splitlines())]
    ok(got == want, f"--parity {' '.join(form)}: sums with several denominators")
    ok([line.split(b"\t") for line in read("weighted.tsv").splitlines()] == stats, "  and --stats shows the common one")

write("ab.txt", "ab")
write("ab.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "ab.txt"))))
for name, weight in ("large", "9000000000000000000"), ("prime", "1/4294967311"), ("another", "1/4294967357"), ("third", "1/3"):
    write(name, must("bpe-sum", f"--weight={weight}", "ab.sum"))
refused(65, "the weights have no common denominator below 2^64", *parity, "prime", "another")
for languages in ("large", "third"), ("third", "large"):
    refused(65, "2^64", *parity, *languages)
    ok("; use weights with smaller denominators" in run([*parity, *languages])[2], "  the message says what to do")

write("large.json", merge(repeated, "-f", "json"))
prune = ["bpe-model", "-f", "json", "--prune=80", "large.json"]
ok(must(*prune, data=sevenths) == must(*prune, data=repeated), "bpe-model --prune")

# ---- bpe train ----

want = merge(weighed(2, Fraction(1, 3), 1))
words = ["--weight=2", "0.txt", "--weight=1/3", "1.txt", "--weight=1", "--", "2.txt"]
for form in [], ["--fan-out=none"], ["--fan-out=xargs"], ["--via=cat | env"], ["--inline"], ["--keep=kept"], ["--keep=piped", "--inline"]:
    code, out, err = run(["bpe", "train", "-v", "500", "-f", "merges", *form, *words])
    ok(code == 0 and out == want, f"bpe train {' '.join([*form, *words])}", err)
for place in "kept/sum", "piped/sum", "piped/counts/file.00001":
    os.remove(place)
ok(run(["bpe", "train", "-v", "500", "-f", "merges", "--keep=piped", "--inline", *words])[1] == want, "--keep counts a part again with its weight")
refused(64, "kept was begun with:  -- '--weight' '2' '0.txt' '--weight' '1/3' '1.txt' '--weight' '1' '2.txt'", "bpe", "train", "-v", "500", "-f", "merges",
        "--keep=kept", *names)
must("bpe", "tasks", "plan", "-o", "tasks", *words)
must("bpe", "tasks", "run", "tasks", "0")
ok(must("bpe", "tasks", "train", "tasks", "-v", "500", "-f", "merges") == want, "bpe tasks plan")
split = must("bpe", "tasks", "split", "train", "x", "-v", "500", "-o", "m", *words).splitlines()[0]
write("split", b"eval \"$1\"; eval \"set -- $plan\"; bpe tasks plan -o split.tasks \"$@\"")
must("sh", "split", split.decode())
ok(read("split.tasks/chunks/asked") == read("tasks/chunks/asked"), "bpe tasks split keeps the places of weights")
ok(run(["bpe", "train", "-v", "500", "-f", "merges", "--weight=2/9"], read("0.txt"))[1] == merge(read("0.txt.sum")), "standard input with a weight")
os.link("0.txt", "-0.txt")
ok(run(["bpe", "train", "-v", "500", "-f", "merges", "--weight=2", "1.txt", "--weight=3", "--", "-0.txt"])[1] ==
   merge(must("bpe-sum", "--weight=2", "1.txt.sum", "--weight=3", "0.txt.sum")), "a file whose name begins with -")
write("tree.sum", must("bpe", "sum-tree", "-k", "2", "--weight=2", "0.txt.sum", "--weight=1/3", "1.txt.sum", "--weight=1", "--", "2.txt.sum"))
ok(merge(read("tree.sum")) == want, "bpe sum-tree")

# ---- What is refused ----

for weight, why in (("0", "must be greater than 0"), ("-1", "must be greater than 0"), ("1/0", "must be greater than 0"),
                    ("0/5", "must be greater than 0"), ("0.000", "must be greater than 0"), ("", "not a number"), ("two", "not a number"),
                    ("1/", "not a number"), ("1/2/3", "not a number"), ("1.5/2", "not a number"), ("0x2", "not a number"),
                    (" 2", "not a number"), ("1e", "not a number"), ("18446744073709551616", "below 2^64"), ("1e-20", "below 2^64"),
                    ("1e999999999999999999999", "below 2^64"), ("0.12345678901234567891", "below 2^64")):
    refused(64, why, "bpe-sum", f"--weight={weight}", "0.txt.sum", sends=True)
for weight in "18446744073709551615", "1/18446744073709551615", "1e19", "1e-19", "00003", "2.50e+3", "0.1000000000000000000000000000":
    write("one.txt", "a")
    total = must("bpe-sum", "--weight", weight, data=must("bpe-count", data=must("bpe-chunk", "one.txt")))
    ok(R.words(total)[b"a"] == Fraction(weight), f"--weight {weight}", R.words(total))
refused(64, "no FILE follows", "bpe-sum", "0.txt.sum", "--weight=2", sends=True)
refused(64, "no FILE follows", "bpe", "train", "-v", "500", "-f", "merges", "0.txt", "--weight=2")
write("b.txt", "b")
write("b.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "b.txt"))))
write("a.sum", must("bpe-sum", data=must("bpe-count", data=must("bpe-chunk", "one.txt"))))
refused(65, "the weighted counts add up to more than 2^64 - 1 times 1/4294967296", "bpe-sum", "--weight=4294967296", "a.sum",
        "--weight=1/4294967296", "b.sum", sends=True)
refused(65, "the weights have no common denominator below 2^64", "bpe-sum", "--weight=1/4294967311", "a.sum",
        "--weight=1/4294967357", "b.sum", sends=True)
refused(65, "the counts add up to more than 2^64 - 1", "bpe-sum", "--weight=18446744073709551615", "a.sum", "b.sum", sends=True)
write("big.sum", must("bpe-sum", "--weight=9223372036854775807", "a.sum"))
refused(65, "the product of the weights of these counts does not fit", "bpe-sum", "--weight=3", "big.sum", sends=True)
write("bb.txt", "bb b")
refused(65, "the counts, times 18446744073709551615, add up to more than 2^64 - 1", "bpe-count",
        data=must("bpe-chunk", "--weight=18446744073709551615", "bb.txt"), sends=True)
for name, *args in (("bpe shard", "-m", "model.json", "-o", "s"), ("bpe plan", "--size=1G"), ("bpe tune", "--count"), ("bpe tasks train", "-v", "500"),
                    ("bpe tasks plan", "-m", "model.json", "-o", "s"), ("bpe encode", "-m", "model.json"), ("bpe tasks shard", "-o", "s")):
    refused(64, "--weight", *name.split(), "--weight=2", *args, "tasks" if name in ("bpe tasks train", "bpe tasks shard") else "0.txt")
sys.exit(lib.done())
