#!/usr/bin/env python3
"""superwords.t - bpe train --super learns the merges of a slow, obvious trainer (superwords_slow.py), from random texts and first stages, in
as many rounds as a random budget makes: documents and lines, with unused merges and without them; also by hand, with pairs left out; and
superwords of whole pretokens, also in competition with words.

    SEED     random seed (printed); TEXTS: number of texts of each kind (12)
"""
import json
import os
import random
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import superwords_slow as slow  # noqa: E402

RNG = random.Random(lib.seed())
TEXTS = int(os.environ.get("TEXTS") or 12)
PATTERNS = ["gpt2", "cl100k", "o200k", "qwen2", "deepseek-v3", "bytes"]
PARTS = [" ", " ", " ", " ", " ", "\n", "\n\n", ": ", ":", ", ", ". ", "...\n", "  ", "   ", "!!", " (", "--/\n", "/", "\r\n", "7", "2024", " 1234567",
         "\t", lib.EOT, ".\n", "  \n", "’s ", "\u00a0", "\u3000"]


def random_text(size):
    """Words of few letters, with what the pattern treats in special ways between them."""
    letters = RNG.choice(["ab", "abc", "aeiou", "aé", "日本語", "aAb", "aб", "ab\u0301"])
    words = ["".join(RNG.choice(letters) for _ in range(RNG.randint(1, RNG.choice([1, 3, 8])))) for _ in range(RNG.randint(2, 12))]
    parts = RNG.sample(PARTS, RNG.randint(1, len(PARTS))) + [" "] * RNG.randint(0, 30)
    text, n = [], 0
    while n < size:
        text.append(RNG.choice(words) + RNG.choice(parts))
        n += len(text[-1])
    return "".join(text)


def shell(line):
    lib.must("bash", "-c", f"set -o pipefail; {line}")


def by_hand(first, size, lines, frequency):
    """The rounds by hand, each with a random budget, where some pairs are left out of the counts or of the live pairs."""
    lib.must("bpe-model", "-v", str(first), f"--superwords={'lines' if lines else 'documents'}", "first.json", "-o", "model")
    shell("bpe-chunk -m model text > chunks")
    among, least = "", RNG.randint(1, 3)
    for _ in range(300):
        enough = RNG.choice(["", f"--live-pairs={RNG.choice([1, 5, 20, 100])}"])
        shell(f"bpe-count -m model --pairs={least} {among} chunks | bpe-sum | bpe-merge --live={RNG.choice([1, 10, 100, 1000])} {enough} -o live")
        shell("bpe-count -m model --runs=live chunks | bpe-sum > runs")
        code, _, err = lib.run(["bpe-merge", "--extend=model", "-v", str(size), f"--min-frequency={frequency}", "-o", "next", "runs"])
        os.rename("next", "model")
        if code or "for more" not in err and "no pair is as frequent" not in err:
            break
        stuck = "no pair is as frequent" in err
        os.rename("live", "earlier")
        among, least = ("", 1) if stuck else (RNG.choice(["", "--among=earlier", "--among=earlier"]), RNG.randint(1, 3))
    lib.must("bpe-model", "--superwords", "model", "-o", "got.json")
    return code, err


def one_text(number):
    text = random_text(RNG.randint(50, 4000)).encode()
    lib.write("text", text)
    lib.write("first.txt", random_text(3000).encode() if RNG.random() < 0.5 else text)
    pattern, first, new = RNG.choice(PATTERNS), RNG.randint(258, 340), RNG.randint(1, 60)
    lines, drop = RNG.random() < 0.5, RNG.random() < 0.3
    frequency = RNG.choice([1, 1, 2, 3])
    lib.must("bpe", "train", "-v", str(first), "-p", pattern, "-o", "first.json", "first.txt")
    whole = json.loads(lib.read("first.json"))
    model = whole["model"]
    if RNG.random() < 0.3:  # the largest id of two bytes separates pretokens; ids may pass it in any round
        model["vocab"][max(model["vocab"], key=model["vocab"].get)] = RNG.choice([65500, 65533, 65534, 65535])
        lib.write("first.json", json.dumps(whole).encode())
    inherited = [tuple(lib.unspell(t) for t in pair) for pair in model["merges"]]
    first = 257 + len(inherited)
    words = Counter(w for p in slow.pretokens_of(slow.documents_of(text, lines), slow.STAGE2) for w in p)
    merges, _, skipped = slow.superbpe(words, inherited, first + new, drop=drop, min_frequency=frequency)
    option = f"--super={first}{',lines' * lines}{',drop' * drop}"
    budget = RNG.choice([1, 10, 100, 1000, 100000])
    command = ["bpe", "train", "-v", str(first + new), option, "--init=first.json", "-o", "got.json", "text", f"--live={budget}",
               f"--min-frequency={frequency}", "-j", str(RNG.randint(1, 3))]
    hand = not drop and RNG.random() < 0.4
    code, err = by_hand(first, first + new, lines, frequency) if hand else lib.run(command)[::2]
    name = f"text {number}{', by hand' * hand}: {' '.join(command)} ({pattern}, {len(text)} bytes, {len(skipped)} unused)"
    if not lib.ok(code == 0, name, err):
        return
    got = [tuple(lib.unspell(t) for t in pair) for pair in json.loads(lib.read("got.json"))["model"]["merges"]]
    differ = next((i for i, (a, b) in enumerate(zip(got, merges)) if a != b), min(len(got), len(merges)))
    lib.ok(got == merges, f"  its {len(merges) - len(inherited)} new merges",
           f"merge {differ} of {len(got)}, wanted {len(merges)}: {got[differ:differ + 1]} {merges[differ:differ + 1]}")


JOINED = ["gpt2", "cl100k", "o200k", "qwen2"]
# A word is several pretokens when it stands alone; a superword may also be a word.
CUSTOM = [r" ?[^\s\d]+(?= )|\S|\s", r"[^\s\d]+(?= )|\S|\s"]
# The pairs of superwords end before the words; some of these are as frequent as the last superword.
FIXED = ["ab cd\nqr\n" * 3 + "xyz\n"]
REGEX = dict(line.split("\t")[:2] for line in lib.must("pretok", "--regexes").decode().splitlines())


def sections(path):
    """The merges of words and of superwords in a file of fastboundlessbpe, each with its count; and the tokens in the order of ids."""
    lines = lib.read(path).decode().split("\n")
    out = []
    for name in ["words", "superwords"]:
        at = lines.index(name) + 3
        rows = [row.split(" ") for row in lines[at + 1:at + 1 + int(lines[at])]]
        out.append([(lib.unspell(row[1]), lib.unspell(row[2]), int(row[3])) for row in rows])
    return [*out, [lib.unspell(row.split(" ")[1]) for row in lines[3:3 + int(lines[2])]]]


def in_turn(words, supers):
    """The tokens of the two lists, the more frequent first."""
    out, words, supers = [], list(words), list(supers)
    while words or supers:
        left, right, _ = (words if words and (not supers or words[0][2] >= supers[0][2]) else supers).pop(0)
        out.append(left + right)
    return out


def one_joined(number):
    text = (FIXED[number] if number < len(FIXED) else random_text(RNG.randint(50, 4000))).encode()
    lib.write("text", text)
    pattern, first, new = RNG.choice(RNG.choice([JOINED, CUSTOM])), RNG.randint(258, 340), RNG.randint(1, 60)
    regex = REGEX.get(pattern, pattern)
    competes = number < len(FIXED) or RNG.random() < 0.5
    pretokens = slow.pretokens_of(slow.documents_of(text), regex)
    words = slow.train_words(Counter(w for d in pretokens for w in d), first - 257)
    runs = slow.runs_of(pretokens, slow.eligible_tokens(words[0], regex))
    first = 257 + len(words[0])
    supers, counts, turn = slow.train_runs(runs, words, None if competes else new)
    if not supers:
        turn = len(words[0])  # there, only the first merge stays
    want = [[(*pair, n) for pair, n in zip(*found)] for found in [words, (supers, counts)]]
    want[0] = want[0][:turn]
    budget = RNG.choice([1, 10, 100, 1000, 100000])
    kind = ["-v", str(first), "--boundless"] if competes else ["-v", str(first + new), f"--super={first},runs"]
    split = ["-e" if pattern in CUSTOM else "-p", pattern]
    command = ["bpe", "train", *kind, "-f", "boundless", "-o", "got.model", "text", *split, f"--live={budget}", "-j", str(RNG.randint(1, 3))]
    code, _, err = lib.run(command)
    name = f"text {number}: {' '.join(command)} ({len(text)} bytes, {len(runs)} runs)"
    if code == 65 and "is also a token of words" in err:
        lib.ok({left + right for left, right in supers} & {left + right for left, right in words[0]}, f"{name}: refused", err)
        return
    if not lib.ok(code == 0, name, err):
        return
    got = sections("got.model")
    for what, a, b in zip(["words", "superwords"], got, want):
        differ = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        lib.ok(a == b, f"  its {len(b)} merges of {what}", f"merge {differ} of {len(a)}: {a[differ:differ + 1]} {b[differ:differ + 1]}")
    tokens = in_turn(*want) if competes else [left + right for left, right, _ in want[0] + want[1]]
    lib.ok(got[2][243:] == tokens, "  ids in the order in which they were learned")


lib.own_directory(in_memory=True)
lib.rounds(TEXTS, one_text)
lib.rounds(TEXTS, one_joined)
sys.exit(lib.done())
