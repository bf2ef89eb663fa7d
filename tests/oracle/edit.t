#!/usr/bin/env python3
"""edit.t - bpe-model -v, --prune and --diff of random models give what edit_slow.py gives, and what training again gives.

The trained models are cut to every kind of size, and compared byte for byte with bpe-merge -v. The random models have merges in any
order, several merges for one token, tokens that no merge makes, ids in any order with unused ones between, ignore_merges, and added
tokens that merges make. Each .tiktoken file gives the same as its tokenizer.json.

    SEED     random seed (printed); MODELS: number of random models (12)
"""
import base64
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE, HERE + "/../pipe"]
import edit_slow  # noqa: E402
import lib  # noqa: E402
import records  # noqa: E402

RNG = random.Random(lib.seed())
MODELS = int(os.environ.get("MODELS") or 12)
GPT2 = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = sorted(lib.SPELLED.values())


def flags(content, number):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def random_list(letters):
    """A list of merges. Parts may be made by later merges, and several merges may make a token."""
    tokens, merges = list(letters), []
    for _ in range(RNG.choice([5, 15, 40])):
        pair = RNG.choice(tokens), RNG.choice(tokens)
        if pair not in merges and len(pair[0] + pair[1]) < 9:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    for _ in range(RNG.choice([0, 0, 3, 20])):  # other merges that make the same tokens
        token = RNG.choice(tokens)
        at = RNG.randrange(1, len(token)) if len(token) > 1 else 0
        if at and token[:at] in tokens and token[at:] in tokens and (token[:at], token[at:]) not in merges:
            merges.insert(RNG.randrange(len(merges) + 1), (token[:at], token[at:]))
    if RNG.random() < 0.3:
        RNG.shuffle(merges)
    return merges


def random_model(letters):
    merges = random_list(letters)
    made = list(dict.fromkeys(left + right for left, right in merges))
    others = [token for token in ("".join(RNG.choices(letters, k=4)) for _ in range(RNG.choice([0, 0, 1, 4]))) if token not in made]
    order = RNG.random()
    if order < 0.4:  # in the order of the merges
        tokens = BYTES + made
        for token in set(others):
            tokens.insert(RNG.randrange(256, len(tokens) + 1), token)
    else:
        tokens = BYTES + made + sorted(set(others))
        if order < 0.7:
            RNG.shuffle(tokens)
    special = ["<e>", "<pad>"][:RNG.randrange(3)]
    if RNG.random() < 0.3:
        special.append(RNG.choice(made))
    for token in special:
        if token not in tokens:
            tokens.insert(RNG.choice([0, len(tokens)]), token)
    gap = RNG.random() < 0.2
    vocab = {}
    for token in tokens:
        vocab[token] = len(vocab) if not vocab else max(vocab.values()) + RNG.choice([1] * 9 + [3] * gap)
    keyless = not gap and special[:1] == ["<e>"] and tokens[-1] == "<e>" and RNG.random() < 0.5  # as in Llama 3
    whole = {token: i for token, i in vocab.items() if not (keyless and token == "<e>")}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted((flags(t, vocab[t]) for t in special), key=lambda t: t["id"]),
            "normalizer": None, "pre_tokenizer": GPT2, "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": RNG.random() < 0.3, "vocab": whole,
                      "merges": [list(pair) for pair in merges]}}


def normal(model):
    """Without what edit_slow does not know: which added tokens are keys of the vocabulary."""
    return dict(model, model=dict(model["model"], vocab=edit_slow.ids(model)))


def run(*words):
    code, out, err = lib.run(["bpe-model", *words])
    return json.loads(out) if code == 0 else (code, err)


def same(got, want):
    return normal(got) == normal(want) if isinstance(got, dict) and want else isinstance(got, tuple) and got[0] == 64 and want is None


def unmade(model):
    """The tokens that merging does not make, without bytes and added tokens."""
    return set(model["model"]["vocab"]) - set(edit_slow.splits(model)) - set(BYTES) - edit_slow.added(model)


def make_text(letters, tokens):
    """Words of tokens or letters, some much more frequent than others."""
    words = ["".join(RNG.choices(tokens if RNG.random() < 0.7 else letters, k=RNG.choice([1, 1, 2, 3, 8]))) for _ in range(RNG.choice([3, 10, 30]))]
    return " ".join(RNG.choices(words, [RNG.random() ** 4 for _ in words], k=RNG.choice([0, 20, 300, 300])))


def sum_of(model):
    return lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", model, "text")))


bad = {what: [] for what in ("cut", "cut and skipped", "prune", "producible", "diff", "tiktoken")}
kinds = dict.fromkeys(["cut", "gap", "pruned", "all pruned", "ranks"], 0)


def try_cut(model, n_tokens, number):
    for n in sorted({256, n_tokens, *(RNG.randrange(250, n_tokens + 1) for _ in range(3))}):
        got, want = run("-v", str(n), "m.json"), edit_slow.cut(model, n)
        if want is None and isinstance(got, dict):  # several tokens end with the same merge: then the longest go first
            kinds["gap"] += 1
            if len(edit_slow.ids(got)) != n or (not model["model"]["ignore_merges"] and unmade(got) - unmade(model)):
                bad["cut and skipped"].append((number, n))
        elif not same(got, want):
            bad["cut"].append((number, n, got if isinstance(got, tuple) else "another model"))
        kinds["cut"] += want is not None


def try_prune(model, number):
    lib.write("sum", sum_of("m.json"))
    words = records.words(lib.read("sum"))
    most = len(model["model"]["vocab"])
    for n in RNG.choice([0, 1, 2, 3]), RNG.randrange(most - 256 + 2), most:
        got, want = run(f"--prune={n}", "m.json", "sum"), edit_slow.prune(model, n, words)
        if not same(got, want):
            bad["prune"].append((number, n, got if isinstance(got, tuple) else "another model"))
        if isinstance(got, dict) and unmade(got) - unmade(model):
            bad["producible"].append((number, n))
        kinds["pruned" if want else "all pruned"] += 1


def try_ranks(letters, number):
    """Changes of a .tiktoken file with random tokens, and of the tokenizer.json that it is converted to."""
    tokens = {"".join(RNG.choices(letters, k=RNG.choice([2, 2, 3, 4, 6]))) for _ in range(RNG.choice([3, 10, 30]))}
    ranks = [bytes([b]) for b in range(256)] + RNG.sample([t.encode() for t in sorted(tokens)], len(tokens))
    lib.write("m.tiktoken", "".join(f"{base64.b64encode(t).decode()} {i}\n" for i, t in enumerate(ranks)))
    lib.write("m2.json", lib.must("bpe-model", "-p", "gpt2", "-s", "<e>", "m.tiktoken"))
    lib.write("text", make_text(letters, sorted(tokens)))
    lib.write("sum", sum_of("m2.json"))
    words = records.words(lib.read("sum"))
    n, n_gone = RNG.randrange(255, len(ranks) + 2), RNG.randrange(len(tokens) + 2)
    for name, model in ("m2.json", json.loads(lib.read("m2.json"))), ("m.tiktoken", json.loads(lib.read("m2.json"))):
        model["model"]["ignore_merges"] |= name == "m.tiktoken"
        options = [] if name == "m2.json" else ["-p", "gpt2", "-s", "<e>"]
        got, want = run(f"-v{n}", *options, name), edit_slow.cut(model, n)
        others = run(f"--prune={n_gone}", *options, name, "sum"), edit_slow.prune(model, n_gone, words)
        for one, two in (got, want), others:
            if isinstance(one, dict) and two and name == "m.tiktoken":  # its conversion makes the merges anew
                one["model"].update(ignore_merges=two["model"]["ignore_merges"], merges=two["model"]["merges"])
            skipped = name == "m2.json" and one is got and isinstance(got, dict) and want is None
            if not skipped and not same(one, two):
                bad["tiktoken"].append((number, name, n, n_gone, one is got))
            kinds["ranks"] += two is not None


def properties(line):
    return line[2:].split(":")[0] in ("ids", "tokens", "merges", "special-tokens", "ignore-merges")


def try_diff(model, before, number):
    for other in filter(None, (before, edit_slow.remove(model, set(RNG.sample(sorted(unmade(model) | {BYTES[0]}), 1)) - set(BYTES)))):
        lib.write("b.json", json.dumps(other, ensure_ascii=False))
        code, out, _ = lib.run(["bpe-model", "--diff", "m.json", "b.json"])
        lines = out.decode().splitlines()
        if code != bool(lines) or {line for line in lines if not properties(line)} != edit_slow.diff(model, other):
            bad["diff"].append((number, sorted(set(filter(lambda x: not properties(x), lines)) ^ edit_slow.diff(model, other))[:3]))


def random_models():
    before = None
    for number in range(MODELS):
        letters = "abcd"[:RNG.choice([1, 2, 3, 4])]
        model = random_model(letters)
        lib.write("m.json", json.dumps(model, ensure_ascii=False))
        lib.write("text", make_text(letters + "e", sorted(set(model["model"]["vocab"]) - set(BYTES)) or letters))
        try_cut(model, len(edit_slow.ids(model)), number)
        try_prune(model, number)
        try_ranks(letters, number)
        try_diff(model, before, number)
        before = model


def trained():
    """Cutting a trained model is training a smaller one."""
    wrong = []
    lib.write("text", lib.text(RNG.randrange(1000), 20000))
    for special in ["--no-special"], ["-s", "<|endoftext|>", "-s", "ab", "-s", "the", "-s", "e"]:
        total = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", *special, "text")))
        for how in [], ["--special-last"], ["--tie=lex", "-f", "tiktoken"], ["--merges=string"]:
            lib.write("whole", lib.must("bpe-merge", "-v", "600", *how, data=total))
            ends = [form for form in ["-f", "tiktoken"] if form in how]
            for n in sorted({599, 600, 260, *(RNG.randrange(260, 600) for _ in range(2))}):
                got = lib.run(["bpe-model", "-v", str(n - (4 if ends and len(special) > 2 else 0)), *ends, "whole"])  # without a path it has no special tokens
                if got[:2] != (0, lib.must("bpe-merge", "-v", str(n), *how, data=total)):
                    wrong.append((special, how, n, got[2]))
    lib.ok(not wrong, "-v gives the files of bpe-merge -v, byte for byte", wrong[:3])


lib.own_directory()
trained()
random_models()
for what, name in {"cut": "-v keeps the tokens of the first merges", "cut and skipped": "  and of several with the same last merge the shorter ones",
                   "prune": "--prune removes the leaf with the lowest count, then the next", "producible": "  and no other token becomes unreachable",
                   "diff": "--diff shows all tokens and merges that differ", "tiktoken": "a .tiktoken file loses the same tokens"}.items():
    lib.ok(not bad[what], name, bad[what][:3])
lib.ok(min(kinds[kind] for kind in kinds if kind != "gap") > 0, "all kinds of models occurred", kinds)
print(f"# {kinds}")
sys.exit(lib.done())
