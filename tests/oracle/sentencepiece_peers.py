#!/usr/bin/env python3
"""sentencepiece_peers.py - BPE models of SentencePiece (tokenizer.model) give the same ids and text as in SentencePiece.

Compares small random models whose pieces overlap, with random and often equal scores; models that SentencePiece trains with various
settings; and those of Mistral, which mistral_common contains. Models that are not refused must encode and decode as SentencePiece does,
and Hugging Face tokenizers must give the same ids with the tokenizer.json that bpe-model makes of them. The texts are the strings of
encode_vocabularies.py, each code point, and documents, at each level of vector instructions and in chunks.

    sentencepiece_peers.py [TEXT...]    needs sentencepiece, tokenizers, mistral_common and BUILD; prints TAP

ROUNDS: random models (60); STRINGS, SEED and WHOLE as for encode_vocabularies.py.
"""
import functools
import glob
import io
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import encode_vocabularies as ev  # noqa: E402
import lib  # noqa: E402
import spm  # noqa: E402
from lib import ok, skip  # noqa: E402

try:
    import mistral_common
    import sentencepiece
except ImportError as why:
    lib.skip_all(why)

ROUNDS = int(os.environ.get("ROUNDS") or 60)
REFUSED = ["as scores are equal", "is made of a character that is not a piece", "but U+2581 is not a token", "occurs twice"]


class SentencePiece:
    name = "SentencePiece"

    def __init__(self, path, end=None):
        self.p, self.end = sentencepiece.SentencePieceProcessor(model_file=path), end

    def encode(self, strings, special="text"):
        assert special == "text"
        return ev.in_blocks(self.p.encode, strings, self.end)


class Model:
    """A tokenizer.model with the attributes of Vocabulary."""

    def __init__(self, path):
        self.path, self.separator = path, "</s>"
        self.peers = [SentencePiece(path)]
        p = self.peers[0].p
        self.peers[0].end = p.eos_id()
        self.options = {".json": ["-m", path]}
        pieces = [p.id_to_piece(i) for i in range(p.get_piece_size()) if not p.is_control(i)]
        self.added = [s for s in pieces if re.fullmatch(r"\[.*\]", s)]
        self.token = {ev.token_bytes(s): i for i, s in enumerate(pieces)}


def same_decoding(tag, v, strings):
    """Compares decoded texts without unknown characters, for which SentencePiece writes its own sign."""
    ids = [i for i in v.peers[0].p.encode(strings) if i and v.peers[0].p.unk_id() not in i]
    texts = v.peers[0].p.decode(ids)
    got = [lib.must("bpe-decode", "-m", v.path, "-f", "text", data=" ".join(map(str, i)).encode()).decode() for i in ids]
    bad = next((x for x in zip(ids, got, texts) if x[1] != x[2]), None)
    ok(not bad, f"{tag}: same decoded text", repr(bad))


def same_as_json(tag, path, strings, tmp):
    """With the tokenizer.json of bpe-model, tokenizers must encode as SentencePiece does; bpe-model may refuse it because of a prefix."""
    code, _, err = lib.run(["bpe-model", "-o", tmp + "/it.json", path])
    if code:
        ok(code == 64 and "after each added token" in err, f"{tag}: bpe-model refuses to write tokenizer.json", err)
        return
    peer = SentencePiece(path)
    why = ev.difference(ev.HuggingFace(tmp + "/it.json", None).encode(strings), peer.encode(strings), strings, peer, ())
    ok(not why, f"{tag}: Hugging Face gives the same ids with its tokenizer.json", why)


# ---- Random models ----

def random_pieces(rng):
    """(characters, pieces): pieces are characters and strings, most of them made of two others."""
    letters = rng.choice(["ab", "a\u2581", "ab\u2581", "aé語\u2581", "\u2581"])
    made = list(letters)
    for _ in range(rng.choice([2, 5, 12, 30])):
        made.append("".join(rng.choices(made, k=2)) if rng.random() < 0.8 else rng.choice(letters) * rng.randint(2, 9))
    made = list(dict.fromkeys(s for s in made if len(s) < 40))
    if rng.random() < 0.1:
        made.remove(rng.choice(letters))
    scores = rng.choice([lambda i: -i, lambda i: -rng.random(), lambda i: rng.randrange(-3, 3), lambda i: -1e9 if set(made[i]) == {letters[-1]} else -i,
                         lambda i: -1e9 if set(made[i]) == {letters[-1]} else -rng.random()])
    return letters, [(s, float(scores(i))) for i, s in enumerate(made)]


def random_model(rng):
    letters, pieces = random_pieces(rng)
    byte_fallback = rng.random() < 0.5
    used = {s for s, _ in pieces}
    user = [s for s in rng.sample(["b", "ab", "aba", "xy", "é語", "ba", "c"], 2) if s not in used] if rng.random() < 0.4 else []
    pieces += [(s, 0.0, spm.USER_DEFINED) for s in user]
    rng.shuffle(pieces)
    pieces = [("<unk>", 0, spm.UNKNOWN), ("<s>", 0, spm.CONTROL), ("</s>", 0, spm.CONTROL), *(spm.BYTES if byte_fallback else []), *pieces]
    return letters + "".join(user), spm.model(pieces, byte_fallback=int(byte_fallback), prefix=rng.randrange(2))


def check_random(number, counts):
    rng = random.Random(f"{ev.SEED}/{number}")
    letters, data = random_model(rng)
    with tempfile.TemporaryDirectory() as tmp:
        path = tmp + "/tokenizer.model"
        lib.write(path, data)
        code, _, err = lib.run(["bpe-model", "--info", path])
        counts[code == 0] += 1
        if code:
            ok(code == 65 and any(r in err for r in REFUSED), f"model {number} is refused", err)
            return
        strings = ["".join(rng.choices(letters + " \u2581xé\n", weights=[9] * len(letters) + [5, 1, 1, 1, 1], k=ev.long_length(rng, 80))) for _ in range(300)]
        strings += [c * n for c in letters for n in range(1, 40)]
        v = Model(path)
        got, want = ev.Ours(["-m", path], v.separator, rng.choice(ev.levels())).encode(strings), v.peers[0].encode(strings)
        why = ev.difference(got, want, strings, v.peers[0], ())
        ok(not why, f"model {number}", why)
        same_as_json(f"model {number}", path, strings, tmp)
        if number % 20 == 0:
            same_decoding(f"model {number}", v, strings[:20])


# ---- Trained and published models ----

USER = ["<sep>", "é", "語", "<|user|>", "ing"]
TRAINED = [
    {"vocab_size": 2000, "byte_fallback": True},
    {"vocab_size": 1200, "byte_fallback": True, "add_dummy_prefix": False, "user_defined_symbols": USER},
    {"vocab_size": 3000, "byte_fallback": True, "user_defined_symbols": USER, "split_digits": True, "allow_whitespace_only_pieces": True},
    {"vocab_size": 1500, "character_coverage": 0.98},
    {"vocab_size": 1500, "character_coverage": 0.985, "user_defined_symbols": USER, "add_dummy_prefix": False},
    {"vocab_size": 2500, "byte_fallback": True, "split_by_whitespace": False, "max_sentencepiece_length": 30, "split_by_unicode_script": False},
]


def train(settings, lines, path):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, model_type="bpe", minloglevel=2, hard_vocab_limit=False, pad_id=3,
        **{"normalization_rule_name": "identity", "remove_extra_whitespaces": False, **settings})
    lib.write(path, out.getvalue())


def check(name, path, lists, texts, tmp):
    v = Model(path)
    lists = {**lists, "from_tokens": ev.make(ev.from_tokens, sorted(v.token)), "from_added": ev.make(ev.from_added, v.added or ["<s>", "</s>", "<0x41>"])}
    strings = [s for made in lists.values() for s in made]
    random.Random(ev.SEED).shuffle(strings)
    what, levels = f"{len(strings)} strings", ev.levels()
    ev.compare_chunks(name, v, what, strings, ev.compare(name, v, what, strings, levels), tmp)
    for what, points in ev.code_points():
        ev.compare(name, v, what, points, levels[:1])
    ev.compare_documents(name, v, texts, levels, tmp)
    same_as_json(name, path, strings[:len(strings) // 4], tmp)
    same_decoding(name, v, strings[:200])


def main():
    print(f"# sentencepiece {sentencepiece.__version__}, mistral_common {mistral_common.__version__}")
    counts = [0, 0]
    lib.rounds(ROUNDS, lambda number: check_random(number, counts))
    ok(counts[1] > counts[0], "most random models are read", f"{counts[1]} of {sum(counts)}")
    with tempfile.TemporaryDirectory() as tmp:
        made = list(filter(None, lib.text(9, 2000000).decode().split(lib.EOT)))
        texts = list(ev.documents(sys.argv[1:])) or made
        lists = ev.make_lists(texts)
        few = {name: made[:len(made) // 10] for name, made in lists.items()}
        lines = [line for t in made for line in t.splitlines() if line][:20000]
        for i, settings in enumerate(TRAINED):
            train(settings, lines, f"{tmp}/{i}.model")
            check(f"trained with {settings}", f"{tmp}/{i}.model", few, texts[:200], tmp)
        for rule, why in ("nmt_nfkc", "its normalizer replaces characters"), ("identity", "remove_extra_whitespaces"):
            train({"vocab_size": 1000, "normalization_rule_name": rule, "remove_extra_whitespaces": True}, lines[:2000], f"{tmp}/it.model")
            code, _, err = lib.run(["bpe-model", "--info", f"{tmp}/it.model"])
            ok(code == 65 and why in err, f"trained with {rule}: is refused", err)
        real = sorted(glob.glob(os.path.join(os.path.dirname(mistral_common.__file__), "data", "*.model.v*")))
        for path in real:
            check(os.path.basename(path), path, lists, texts, tmp)
        if not real:
            skip("Mistral's models", "mistral_common has none")
    sys.exit(lib.done())


main()
