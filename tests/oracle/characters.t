#!/usr/bin/env python3
"""characters.t - character models (SentencePiece's BPE in tokenizer.json): bpe-encode returns the ids of a slow and obvious encoder, and
bpe-decode their text.

The models are those of random_characters.py. Texts consist of the model's characters, spaces, U+2581, unknown characters, and added tokens.
Each is encoded as a whole, as documents, in chunks, and with the
rewritten model. If Hugging Face tokenizers is installed, it must produce the same ids and text.

    SEED     random seed (printed); MODELS: number of models (20)
"""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/.."]
import lib  # noqa: E402
from random_characters import META, PREPEND, REPLACE, Model, make_text  # noqa: E402

try:
    from tokenizers import Tokenizer
except ImportError:
    Tokenizer = None

SEED = lib.seed()
MODELS = int(os.environ.get("MODELS") or 20)
LEVELS = [level for level in ("none", "sse2", "avx2", "avx512", "neon") if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=level))[0] == 0]
def numbers(out):
    return [int.from_bytes(out[i:i + 4], "little") for i in range(0, len(out), 4)]


def round_trip(number):
    rng = random.Random(f"{SEED} {number}")
    os.environ["BPE_SIMD"] = rng.choice(LEVELS)
    model = Model(rng)
    lib.write("m.json", model.json())
    texts = [make_text(rng, model) for _ in range(60)]
    want = [model.encode(t) for t in texts]
    flat = [i for ids in want for i in ids]
    bad = []

    def same(what, got, wanted):
        if got != wanted:
            at = next((k for k, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
            bad.append(f"{what}, at {at}: {got[at:at + 9]!r}, not {wanted[at:at + 9]!r}")
    lib.write("in.nul", "".join(t + "\0" for t in texts))
    same("documents", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "m.json", "-0", "in.nul")), flat)
    whole = "\n".join(texts)
    lib.write("in.txt", whole)
    of_whole = model.encode(whole)
    same("a file", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "m.json", "in.txt")), of_whole)
    for options in [["-b", "200"], ["-b", "50", "--inline"]]:
        chunks = lib.must("bpe-chunk", "-m", "m.json", *options, "in.txt")
        same(f"chunks {options}", numbers(lib.must("bpe-encode", "-f", "raw", "-d", "u32", "-m", "m.json", data=chunks)), of_whole)
    lib.must("bpe-model", "-f", "json", "-o", "again.json", "m.json")
    same("the rewritten model", numbers(lib.must("bpe-encode", "-d", "u32", "-m", "again.json", "-0", "in.nul")), flat)
    some = rng.sample(range(len(texts)), 4)
    ids = [want[k] for k in some] + [rng.choices(list(model.vocab.values()) + list(model.added.values()), k=rng.randrange(1, 6)) for _ in range(4)]
    for one in ids:
        raw = b"".join(i.to_bytes(4, "little") for i in one)
        for name in "m.json", "again.json":
            same(f"decoded {one} by {name}", lib.must("bpe-decode", "-d", "u32", "-m", name, data=raw), model.decode(one))
    if Tokenizer:
        peer = Tokenizer.from_file("m.json")
        same("tokenizers", [peer.encode(t, add_special_tokens=False).ids for t in texts], want)
        for one in ids:
            decoded = peer.decode(one, skip_special_tokens=False)
            if "\ufffd" not in decoded:
                same(f"tokenizers decodes {one}", decoded.encode(), model.decode(one))
    return bad


def shards_checked():
    """With the scheme "first", only the first document of a source has a prefix. bpe-shard --check must encode documents accordingly."""
    model = Model(random.Random(1))
    model.form, model.split, model.whole, model.unk, model.bytes = "first", False, False, None, True
    keys = list(dict.fromkeys([*"abc", META, META + "a", *(f"<0x{b:02X}>" for b in range(256))]))
    model.vocab, model.added = {key: i for i, key in enumerate(keys)}, {"<t>": len(keys)}
    model.merges, model.rank = [(META, "a")], {(META, "a"): 0}
    lib.write("m.json", model.json())
    lib.write("in.txt", "".join(f"a text {n}\nand more<t>" for n in range(200)))
    ids = lib.must("bpe-encode", "-m", "m.json", data=lib.must("bpe-chunk", "-m", "m.json", "in.txt"))
    lib.must("bpe-shard", "-o", "d", data=ids)
    code, out, err = lib.run(["bpe-shard", "--check", "d", "-m", "m.json", "in.txt"])
    lib.ok(code == 0 and b"encoded again: the same ids" in out, "bpe-shard --check of documents after separators", f"{out} {err}")


def decoded_by_line():
    """Decoding removes the space that was added to each document, for each line of decimal ids."""
    code, out, err = lib.run(["bpe-encode", "-m", "m2.json", "-0", "-f", "text"], b"a b\0 c a\0")
    code2, out2, err2 = lib.run(["bpe-decode", "-m", "m2.json", "-f", "text"], out)
    lib.ok(code == code2 == 0 and out.count(b"\n") == 2 and out2 == b"a b c a", "decimal ids of documents, each with a prefix", f"{out} {err} {out2} {err2}")


def main():
    lib.own_directory()
    for first in range(0, MODELS, 10):
        bad = [f"model {n}: {note}" for n in range(first, min(first + 10, MODELS)) for note in round_trip(n)]
        lib.ok(not bad, f"models {first} to {min(first + 10, MODELS) - 1}: same ids and text", "\n".join(bad))
    shards_checked()
    again = json.loads(lib.read("m.json"))
    again.update(normalizer={"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, pre_tokenizer=None, decoder={"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})
    lib.write("m2.json", json.dumps(again))
    decoded_by_line()
    lib.write("m3.json", json.dumps({**again, "decoder": None}))
    code, out, err = lib.run(["bpe-decode", "-m", "m3.json"], b"")
    lib.ok(code == 64 and not out and "no decoder" in err, "bpe-decode refuses a model without decoder", f"{out} {err}")
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
