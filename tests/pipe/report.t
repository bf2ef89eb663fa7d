#!/usr/bin/env python3
# bpe report: the figures in the JSON are those of slow, obvious definitions; the page and the JSON are whole; limits; what is refused.
import collections
import html.parser
import itertools
import json
import math
import os
import random
import re
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import lib
import linear
from lib import ok

lib.own_directory()
RNG = random.Random(lib.seed(5))
WORDS = {
    "en": "the lazy dog and quick fox of house cats 2024 123456 don't naïve   ( ) \n \t".split(" ") + ["  ", "\n\n"],
    "ko": "안녕하세요 세계 한국어 문장 입니다 있습니다 그리고 사용 하는 경우 2024 the".split(),
    "ru": "привет мир это предложение и слово для она были 7 of".split(),
}
DOCS = {name: [" ".join(RNG.choice(words) for _ in range(RNG.choice([0, 1, 5, 200]))) for _ in range(120)] for name, words in WORDS.items()}


def jsonl(docs):
    return "".join(json.dumps({"text": doc}) + "\n" for doc in docs)


def sum_of(path, *options):
    return lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", *options, path)))


for name, docs in DOCS.items():
    lib.write(name + ".jsonl", jsonl(docs))
    lib.write(name + ".txt", lib.EOT.join(docs))
    lib.write(name + ".sum", sum_of(name + ".txt"))
lib.write("en.big", lib.text(1, 300_000))
lib.write("big.sum", sum_of("en.big"))
lib.write("big2.sum", sum_of("en.big", "-p", "cl100k"))
lib.must("bpe-merge", "-v", "700", "-o", "en.json", "big.sum")
lib.must("bpe-merge", "-v", "600", "-o", "cl.json", "big2.sum")
lib.must("bpe", "train", "-v", "400", "-o", "ko.json", "ko.txt", "ru.txt", "en.txt")


def report(*options, models=("en.json",), want=0, output="r.html"):
    """The JSON, and the messages."""
    for path in ("r.html", "r.json"):
        if os.path.exists(path):
            os.unlink(path)
    given = ["-o", output] if output else []
    code, out, err = lib.run(["bpe", "report", *given, *itertools.chain(*(("-m", m) for m in models)), *options])
    if code != want or out:
        return None, f"exit {code}: {err}{out}"
    return json.loads(lib.read("r.json")) if output and os.path.exists("r.json") else None, err


def figures(got):
    return {(f["model"], f["source"]): f for f in got["figures"]}


# ---- Figures of text ----
def encoded(model, docs):
    """The ids of each document."""
    lib.write("docs.jsonl", jsonl(docs))
    return [[int(i) for i in line.split()] for line in lib.must("bpe-encode", "-m", model, "-f", "text", "--jsonl", "docs.jsonl").decode().splitlines()]


def vocabulary(model):
    top = json.loads(lib.read(model))
    special = {t["content"]: t["id"] for t in top["added_tokens"]}
    tokens = {i: key.encode() if key in special else lib.unspell(key) for key, i in top["model"]["vocab"].items()}
    merges = [(lib.unspell(a), lib.unspell(b)) for a, b in (m if isinstance(m, list) else m.split(" ") for m in top["model"]["merges"])]
    return tokens, {tokens[i] for i in special.values()}, merges


def renyi(counts, order=2.5):
    n = sum(counts.values())
    return math.log(sum((c / n) ** order for c in counts.values())) / (1 - order) / math.log(len(counts)) if len(counts) > 1 else None


def kind(token):
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "parts of characters"
    for c in text:
        if c.isalpha():
            return unicodedata.name(c).split()[0].capitalize().replace("Cjk", "Han")
    return "numbers" if any(c.isnumeric() for c in text) else "white space" if text.isspace() and not "\x1c" <= text[0] <= "\x1f" else "punctuation"


def definition(model, docs):
    tokens, special, _ = vocabulary(model)
    ids = encoded(model, docs)
    counts = collections.Counter(itertools.chain(*ids))
    ratios = [len(i) / len(doc.split()) for i, doc in zip(ids, docs) if doc.split()]
    kinds, lengths = collections.Counter(), [0] * 16
    for i, n in counts.items():
        kinds[kind(tokens[i])] += n
        lengths[min(len(tokens[i]), 16) - 1] += n
    size, n = sum(len(doc.encode()) for doc in docs), counts.total()
    return {"tokens": n, "types": len(counts), "bytes": size, "characters": sum(map(len, docs)), "bytes_per_token": size / n,
            "characters_per_token": sum(map(len, docs)) / n, "tokens_per_word": sum(ratios) / len(ratios), "tokens_per_word_pooled": n / sum(len(doc.split()) for doc in docs), "texts": len(ratios),
            "words": sum(len(doc.split()) for doc in docs), "renyi": renyi(counts), "utilisation": len(counts) / len(tokens),
            "type_token_ratio": len(counts) / n, "part_share": kinds["parts of characters"] / n, "kinds": dict(kinds), "lengths": lengths}


def same(a, b):
    return a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9))


def differences(got, want):
    return [(key, got.get(key), value) for key, value in want.items() if not same(got.get(key), value)]


got, err = report("--jsonl", *(f"{name}={name}.jsonl" for name in DOCS), models=("en.json", "ko.json"))
ok(got and not err, "a report on texts", err)
made = figures(got)
for model, name in itertools.product(("en.json", "ko.json"), DOCS):
    bad = differences(made[model, name], definition(model, DOCS[name]))
    ok(not bad, f"{model}, {name}: the figures", bad)
bad = differences(made["en.json", None], definition("en.json", list(itertools.chain(*DOCS.values()))))
ok(not bad, "all sources together", bad)
plain, err = report(*(f"{name}={name}.txt" for name in DOCS), models=("en.json", "ko.json"))
ok(not err and all(not differences(figures(plain)[key], {k: v for k, v in f.items() if "growth" not in k and "by_bytes" not in k}) for key, f in made.items()),
   "texts that end at a special token: the same")
one, err = report(*(f"x={name}.txt" for name in DOCS), models=("ko.json",))
ok(one and [s["name"] for s in one["sources"]] == ["x"] and figures(one)["ko.json", "x"]["tokens"] == made["ko.json", None]["tokens"],
   "files with one name are one source", err)

# ---- Sums ----
sums, err = report(*(f"{name}={name}.sum" for name in DOCS), models=("en.json", "ko.json"))
ok(sums and not err, "a report on sums", err)
bad = [(key, *differences(figures(sums)[key], {k: f[k] for k in ("tokens", "types", "bytes", "characters", "renyi", "kinds", "lengths", "part_share",
                                                               "bytes_per_token_by_vocabulary", "count_by_rank", "pretokens", "distinct_pretokens")}))
       for key, f in made.items()]
ok(not any(b[1:] for b in bad), "  has the same figures", bad)
ok(all(f[key] is None for f in sums["figures"] for key in ("tokens_per_word", "tokens_per_word_pooled", "texts", "words")), "  but not those that need text")
ok(figures(sums)["en.json", None]["distinct_pretokens"] is None, "  distinct pretokens of all sources together are not known")
mixed, err = report("en=en.sum", "ko.txt", models=("ko.json",))
ok(mixed and [s["form"] for s in mixed["sources"]] == ["sum", "text"] and figures(mixed)["ko.json", None]["tokens_per_word"] is None,
   "a sum and a text", err)

# ---- Curves ----
big, err = report("en.big", "s=big.sum", models=("en.json",))
text, total = figures(big)["en.json", "en.big"], figures(big)["en.json", "s"]
points = dict(map(tuple, text["bytes_per_token_by_vocabulary"]))
for size in sorted(points)[2:-1:6]:
    lib.must("bpe-merge", "-v", f"{size:.0f}", "-o", "small.json", "big.sum")
    fewer, err = report("s=big.sum", models=("small.json",))
    want = figures(fewer)["small.json", "s"]["bytes_per_token"]
    ok(same(points[size], want), f"a vocabulary of {size:.0f}: what training to that size gives", (points[size], want))
ok(len(points) > 5 and max(points) == 700 and min(points) == 257, "  from the bytes on to the whole vocabulary", sorted(points))
counts = {line.split(b"\t", 1)[1]: int(line.split(b"\t")[0]) for line in lib.must("bpe-view", "big.sum").splitlines() if line[:1].isdigit()}
bad = [(x, y) for x, y in total["distinct_pretokens_by_bytes"]
       if not math.isclose(y, sum(1 - (1 - x / total["bytes"]) ** c for c in counts.values()), rel_tol=0.01)]
ok(not bad and total["growth_is_expected"] and len(total["distinct_pretokens_by_bytes"]) > 9, "distinct pretokens of a sum: rarefaction", bad)
ok(not text["growth_is_expected"], "  of a text: measured")
data, bad = lib.read("en.big").replace(lib.EOT.encode(), b""), []
for x, y in text["distinct_pretokens_by_bytes"][:-1:3]:
    at, seen = 0, 0  # the first x bytes, special tokens not counted
    whole = lib.read("en.big")
    while seen < x:
        step = len(lib.EOT) if whole.startswith(lib.EOT.encode(), at) else 1
        seen += step == 1
        at += step
    lib.write("part", whole[:at])
    part = sum(line[:1].isdigit() for line in lib.must("bpe-view", data=sum_of("part")).splitlines())
    bad += [(x, y, part)] if abs(part - y) > 2 else []
ok(not bad, "  as in the first bytes of the text", bad)
ranks = text["count_by_rank"]
counted = sorted(collections.Counter(itertools.chain(*encoded("en.json", data.decode().split(lib.EOT)))).values(), reverse=True)
whole_counts = sorted((c for i, c in collections.Counter(itertools.chain(*encoded("en.json", lib.read("en.big").decode().split(lib.EOT)))).items()), reverse=True)
bad = [(x, y) for x, y in ranks if not math.isclose(y, whole_counts[int(x) - 1], rel_tol=0.02)]
ok(not bad and ranks[0][0] == 1, "frequency by rank", bad)
bad = [f["count_by_rank"][-1:] for f in (*made.values(), text, total) if f["count_by_rank"][-1][0] != f["types"]]
ok(not bad, "  its end is the rarest token", bad)


# ---- Tables ----
tokens, special, merges = vocabulary("en.json")
parts = {a + b: (a, b) for a, b in merges}
occur = collections.Counter()
for i, c in collections.Counter(itertools.chain(*encoded("en.json", DOCS["en"] + DOCS["ko"]))).items():
    occur[tokens[i]] += c


def applied(token, times, into):
    into[token] += times
    for part in parts.get(token, ()):
        applied(part, times, into)


saves = collections.Counter()
for token, c in occur.items():
    applied(token, c, saves)
got, err = report("en=en.sum", "ko=ko.txt", models=("en.json",))
tables = got["models"][0]["tables"]
shown = {name: [(t["id"], lib.unescape(t["text"].encode()), t["count"], t["merged"]) for t in table["tokens"]] for name, table in tables.items()}
bad = [t for t in itertools.chain(*shown.values()) if t[1:] != (tokens[t[0]], occur[tokens[t[0]]], saves[tokens[t[0]]])]
ok(not bad, "each token has its text, its count, and how often it is merged", bad[:3])
removable = [i for i, t in tokens.items() if len(t) > 1 and t not in special]
waste = sorted((i for i in removable if not saves[tokens[i]]), reverse=True)
ok([t[0] for t in shown["waste"]] == waste[:200] and tables["waste"]["n"] == got["models"][0]["waste"] == len(waste) > 0, "waste, the last learned first")
ok(got["models"][0]["waste_ids"] == sorted(waste), "  all ids")
want = sorted((i for i in removable if saves[tokens[i]]), key=lambda i: (saves[tokens[i]], -i))[:200]
ok([t[0] for t in shown["least_merged"]] == want, "merged least")
want = sorted((i for i in removable if occur[tokens[i]]), key=lambda i: (occur[tokens[i]], -i))[:200]
ok([t[0] for t in shown["least_used"]] == want, "used least")
want = [i for i in tokens if kind(tokens[i]) == "parts of characters"]
ok(tables["undecodable"]["n"] == got["models"][0]["undecodable"] == len(want), "parts of characters")
want = sorted((i for i in tokens if occur[tokens[i]]), key=lambda i: (-occur[tokens[i]], i))[:200]
ok([t[0] for t in shown["most_used"]] == want, "the most used")
want = [i for i in tokens if kind(tokens[i]) == "numbers" and len(tokens[i]) > 1]
def most(ids):
    return sorted(ids, key=lambda i: (-occur[tokens[i]], i))


ok([t[0] for t in shown["numbers"]] == most(want), "numbers", (shown["numbers"], want))
want = [i for i in tokens if kind(tokens[i]) == "white space" and tokens[i] not in special]
ok([t[0] for t in shown["white_space"]] == sorted(want, key=lambda i: (-len(tokens[i]), i)), "white space")
ok([t[0] for t in shown["longest"]] == sorted((i for i in tokens if tokens[i] not in special), key=lambda i: (-len(tokens[i]), i))[:200], "the longest")
want = [i for i in removable if not occur[tokens[i]] and saves[tokens[i]]]
ok([t[0] for t in shown["only_parts"]] == sorted(want, key=lambda i: (-saves[tokens[i]], i)) and tables["only_parts"]["n"] == len(want), "only parts of others")
model = got["models"][0]
kinds = collections.Counter(kind(t) for t in tokens.values() if t not in special)
lengths = collections.Counter(min(len(t), 16) for t in tokens.values() if t not in special)
ok(model["kinds"] == dict(kinds) and model["lengths"] == [lengths[i + 1] for i in range(16)], "kinds and lengths of the vocabulary", (model["kinds"], kinds))
ok(got["models"][0]["never_used"] == sum(not occur[t] and t not in special for t in tokens.values()), "those that never occur")
again = encoded("en.json", [t.decode(errors="replace") for t in tokens.values()])
reach = {"undecodable": sum(kind(t) == "parts of characters" for t in tokens.values()), "special": 1,
         "self": sum(kind(t) != "parts of characters" and t not in special and ids == [i] for (i, t), ids in zip(tokens.items(), again))}
ok(not differences(got["models"][0]["encoded_again"], reach), "encoded again", (got["models"][0]["encoded_again"], reach))

# A token that merges never make, one that the pattern splits, and one across characters.
top = json.loads(lib.read("ko.json"))
for token in ("zq zq", "qqzz", "é".encode() + b"\xed"):
    top["model"]["vocab"][lib.spell(token.encode() if isinstance(token, str) else token)] = len(top["model"]["vocab"])
lib.write("odd.json", json.dumps(top))
odd, err = report("ko.txt", models=("odd.json",))
cases = {lib.unescape(t["text"].encode()): t["encoded_again"] for t in odd["models"][0]["tables"]["unreachable"]["tokens"]}
ok(cases == {b"zq zq": "multi_token", b"qqzz": "multi_token"} and odd["models"][0]["unreachable"] == 2, "unreachable tokens", cases)
ok(lib.unescape(odd["models"][0]["tables"]["crossing"]["tokens"][-1]["text"].encode()) == "é".encode() + b"\xed", "a token across characters")

# ---- Parallel texts ----
got, err = report("--parallel", *(f"{name}={name}.jsonl" for name in DOCS), "--jsonl", models=("ko.json", "en.json"))
costs = [made["en.json", name]["tokens"] for name in DOCS]
want = sum(abs(a - b) for a in costs for b in costs) / (2 * len(costs) ** 2 * sum(costs) / len(costs))
ok(got and same(got["models"][1]["gini"], want), "the Gini coefficient", err)
ok(all(same(figures(got)["en.json", name]["premium"], c / costs[0]) for name, c in zip(DOCS, costs)), "premium")
ok(same(figures(got)["en.json", None]["premium"], max(costs) / costs[0]), "  the largest")
counts = [made["en.json", name]["texts"] for name in DOCS]
ok(("are they translations of each other?" in err) == (len(set(counts)) > 1), "a warning if the numbers of texts differ", (counts, err))
lib.write("three.jsonl", jsonl(DOCS["en"][:3]))
_, err = report("--parallel", "--jsonl", "a=en.jsonl", "b=en.jsonl", "three.jsonl")
ok("a has" in err and "three.jsonl has" in err, "  whichever it is", err)
_, err = report("--parallel", "en.sum", "ko.txt")
ok(err == "", "  not for sums, whose numbers are not known", err)
_, err = report("--parallel", "--require=premium<9", "/dev/null", "ko.txt", output=None, want=64)
ok("this figure is not known" in err, "an empty first source has no premium", err)

# ---- Models of every form, and text in windows ----
def counted(model, *options, data=None, specials=()):
    """What the ids of bpe-encode say: tokens, types."""
    ids = [int(i) for i in lib.must("bpe-encode", "-m", model, "-f", "text", *options, *([] if data else ["mixed.jsonl"]), data=data or b"").split()]
    counts = collections.Counter(i for i in ids if i not in specials)
    return {"tokens": counts.total(), "types": len(counts)}


def specials_of(model):
    return {t["id"] for t in model.get("added_tokens", []) if t["special"]}


mixed = ["".join(RNG.choice(["a", "b", "ab", "c", "aaaa", " ", "  ", "\n", "1", "é", "語", "\U0001f980", "the", " of"]) for _ in range(n)) for n in (0, 1, 5, 60, 300)]
lib.write("mixed.jsonl", jsonl(mixed))
words = {"texts": sum(bool(d.split()) for d in mixed), "words": sum(len(d.split()) for d in mixed),
         "bytes": sum(len(d.encode()) for d in mixed), "characters": sum(map(len, mixed))}
for form, model in linear.FORMS.items():
    if form == "whole-words":
        continue  # its added tokens are tokens of merges, too
    lib.write("form.json", json.dumps(model))
    got, err = report("--jsonl", "mixed.jsonl", models=("form.json",))
    bad = err or differences(got["figures"][0], {**counted("form.json", "--jsonl", specials=specials_of(model)), **(words if form not in ("strips", "llama2-strips", "nfc-added") else {})})
    ok(not bad, f"a model of the form {form}", bad)
    bad = [t for t in got["models"][0]["tables"]["unreachable"]["tokens"] if t["count"] and t["encoded_again"] != "single_token"] if got else err
    ok(not bad, "  no token that occurs is unreachable", bad)
    single = {t["text"] for t in got["models"][0]["tables"]["unreachable"]["tokens"] if t["encoded_again"] == "single_token"} if got else {}
    ok(({"a", "b"} <= single) == bool(model["model"].get("byte_fallback")), "  tokens of ASCII bytes are other tokens", single)
    text = got["figures"][0] if got else {}
    ok(text and same(text["bytes_per_token_by_vocabulary"][0][1], text["bytes_per_token"]), "  its curve ends at the whole vocabulary", text.get("bytes_per_token_by_vocabulary"))
span = json.loads(json.dumps(linear.FORMS["gemma"]))
for parts in ("a", "\u2581"), ("a\u2581", "b"):
    span["model"]["vocab"].setdefault("".join(parts), len(span["model"]["vocab"]))
    span["model"]["merges"].insert(0 if parts[0] == "a" else 1, " ".join(parts) if isinstance(span["model"]["merges"][0], str) else list(parts))
span["added_tokens"] = []
lib.write("span.json", json.dumps(span))
lib.write("span.txt", "a b a b b a b")
got, err = report("span.txt", models=("span.json",))
bad = err or differences(got["figures"][0], counted("span.json", data=b"a b a b b a b"))
ok(not bad and any(t["text"] == "a b" and t["count"] for t in got["models"][0]["tables"]["most_used"]["tokens"]), "a token of SentencePiece that spans words", bad)
lib.write("span.sum", lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", "span.json", "span.txt"))))
_, err = report("span.sum", models=("span.json",), want=64)
ok("tokens that span words, such as a " in err and "give the text instead of the sum" in err, "  a sum of words is refused", err)
lib.must("bpe", "train", "-v", "600", "--super=400", "-o", "super.json", "en.txt", "ko.txt")
lib.must("bpe", "train", "-v", "600", "--super=400,runs", "-f", "boundless", "-o", "runs.model", "en.txt", "ko.txt")
lib.must("bpe-model", "-f", "tiktoken", "-o", "en.tiktoken", "en.json")
for model in "super.json", "runs.model", "en.tiktoken":
    one, err = report("--jsonl", "en.jsonl", "ko.jsonl", models=(model,))
    bad = err or [differences(figures(one)[model, name], counted(model, "--jsonl", data=lib.read(name))) for name in ("en.jsonl", "ko.jsonl")]
    ok(bad == [[], []], f"{model}: tokens and types", bad)
    if model != "runs.model":
        lib.write("x.sum", lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", model, "ko.txt"))))
        total, err = report("ko.txt", "x.sum", models=(model,))
        a, b = (figures(total)[model, name] for name in ("ko.txt", "x.sum")) if total else ({}, {})
        ok(a and a["kinds"] == b["kinds"] and a["tokens"] == b["tokens"], "  a sum has the same", err)
lib.must("bpe-model", "-v", "300", "-o", "fewer.tiktoken", "-f", "tiktoken", "en.tiktoken")
whole, err = report("ko.txt", models=("en.tiktoken", "fewer.tiktoken"))
curve = dict(map(tuple, figures(whole)["en.tiktoken", "ko.txt"]["bytes_per_token_by_vocabulary"]))
half = min(curve, key=lambda x: abs(x - 350))
lib.must("bpe-model", "-v", f"{half:.0f}", "-o", "fewer.json", "en.json")
fewer, err = report("ko.txt", models=("fewer.json",))
ok(same(curve[half], fewer["figures"][0]["bytes_per_token"]), "a model that merges by rank: its curve", (half, curve[half]))
chat = json.loads(lib.read("en.json"))
chat["added_tokens"] += [{"id": 700, "content": "<|user|>", "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False},
                         {"id": 701, "content": "\n\n", "special": False, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}]
lib.write("chat.json", json.dumps(chat))
docs = [" ".join(RNG.choice(WORDS["ko"] + ["<|user|>", "\n\n", "left<|user|>right"]) for _ in range(n)) for n in (3, 5000, 150_000, 60_000, 1)]
lib.write("long.txt", lib.EOT.join(docs))
bare = [d.replace("<|user|>", "") for d in docs]
ids = [[int(i) for i in line.split() if i not in (b"0", b"700")] for line in lib.must("bpe-encode", "-m", "chat.json", "-f", "text", "long.txt").splitlines()]
split_words = [len(" ".join(d.split("<|user|>")).split()) for d in docs]
want = {"tokens": sum(map(len, ids)), "texts": 5, "words": sum(split_words), "bytes": sum(len(d.encode()) for d in bare), "characters": sum(map(len, bare)),
        "tokens_per_word": sum(len(i) / n for i, n in zip(ids, split_words)) / 5}
long, err = report("long.txt", models=("chat.json",))
bad = err or differences(long["figures"][0], want)
ok(not bad, "a text in many windows; added tokens that are special, and one that is not", bad)
lib.write("chat.sum", lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "-m", "chat.json", "long.txt"))))
report("chat.sum", models=("chat.json",))
ok(b"sums lack added tokens that are not special" in lib.read("r.html"), "  which sums lack, as the page says")
lib.write("inside.jsonl", jsonl([f"one two{lib.EOT}three", "four", lib.EOT]))
inside, err = report("--jsonl", "inside.jsonl", models=("chat.json",))
ok(inside and not differences(inside["figures"][0], {"texts": 2, "words": 4}), "separators do not end documents of JSON Lines", err)
once, err = report("en.big", models=("en.json",))
twice, err = report("x=en.big", "x=en.big", models=("en.json",))
disk, err2 = report("-S", "1", "x=en.big", "x=en.big", models=("en.json",))
bad = err or err2 or differences(disk["figures"][0], {k: v for k, v in twice["figures"][0].items() if "growth" not in k and "by_bytes" not in k})
ok(not bad and (twice["figures"][0]["growth_is_expected"], disk["figures"][0]["growth_is_expected"]) == (False, True),
   "counts on the disk: the same, but the growth is expected", bad)
ok(twice["figures"][0]["tokens"] == 2 * once["figures"][0]["tokens"], "  a file twice counts twice")
os.mkdir("b")
lib.write("b/tokenizer.json", json.dumps(chat))
lib.write("b/tokenizer_config.json", json.dumps({"eos_token": "<|user|>"}))
apart, err = report("long.txt", models=("chat.json", "b"))
back, err2 = report("long.txt", models=("b", "chat.json"))
ok(apart and back and figures(apart)["chat.json", "long.txt"]["texts"] == figures(back)["chat.json", "long.txt"]["texts"] == 5 < figures(back)["b", "long.txt"]["texts"],
   "models whose documents end at different tokens", (err, err2))
for policy, words, characters in ("replace", 6, 22), ("bytes", 6, 22), ("skip", 5, 20):
    lib.write("latin.txt", b"caf\xe9 au lait noir \xf0 b.")
    latin, err = report(f"--invalid={policy}", "latin.txt")
    bad = err or differences(latin["figures"][0], {"words": words, "characters": characters})
    ok(not bad, f"words of text that is not UTF-8, --invalid={policy}", bad)

# ---- The page ----


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.text = collections.Counter(), [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs[k] for k in ("href", "src") if k in attrs]

    def handle_data(self, data):
        self.text.append(data)


got, err = report("--require=bytes_per_token>=0.5,tokens:ko<1000000", *(f"{name}={name}.txt" for name in DOCS), models=("en.json", "ko.json", "odd.json"))
page = Page()
page.feed(lib.read("r.html").decode())
ok(page.tags["script"] == page.tags["img"] == page.tags["link"] == 0, "the page has no script, and nothing from elsewhere")
ok(all(link.startswith("#") and link[1:] in page.ids or link.startswith("https://") for link in page.links), "  its links lead somewhere", page.links)
ok(len(page.ids) == len(set(page.ids)), "  ids are unique")
rows = re.findall(r"<th scope=row><code dir=ltr>[^\n]*?</code><td>([\d,]+)<td class=t>(\d+): .*?<td class=t>(\d+): .*?<td class=t>(\d+): ", lib.read("r.html").decode())
costs = [int(n.replace(",", "")) * (max(map(int, k)) - min(map(int, k))) for n, *k in rows]
ok(len(rows) == 36 and all(costs[i:i + 12] == sorted(costs[i:i + 12], reverse=True) for i in (0, 12, 24)) and max(costs) > 0, "  frequent words, those that cost most first", costs)
figs = page.tags["figure"]
ok(figs > 15 and page.tags["desc"] == page.tags["title"] - 1 and page.tags["details"] > page.tags["desc"], "  each picture has words and a table", page.tags)
words = re.sub(r"\s+", " ", "".join(page.text))
ok(re.search(r"In ko, en\.json makes [\d.]+ times as many tokens as (ko|odd)\.json .*is mostly: parts of characters \+[\d,]+, .*en.json has 0 tokens of the script Hangul", words), "  it says why a model needs more", words[:1500])
found = re.search(r"en\.json: of 700 tokens, ([\d,]+) never occur in these sources: ([\d,]+) \([\d.]+.%\) are waste here, not even parts of others; ([\d,]+) are parts of others; ([\d,]+) are single bytes", words)
ok(found and int(found[1]) == sum(map(int, found.groups()[1:])) == got["models"][0]["never_used"], "  and how many tokens are waste", words[:1500])
ok("holds" in words and "falls short" not in words, "  and that limits hold")
lib.write("<&b>.txt", "low <b>lower</b> & \"newest\" \x01 <script>\n" * 40)
got, err = report("<&b>.txt", models=("en.json",))
data = lib.read("r.html").decode()
ok("<script" not in data and "&lt;&amp;b&gt;.txt" in data and "\x01" not in data, "markup in names and text is escaped")
got, err = report("ko.txt", "-o", "x/none.html")
ok(got is None and "exit 73: bpe report: x/none" in err, "a page that cannot be created", err)
got, err = report("ko.txt", output="page")
ok(os.path.exists("page") and os.path.exists("page.json"), "a page with another name")
before = lib.read("ko.json")
for output in "ko.html", "b/tokenizer.html":
    _, err = report("ko.txt", models=("en.json",), output=output, want=73)
    ok("exists, and is not the JSON of a report" in err and lib.read("ko.json") == before and not os.path.exists(output), f"-o {output}: no model is replaced", err)
for output in "", "-", "/dev/null", "en.txt", "ko.json":
    _, err = report("en.txt", output=output, want=64)
    ok("bpe report: " in err and err.count("\n") == 1 and not os.path.exists(".json"), f"-o '{output}' is refused", err)

# ---- Limits ----
for limits, want, says in (
    ("bytes_per_token>=0.1,unreachable=0", 0, ""),
    ("unreachable=2", 1, "bpe report: en.json: unreachable is 0; required: unreachable=2\n"),
    ("vocabulary<=600,vocabulary>699", 1, "bpe report: en.json: vocabulary is 700; required: vocabulary<=600\n"),
    ("tokens_per_word:ko<0.5", 1, "bpe report: en.json: tokens_per_word of ko is "),
    ("vocabulary>=700,vocabulary<=700,vocabulary=700", 0, ""),
    (" vocabulary >= 700 , tokens : ko > 5 ", 0, ""),
    ("vocabulary>700", 1, "vocabulary is 700; required: vocabulary>700"),
    ("vocabulary<700", 1, "vocabulary is 700; required: vocabulary<700"),
    ("nonsense=1", 64, "--require: 'nonsense=1': no such figure; give METRIC"),
    ("unreachable", 64, "no operator"),
    ("unreachable=x", 64, "no number after the operator"),
    ("unreachable=1x", 64, "no number after the operator"),
    ("unreachable:ko=1", 64, "this figure has no source"),
    ("tokens:de=1", 64, "there is no source de"),
    ("gini<1", 64, "this figure needs --parallel"),
    ("premium:ko<1", 64, "this figure needs --parallel"),
    ("", 64, "no such figure"),
):
    got, err = report(f"--require={limits}", "ko=ko.txt", output=None, want=want)
    ok(("exit" not in err) and says in err and (err.count("\n") == bool(says)), f"--require={limits}: status {want}", err)
got, err = report("--require=tokens_per_word<9", "ko=ko.sum", output=None, want=64)
ok("it needs text, not a sum" in err, "a figure that a sum does not have", err)
got, err = report("--require=texts=0", "ko=ko.sum", output=None, want=64)
ok("it needs text, not a sum" in err, "  nor texts", err)
got, err = report("--require=tokens_per_word<9", "/dev/null", output=None, want=64)
ok("there are no words" in err, "  nor an empty text", err)
got, err = report("--require=vocabulary=1", "--require=tokens>0", "ko=ko.txt", output=None, want=1)
ok("required: vocabulary=1" in err, "several --require", err)
records = lib.must("bpe-chunk", "-b", "1K", "--inline", "ko.txt").split(b"\n")
lib.write("part.sum", lib.must("bpe-sum", "--partial", data=lib.must("bpe-count", data=b"\n".join(records[:3]) + b"\n")))
got, err = report("--require=tokens>0", "part.sum", want=75)
ok("part.sum is incomplete" in err, "an incomplete sum meets no limit", err)
got, err = report("part.sum")
ok(got and not got["sources"][0]["complete"] and b"incomplete" in lib.read("r.html") and "counted so far" in err, "  and the page says that it is one", err)
got, err = report("--require=vocabulary=700", "ko.txt", models=("en.json", "ko.json"), want=1)
ok(got and [r["holds"] for r in got["require"]] == [True, False] and b"falls short" in lib.read("r.html"), "every model must meet it; the page is written", err)

# ---- What is refused ----
lib.write("bad.txt", b"abc\xff")
whole = lib.read("big.sum")
first = whole.index(b"\n") + 1 # the first record
lib.write("torn.sum", whole[:first])
lib.write("cut.sum", whole[:first + 9])
for want, says, options, models in (
    (65, "big.sum was counted by pattern=gpt2, but cl.json splits text by pattern=cl100k; give the text instead of the sum", ["big.sum"], ["cl.json"]),
    (64, "ko: cannot", ["ko=ko.sum", "ko=ko.txt"], ["en.json"]),
    (64, "at most 5 models", ["ko.txt"], ["en.json"] * 6),
    (64, "missing -m MODEL", ["ko.txt"], []),
    (66, "none.txt: ", ["ko=none.txt"], ["en.json"]),
    (65, "bad.txt: byte 3: invalid UTF-8", ["bad.txt"], ["en.json"]),
    (65, "cut.sum: byte ", ["en=big.sum", "ko=cut.sum"], ["en.json"]),
    (75, "torn.sum: the run's promise, its inventory of inputs, never arrived: ", ["en=big.sum", "ko=torn.sum"], ["en.json"]),
    (64, "ko.sum: is a sum; --jsonl applies only to text", ["--jsonl", "ko.sum"], ["en.json"]),
):
    got, err = report(*options, models=models, want=want)
    ok("exit" not in err and (says in err or says == "ko: cannot" and "cannot describe text and sums together" in err) and err.count("\n") == 1
       and not os.path.exists("r.html"), f"{' '.join(options)}: {says[:60]}", err)
code, out, err = lib.run(["bpe", "report", "-m", "en.json", "ko.txt"])
ok(code == 64 and "give -o report.html, or --require" in err, "nothing to do", err)
code, out, err = lib.run(["bpe", "report", "-o", "x.json", "-m", "en.json", "ko.txt"])
ok(code == 64 and "-o x.json: name the page" in err and not os.path.exists("x.json"), "a page with the JSON's name", err)
code, out, err = lib.run(["bpe", "report", "-o", "r.html", "-m", "en.json"], b"the fox")
ok(code == 0 and json.loads(lib.read("r.json"))["sources"][0]["name"] == "standard input", "standard input", err)
empty, err = report("/dev/null")
ok(empty and empty["figures"][0]["tokens"] == 0 and empty["figures"][0]["bytes_per_token"] is None, "an empty text", err)
many, err = report(*(f"s{i}=ko.sum" for i in range(20)))
ok(many and len(many["sources"]) == 20 and b"these are the first 12" in lib.read("r.html"), "many sources", err)
sys.exit(lib.done())
