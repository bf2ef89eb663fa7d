#!/usr/bin/env python3
"""convert_peers.py - bpe-model converts models of Hugging Face tokenizers, and Hugging Face and tiktoken load the results.

Trains small random models with Hugging Face, of all kinds that bpe-model reads, and saves them as pretty and compact JSON. In each output
format of bpe-model, they must have the same ids and produce the same encodings.

    convert_peers.py [ROUNDS [SEED]]      needs tokenizers >= 0.20, tiktoken and BUILD; prints TAP
"""
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import ok  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # its cache identifies files by name
try:
    import tiktoken
    import tiktoken.load
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
except ImportError as why:
    lib.skip_all(why)

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
SEED = lib.seed(sys.argv[2] if len(sys.argv) > 2 else 20240501)

CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = ["the", " the", "low", " lower", "newest", "'ll", "'S", " é", "über", "語", "中文", "🙂", "\n", "\n\n  ", "  ", "\t", "1", "2024", "3.14", "#!", "...",
         "\x00", "\x7f", "a", " a", "aaa", "ab", "<s>", "</s>", "<pad", "Ġ", "Ċx"]
SPECIAL = ["<s>", "</s>", "<pad>", "<|é|>", " <sp>", "語<"]
PLAIN = ["zq!", "  ", "Ġx", "<s>x"]


def convert(*args):
    code, out, err = lib.run(["bpe-model", *args])
    if code:
        raise RuntimeError(f"bpe-model {args}: exit {code}: {err}")
    return out.decode()


def splitter(rng):
    """(a pre_tokenizer that bpe-model reads, whether it is equivalent to a single regex)"""
    plain, gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), pre_tokenizers.ByteLevel(add_prefix_space=False)
    cl100k = pre_tokenizers.Split(Regex(CL100K), "isolated")
    return rng.choice([
        (gpt2, True), (plain, True), (pre_tokenizers.Sequence([cl100k, plain]), True),
        (pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=rng.random() < 0.5), gpt2]), False),
        (pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{N}{1,2}"), "isolated"), pre_tokenizers.Split(" ", "isolated"), plain]), False),
    ])


def train(rng, docs, pre):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre, decoders.ByteLevel()
    special = rng.sample(SPECIAL, rng.randrange(len(SPECIAL)))
    t.train_from_iterator(docs, trainers.BpeTrainer(
        vocab_size=256 + len(special) + rng.choice([0, 1, 40, 300]), special_tokens=special if rng.random() < 0.5 else [],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_special_tokens(special)
    if rng.random() < 0.3:
        t.add_tokens([AddedToken(s, normalized=False) for s in rng.sample(PLAIN, 2)])
    if rng.random() < 0.3:
        t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def texts_of(rng):
    return ["".join(rng.choice(WORDS + SPECIAL + PLAIN) for _ in range(rng.randrange(1, 60))) for _ in range(30)] + ["", *SPECIAL]


def same(tag, a, b, texts):
    ok(a.get_vocab(with_added_tokens=True) == b.get_vocab(with_added_tokens=True), f"{tag}: same vocabulary")
    bad = [t for t in texts if a.encode(t).ids != b.encode(t).ids]
    ok(not bad, f"{tag}: same encodings", repr(bad[:1]))


def check_tiktoken(tag, tmp, t, texts):
    path = os.path.join(tmp, "t.tiktoken")
    convert("-f", "tiktoken", "-o", path, os.path.join(tmp, "a.json"))
    with open(path + ".json", encoding="utf-8") as f:
        side = json.load(f)
    enc = tiktoken.Encoding("t", pat_str=side["pat_str"], mergeable_ranks=tiktoken.load.load_tiktoken_bpe(path, expected_hash=side["sha256"]),
                            special_tokens=side["special_tokens"], explicit_n_vocab=side["explicit_n_vocab"])
    names = side["special_tokens"]
    if not any(a != b and a.startswith(b) for a in names for b in names):  # otherwise, tiktoken may choose either
        bad = [x for x in texts if enc.encode(x, allowed_special="all") != t.encode(x).ids]
        ok(not bad, f"{tag}: same encodings by tiktoken", repr(bad[:1]))
    back = Tokenizer.from_str(convert(path))
    same(f"{tag}: from .tiktoken", back, t, texts)


def check_pair(tag, tmp, t, texts):
    convert("-f", "gpt2", "-o", tmp + "/pair", os.path.join(tmp, "a.json"))
    loaded = Tokenizer(models.BPE.from_file(tmp + "/pair/vocab.json", tmp + "/pair/merges.txt"))
    loaded.pre_tokenizer = t.pre_tokenizer
    added = sorted(t.get_added_tokens_decoder().items())
    loaded.add_tokens([AddedToken(a.content, normalized=False) for _, a in added])
    same(f"{tag}: vocab.json and merges.txt", loaded, t, texts)


def check_round(number):
    rng = random.Random(f"{SEED}/{number}")
    pre, one_regex = splitter(rng)
    texts = texts_of(rng)
    t = train(rng, texts, pre)
    tag = f"round {number}"
    with tempfile.TemporaryDirectory() as tmp:
        a, b = os.path.join(tmp, "a.json"), os.path.join(tmp, "b.json")
        t.save(a, pretty=True)
        t.save(b, pretty=False)
        ours = convert(a)
        ok(ours == convert(b), f"{tag}: pretty and compact JSON give the same model")
        back = Tokenizer.from_str(ours)
        same(f"{tag}: tokenizer.json", back, t, texts)
        ok(back.to_str(pretty=True) == ours, f"{tag}: same file as Hugging Face writes")
        made = {a + b for a, b in json.loads(t.to_str())["model"]["merges"]} | set(pre_tokenizers.ByteLevel.alphabet())
        if any(a.content in made for a in t.get_added_tokens_decoder().values()):
            for fmt in "gpt2", "tiktoken":
                code, _, err = lib.run(["bpe-model", "-f", fmt, "-o", tmp + "/x", a])
                ok(code == 64 and "has the id of a token" in err, f"{tag}: {fmt} refuses a special token that a merge produces", err)
            return
        check_pair(tag, tmp, t, texts)
        if one_regex:
            check_tiktoken(tag, tmp, t, texts)


def main():
    print(f"# tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    lib.rounds(ROUNDS, check_round)
    sys.exit(lib.done())


main()
