#!/usr/bin/env python3
"""parity.t - bpe-merge --parity with random languages and options gives the merges of a slow, obvious trainer (parity_slow.py) and, if it is
installed, of ParityBpeTrainer of Hugging Face tokenizers.

    SEED     random seed (printed); CASES: number of cases (40), a third of them with weighted sums
"""
import json
import os
import random
import sys
from collections import Counter
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import parity_slow  # noqa: E402
import token_limits  # noqa: E402

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
except ImportError:
    Tokenizer = None

RNG = random.Random(lib.seed())
CASES = int(os.environ.get("CASES") or 40)


def random_words(letters):
    """Words, each with a leading space, so that it is a pretoken of gpt2, and their counts."""
    return Counter(" " + "".join(RNG.choices(letters, k=RNG.randint(1, 8))) for _ in range(RNG.choice([0, 1, 5, 30, 60])))


def sums(name, texts):
    """Writes the sum of each text, with its weight."""
    for i, (words, weight) in enumerate(texts):
        lib.write(f"{name}{i}.txt", "".join(words.elements()))
        lib.write(f"{name}{i}.sum", lib.must("sh", "-c", f"bpe-chunk --no-special {name}{i}.txt | bpe-count | bpe-sum --weight={weight}"))
    return [f"{name}{i}.sum" for i in range(len(texts))]


def spelled(text):
    """The counts of a text, multiplied by its weight."""
    words, weight = text
    return Counter({lib.spell(w.encode()): n * weight for w, n in words.items()})


def weigh(texts, weighs):
    """Pairs of a text and its weight."""
    return [(words, Fraction(RNG.randint(1, 9), RNG.randint(1, 9)) if weighs else 1) for words in texts]


def peer(texts, dev, o):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.ParityBpeTrainer(
        num_merges=o["n_merges"], variant="window" if o["window"] else "base", min_frequency=o["min_frequency"], global_merges=o["global_merges"],
        window_size=o["window"] or 100, alpha=o["alpha"], show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    texts, dev = ([["".join(words.elements())] for words, _ in weighed] for weighed in (texts, dev or []))
    trainer.train_from_iterator(tok, texts, dev_iterators=dev or None, ratio=o["ratio"])
    return [tuple(pair) for pair in json.loads(tok.to_str())["model"]["merges"]]


def check(i):
    n, mode, weighs = RNG.randint(1, 5), RNG.choice(["dev", "ratio", "plain"]), i % 3 == 0
    letters = [RNG.sample("abcdeéж", RNG.randint(1, 5)) for _ in range(n)]
    texts = weigh([random_words(of) for of in letters], weighs)
    dev = weigh([random_words(of) for of in letters], weighs) if mode == "dev" else None
    o = {"n_merges": RNG.choice([3, 20, 200]), "ratio": [round(RNG.uniform(.5, 2), 2) for _ in texts] if mode == "ratio" else None,
         "global_merges": RNG.choice([0, 0, 0, 1, 5]), "window": RNG.choice([0, 0, 1, 5, 100]), "alpha": RNG.choice([.5, 1, 2, 2.5]),
         "min_frequency": RNG.choice([1, 2, 3])}
    compare(f"case {i}", texts, dev, o)


def compare(name, texts, dev, o):
    """Compares the merges of texts and development texts with those of the slow trainer and the peer."""
    args = ["-v", str(256 + o["n_merges"]), "--parity", *sums("t", texts)] + (["--dev", *sums("d", dev)] if dev else [])
    args += [f"--ratio={','.join(map(str, o['ratio'] or []))}"] * (o["ratio"] is not None)
    args += [f"--global-merges={o['global_merges']}"] * (o["global_merges"] > 0)
    args += ["--window", str(o["window"]), "--alpha", str(o["alpha"])] * (o["window"] > 0)
    args += ["--min-frequency", str(o["min_frequency"])] * (o["min_frequency"] != 2)
    limits = token_limits.choose(RNG, [w.encode() for words, _ in texts for w in words]) if RNG.random() < 0.4 else token_limits.Limits()
    args += limits.options("vetoes")
    got = [tuple(line.split(" ")) for line in lib.must("bpe-merge", "-f", "merges", *args).decode().splitlines()]
    want, exhausted = parity_slow.train([spelled(text) for text in texts], dev=[spelled(text) for text in dev] if dev else None,
                                        allow=lambda token: limits.allow(lib.unspell(token)), **o)
    at = lib.first_difference(got, want)
    lib.ok(got == want, f"{name}: {' '.join(args)}: {len(want)} merges", f"merge {at}: {got[at:at + 3]}, not {want[at:at + 3]}")
    limited, weighs = limits.max_len or limits.utf8 or limits.vetoes, any(weight != 1 for _, weight in texts + (dev or []))
    if Tokenizer and not weighs and not limited and not (exhausted and o["window"]):  # then it may never end
        want = peer(texts, dev, o)
        lib.ok(got == want, "  the same as ParityBpeTrainer", f"{got[at:at + 3]}, not {want[at:at + 3]}")


def rare_pairs():
    """The first language makes all merges, also of pairs that are much rarer than its share of the merges lets expect."""
    words = [" " + a + b for a in "abcdefgh" for b in "ijklmnopqrstuvwx"]
    texts = [Counter({w: 100 if i < 90 else 3 for i, w in enumerate(words)}), Counter({w.upper(): 30 for w in words})]
    for o in ({"ratio": None, "global_merges": 0}, {"ratio": None, "global_merges": 118}, {"ratio": [1.0, .01], "global_merges": 0}):
        compare("rare pairs", weigh(texts, False), None, {"n_merges": 119, "window": 0, "alpha": 2, "min_frequency": 2, **o})


def main():
    lib.own_directory()
    rare_pairs()
    lib.rounds(CASES, check)
    return lib.done()


sys.exit(main())
