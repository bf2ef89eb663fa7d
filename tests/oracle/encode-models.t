#!/usr/bin/env python3
"""encode-models.t - bpe-encode with random tokenizer.json and .tiktoken models, at each level of vector instructions, produces the ids of
encode_slow.py.

Models have merges in any order, all splits of each token, or ranks; tokens that no merge produces; and unused ids. Texts consist of words
with a leading space, so that each word is a pretoken of gpt2; most words are repeated. For models with superwords, which have the pattern
superbpe, a pretoken is several words; numbers and punctuation separate them. Texts are given NUL-terminated and as JSON Lines.

    SEED     random seed (printed); MODELS: number of models (12)
"""
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import random_models  # noqa: E402
from encode_slow import pretokens  # noqa: E402

RNG = random.Random(lib.seed())
MODELS = int(os.environ.get("MODELS") or 12)
LEVELS = [level for level in ("none", "neon", "sse2", "avx2", "avx512") if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=level))[0] == 0]


def check(i, tmp):
    kind, wide = random_models.KINDS[i % 4], i % 5 == 0
    letters = RNG.sample(range(97, 123), RNG.choice([1, 2, 3, 4, 26]))
    model, merges = random_models.make_model(RNG, kind, letters, wide)
    options = random_models.write(model, merges, f"{tmp}/{i}.{'tiktoken' if kind == 'ranks' else 'json'}")
    tokens = [t for t in model.token if t.isalpha() and t.isascii()]
    words = [random_models.make_word(RNG, letters, tokens) for _ in range(1500)]
    words += RNG.choices(words, k=2000) + RNG.choices(words[:100], k=2000)
    if kind == "superwords":
        ends = [b"1", b" 2345", b"...", b" --\n", b"  ", b"\n", b","]
        words = [w[:60] + (RNG.choice(ends) if RNG.random() < 0.2 else b"") for w in words[:400] + words[-200:]]
    documents = [b"".join(words[k:k + 500]) for k in range(0, len(words), 500)]
    want = [[t for word in pretokens(d, model.pattern, "error") for t in model.word(word)] for d in documents]
    lib.write(f"{tmp}/text", b"".join(d + b"\0" for d in documents))
    lib.write(f"{tmp}/jsonl", b"".join(json.dumps({"text": d.decode()}).encode() + b"\n" for d in documents))
    bad = []
    for level in LEVELS:
        for form in ["-0", "text"], ["--jsonl", "jsonl"]:
            out = lib.must("env", f"BPE_SIMD={level}", "bpe-encode", *options, "-f", "text", form[0], f"{tmp}/{form[1]}")
            got = [list(map(int, line.split())) for line in out.decode().splitlines()]
            if got != want:
                d = next((d for d, (g, w) in enumerate(zip(got, want)) if g != w), 0)
                at = lib.first_difference(got[d], want[d])
                bad.append(f"{level}, {form[1]}: document {d}, id {at}: {got[d][at:at + 5]}, not {want[d][at:at + 5]}")
    lib.ok(not bad, f"model {i}: {kind}{', wide' * wide}, {len(model.token)} tokens, {len(merges)} merges", "\n".join(bad))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        lib.rounds(MODELS, lambda i: check(i, tmp))
    return lib.done()


sys.exit(main())
