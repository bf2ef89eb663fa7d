#!/usr/bin/env python3
"""model_peers.py - Hugging Face tokenizers and tiktoken read the files we write for a model.

Trains small random models with Hugging Face and writes the same models with model_write: our tokenizer.json, vocab.json and merges.txt
must equal theirs byte for byte, and each of our files, once loaded, must encode as the original does.

    model_peers.py [MODEL_WRITE [ROUNDS [SEED]]]      needs tokenizers >= 0.20 and tiktoken; prints TAP
"""
import base64
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from lib import BYTE, ok, read  # noqa: E402

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # its cache identifies files by name
try:
    import tiktoken
    import tiktoken.load
    import tokenizers
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError as why:
    lib.skip_all(why)

MODEL_WRITE = sys.argv[1] if len(sys.argv) > 1 else "model_write"
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SEED = lib.seed(sys.argv[3] if len(sys.argv) > 3 else 20240501)

REGEX = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "bytes": None,
}
CUSTOM = [r"\p{N}{1,2}|[^\p{N}\s]+|\s+", '["\\\\]|[^"\\\\]+', "é|[^é\t]+|\t", r"[\s\S]"]

# Some look like bytes or merged tokens of the text below.
COLLIDING = ["a", "the", "Ġthe", "Ġ", "Ċ", '"', "\\", "Ã", "he", "Ã©"]
ODD = ["<|endoftext|>", 'q"uote', "back\\slash", "new\nline", "\x00\x1f\x7f", "\r\n\t\b\f", "😀", " sp ace ", "\u2028", "ÿ¡日本", "/é/"]
WORDS = ["the", " the", " then", " he", "a", " a", " cat", "'s", "'LL", " 12345", " naïve", "é", "éé", "日本語", " 😀", "\n", "\n\n  ", "\t", "\r\n",
         " --", '"q"', "\\n", " \\\\", "\x00\x01", "\x7f", " aaaa", "---", "ſ", "\u00a0", "\u0085", ". "]


def difference(got, want):
    """A note on where two texts first differ."""
    at = lib.first_difference(got, want)
    return f"at {at}: got {got[at:at + 60]!r}, want {want[at:at + 60]!r}"


def random_text(rng, words, n):
    return "".join(rng.choice(words) for _ in range(n))


def pre_tokenizer(name, regex):
    if name == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if regex is None:
        return byte_level
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), "isolated"), byte_level])


def train(docs, size, special, pre):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(docs, trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def describe(trained, special, name, regex, first, strings=False):
    """The model in the input format of model_write: merges refer to symbols; the symbol of a byte is its value."""
    lines = [f"pattern {name}"] if name else []
    if regex is not None:
        lines.append(f"regex {regex.encode().hex()}")
    lines += [f"special {s.encode().hex()}" for s in special]
    lines += ["special-first"] * first + ["strings"] * strings
    symbol = dict(BYTE)
    for k, (left, right) in enumerate(json.loads(trained.to_str())["model"]["merges"]):
        lines.append(f"merge {symbol[left]} {symbol[right]}")
        symbol.setdefault(left + right, 256 + k)
    return "\n".join(lines) + "\n"


def write(fmt, description, path=None):
    """The file as bytes; it is also written to path, if given."""
    code, out, err = lib.run([MODEL_WRITE, fmt], description.encode())
    if code:
        raise RuntimeError(f"model_write {fmt} exited with {code}: {err}")
    if path:
        lib.write(path, out)
    return out


def encoding_from(ranks_path, sidecar_path):
    """An Encoding made of the .tiktoken file, as users would make it."""
    with open(sidecar_path, encoding="utf-8") as f:
        side = json.load(f)
    ranks = tiktoken.load.load_tiktoken_bpe(ranks_path, expected_hash=side["sha256"])
    return tiktoken.Encoding("ours", pat_str=side["pat_str"], mergeable_ranks=ranks, special_tokens=side["special_tokens"],
                             explicit_n_vocab=side["explicit_n_vocab"])


def check_json(tag, tmp, trained, args, texts):
    path = os.path.join(tmp, "tokenizer.json")
    ours = write("json", describe(*args, first=True), path).decode()
    theirs = trained.to_str(pretty=True)
    ok(ours == theirs, f"{tag}: same tokenizer.json as Hugging Face saves", difference(ours, theirs))
    loaded = Tokenizer.from_file(path)
    bad = [t for t in texts if loaded.encode(t).ids != trained.encode(t).ids]
    ok(not bad, f"{tag}: with the same encodings", bad[:1])

    ours = write("json", describe(*args, first=False), path).decode()
    last = Tokenizer.from_file(path)
    back = last.to_str(pretty=True)
    ok(ours == back, f"{tag}: special tokens last: loading and saving changes nothing", difference(ours, back))
    ids = sorted(last.get_vocab(with_added_tokens=True).values())
    ok(ids == list(range(trained.get_vocab_size())), f"{tag}: special tokens last: ids are dense")
    bad = [t for t in texts if last.encode(t).tokens != trained.encode(t).tokens]
    ok(not bad, f"{tag}: special tokens last: encodes to the same tokens", bad[:1])

    write("json", describe(*args, first=False, strings=True), path)
    back = Tokenizer.from_file(path).to_str(pretty=True)
    ok(ours == back, f"{tag}: merges as strings give the same model", difference(back, ours))
    return last


def check_gpt2(tag, tmp, trained, args, texts):
    vocab, merges = os.path.join(tmp, "vocab.json"), os.path.join(tmp, "merges.txt")
    description = describe(*args, first=True)
    ours = write("vocab", description, vocab), write("merges", description, merges)
    theirs = [read(p) for p in trained.model.save(tmp, "hf")]
    ok(ours[0] == theirs[0], f"{tag}: same vocab.json as Hugging Face saves", difference(ours[0], theirs[0]))
    ok(ours[1] == theirs[1], f"{tag}: same merges.txt as Hugging Face saves", difference(ours[1], theirs[1]))
    loaded = Tokenizer(models.BPE.from_file(vocab, merges))
    loaded.pre_tokenizer = trained.pre_tokenizer
    loaded.add_special_tokens(args[1])
    bad = [t for t in texts if loaded.encode(t).ids != trained.encode(t).ids]
    ok(not bad, f"{tag}: same encodings with vocab.json and merges.txt", bad[:1])
    readable = write("readable", description)
    ok(b"#version: 0.2\n" + readable == ours[1], f"{tag}: readable merges are merges.txt without its header")


def check_tiktoken(tag, tmp, trained, last, args, texts):
    ranks, side = os.path.join(tmp, "ranks.tiktoken"), os.path.join(tmp, "ranks.json")
    special = args[1]
    description = describe(*args, first=False)
    lines = write("tiktoken", description, ranks).decode().splitlines()
    sidecar = write("sidecar", description, side)

    in_order = list(BYTE) + [a + b for a, b in json.loads(trained.to_str())["model"]["merges"]]
    in_order = list(dict.fromkeys(sorted(BYTE) + in_order))
    want = [f"{base64.b64encode(bytes(BYTE[c] for c in token)).decode()} {i}" for i, token in enumerate(in_order)]
    ok(lines == want, f"{tag}: .tiktoken has bytes and merges in order", difference(lines, want))

    enc = encoding_from(ranks, side)
    ids = json.loads(sidecar)["special_tokens"]
    ok(list(ids.items()) == list(zip(special, range(len(in_order), enc.n_vocab))) and enc.n_vocab == len(in_order) + len(special),
       f"{tag}: the sidecar's special tokens follow the ranks", ids)
    if not set(special) & set(COLLIDING):  # those have different ids in tokenizer.json
        bad = [t for t in texts if enc.encode(t, allowed_special="all") != last.encode(t).ids]
        ok(not bad, f"{tag}: tiktoken encodes to the ids of tokenizer.json", bad[:1])
    if not any(s != t and s.startswith(t) for s in special for t in special):  # otherwise, tiktoken may choose either
        token = in_order + special
        bad = [t for t in texts if [token[i] for i in enc.encode(t, allowed_special="all")] != last.encode(t).tokens]
        ok(not bad, f"{tag}: tiktoken encodes to the tokens of tokenizer.json", bad[:1])
    bad = [t for t in texts if enc.decode_bytes(enc.encode(t, allowed_special="all")) != t.encode()]
    ok(not bad, f"{tag}: tiktoken decodes to the text", bad[:1])


def check_round(number):
    rng = random.Random(f"{SEED}/{number}")
    name = [*REGEX, None][number % 4]
    regex = REGEX[name] if name else rng.choice(CUSTOM)
    special = rng.sample(ODD, rng.randrange(len(ODD)))
    if number // 4 % 2:
        special += rng.sample(COLLIDING, rng.randrange(1, 6))
        rng.shuffle(special)
    words = rng.sample(WORDS, rng.randrange(3, len(WORDS)))
    docs = [random_text(rng, words, rng.randrange(1, 60)) for _ in range(rng.randrange(1, 30))]
    trained = train(docs, 256 + len(special) + rng.choice([0, 1, 40, 300]), special, pre_tokenizer(name, regex))
    texts = docs + [random_text(rng, WORDS + special, 40) for _ in range(20)] + ["", *special]
    tag = f"round {number}, {name or 'regex'}"
    args = trained, special, name, regex
    with tempfile.TemporaryDirectory() as tmp:
        last = check_json(tag, tmp, trained, args, texts)
        check_gpt2(tag, tmp, trained, args, texts)
        check_tiktoken(tag, tmp, trained, last, args, texts)


def main():
    print(f"# tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    lib.rounds(ROUNDS, check_round)
    sys.exit(lib.done())


main()
