#!/usr/bin/env python3
# Encoding with the package: the ids are those of bpe-encode, for one text and for many, in any kind of sequence.
import json
import random
import signal
import sys
import threading
import time

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeValueError, Tokenizer

SEED = lib.seed()
MIXED = lib.text(SEED, 200000).decode("utf-8", "replace")
package.train("mixed.json", MIXED, 1000, "-s", "<|end|>")
changed = json.loads(lib.read("mixed.json"))
changed["normalizer"] = {"type": "NFC"}
lib.write("nfc.json", json.dumps(changed))
TOKENIZERS = {name: Tokenizer(name) for name in ("tokenizer.json", "nfc.json", "mixed.json")}

# ---- One text ----


def of_program(model, text, special):
    """The ids of bpe-encode, or None."""
    code, out, _ = lib.run(["bpe-encode", "-m", model, f"--special={special}", "-d", "u32"], text)
    return None if code else [int.from_bytes(out[i:i + 4], "little") for i in range(0, len(out), 4)]


def any_text(chance):
    """A short text of arbitrary parts."""
    parts = [
        lambda: chance.choice(["low", " newest", "\0", "\n\n", " ", "é", "e\u0301", "\U0001f980", "\ud7ff", "a" * 50]),
        lambda: chance.choice(["<|endoftext|>", "<|end|>", "<|end", "|>"]),
        lambda: chr(chance.choice([chance.randrange(0xD800), chance.randrange(0xE000, 0x110000)])),
        lambda: MIXED[(start := chance.randrange(len(MIXED))):start + chance.randrange(100)],
    ]
    return "".join(chance.choice(parts)() for _ in range(chance.randrange(12)))


random_one = random.Random(SEED)
for name, tok in TOKENIZERS.items():
    wrong = []
    for i in range(30):
        text = any_text(random_one) if i else ""
        for special in ("text", "token", "error"):
            want = of_program(name, text.encode(), special)
            try:
                ids = tok.encode(text, special=special)
            except BpeValueError as error:
                ids = None if "special token" in str(error) and error.exit_code == 65 else str(error)
            if ids != want or (ids is not None and tok.encode(text.encode(), special) != ids):
                wrong.append((text, special, ids, want))
    lib.ok(not wrong, f"{name}: the ids of a text are those of bpe-encode", wrong[:1])
tok = TOKENIZERS["mixed.json"]
lib.ok(tok.encode(MIXED) == of_program("mixed.json", MIXED.encode(), "text"), "so are those of a long text")
lib.ok(tok.encode_ordinary("a<|end|>") == tok.encode("a<|end|>", special="text"), "encode_ordinary")
lib.ok(tok.encode(bytearray(b"low")) == tok.encode(memoryview(b"low")) == tok.encode("low"), "bytearray, memoryview")
error = raised(BpeValueError, tok.encode, "low\ud800")
lib.ok(error and error.offset == 3 and "character 3: U+D800" in str(error), "a lone surrogate, and its offset", error)
error = raised(BpeValueError, tok.encode, b"low\xff")
lib.ok(error and error.offset == 3 and error.exit_code == 65, "invalid UTF-8, and its offset", error)
error = raised(BpeValueError, tok.encode, "low<|end|>", special="error")
told = error and (error.offset, error.exit_code, str(error))
lib.ok(told == (3, 65, "text: byte 3: special token <|end|> in the text"), "special=\"error\": a special token, and its offset", error)
error = raised(BpeValueError, tok.encode, ["low"])
lib.ok(error and "list" in str(error), "a list is not a text", error)

# ---- Many texts ----

np = package.module("numpy")
if not np:
    lib.skip("many texts", "numpy is not installed")
    sys.exit(lib.done())

from bpetools import _batch

docs = [any_text(random_one) for _ in range(2000)] + ["", MIXED, ""]
jsonl = "".join(json.dumps({"text": doc}) + "\n" for doc in docs).encode()
code, out, err = lib.run(["bpe-encode", "-m", "mixed.json", "--special=text", "--jsonl", "-f", "text"], jsonl)
want = [[int(word) for word in line.split()] for line in out.decode().split("\n")[:-1]]
FORMS = {
    "a list": lambda: docs,
    "a tuple": lambda: tuple(docs),
    "a generator": lambda: (doc for doc in docs),
    "bytes": lambda: [doc.encode() for doc in docs],
    "str and bytes": lambda: [doc.encode() if i % 3 else doc for i, doc in enumerate(docs)],
    "an array of objects": lambda: np.array(docs, object),
}
pa, pd = package.module("pyarrow"), package.module("pandas")
if pa:
    table = pa.chunked_array([pa.array(docs[:700]), pa.array(["none"] + docs[700:])[1:], pa.array([], "string")])
    FORMS.update({
        "pyarrow": lambda: table,
        "pyarrow, large": lambda: table.cast("large_string"),
        "pyarrow, bytes": lambda: table.cast("binary").combine_chunks(),
        "pyarrow, a dictionary": lambda: table.dictionary_encode(),
    })
if pd:
    FORMS["pandas"] = lambda: pd.Series(docs)
for block in (_batch.BLOCK, 1000):
    _batch.BLOCK = block
    for name, form in FORMS.items():
        arrays = tok.encode_batch(form(), threads=2)
        lib.ok([ids.tolist() for ids in arrays] == want, f"encode_batch of {name}, in blocks of {block}: the ids of bpe-encode")
        lib.ok(all(ids.dtype == np.uint32 for ids in arrays), "  as uint32")
    for threads in (1, 3, None):
        ids, offsets = tok.encode_flat(docs, threads=threads)
        lib.ok(
            ids.dtype == np.uint32 and offsets.dtype == np.uint64 and ids.tolist() == sum(want, [])
            and offsets.tolist() == [0, *np.cumsum([len(each) for each in want]).tolist()],
            f"encode_flat with {threads or 'any number of'} threads, in blocks of {block}")
_batch.BLOCK = 1000
got = [ids.tolist() for ids in tok.encode_iter(docs, special="token")]
lib.ok(got == [tok.encode(doc, special="token") for doc in docs], "encode_iter, with special tokens")
lib.ok(tok.encode_batch([]) == [] and tok.encode_flat([])[1].tolist() == [0], "no documents")
lib.ok([len(ids) for ids in tok.encode_batch(["", ""])] == [0, 0], "empty documents")
ids = tok.encode_batch(docs[:5])
ids[0][:] = 7
lib.ok([each.tolist() for each in ids[1:]] == want[1:5], "arrays can be written to")

grown = package.growth(lambda: tok.encode_batch([MIXED]), 200)
lib.ok(grown < 20 << 20, "unused arrays take no memory", grown)

taken = []
next(tok.encode_iter(taken.append(i) or "low" for i in range(100000)))
lib.ok(0 < len(taken) < 1000, "no more documents are taken than needed", len(taken))

for name, bad, told in (
    ("a lone surrogate", "a\udfffb", "character 1"),
    ("invalid UTF-8", b"ab\xff", "byte 2"),
    ("None", None, "NoneType"),
    ("a number", 5.5, "float"),
    ("a list", ["a"], "list"),
):
    error = raised(BpeValueError, tok.encode_batch, docs[:1500] + [bad, bad])
    known = error and error.document == 1500 and "document 1500" in str(error)
    lib.ok(known and told in str(error), f"{name} among documents, and its index", error)
for threads in 1, 2:
    error = raised(BpeValueError, tok.encode_batch, docs[:100] + [b"\xff"] + docs + ["\ud800"], threads=threads)
    lib.ok(error and error.document == 100, f"the first of two is reported, with threads={threads}", error)


def fail_at_two(number):
    if number == 2:
        raise ValueError(number)
    return number


results = _batch.overlapped(fail_at_two, iter((1, 2)), beside=True)
lib.ok(next(results) == 1 and raised(ValueError, results.close) is None, "results that are no longer requested cannot fail")
for name, bad in (("a str", "text"), ("bytes", b"text"), ("a dict", {"text": docs})):
    error = raised(BpeValueError, tok.encode_batch, bad)
    lib.ok(error and error.exit_code == 64, f"{name} is refused as documents", error)
if pa:
    error = raised(BpeValueError, tok.encode_batch, pa.chunked_array([["a", "b"], ["c", None]]))
    lib.ok(error and error.document == 3, "a null of pyarrow, and its index", error)
    for bad in pa.array([1]), pa.table({"a": ["b"]}):
        lib.ok(raised(BpeValueError, tok.encode_batch, bad), f"{type(bad).__name__} is refused as documents")

_batch.BLOCK = 1 << 20
for threads in 1, 2:
    alarm = threading.Thread(target=lambda: (time.sleep(0.2), signal.raise_signal(signal.SIGINT)))
    alarm.start()
    error = raised(KeyboardInterrupt, tok.encode_batch, (MIXED for _ in range(1 << 30)), threads=threads)
    alarm.join()
    lib.ok(error is not None, f"Control-C ends a batch, with threads={threads}")
    deadline = time.monotonic() + 5
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    lib.ok(threading.active_count() == 1, "  and no thread is left")
sys.exit(lib.done())
