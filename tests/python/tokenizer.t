#!/usr/bin/env python3
# Tokenizer of the package: opening, tokens, decoding, errors, copies; the examples in docstrings.
import doctest
import importlib
import os
import pathlib
import pickle
import shutil
import sys
import threading

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeError, BpeValueError, Tokenizer

np = package.module("numpy")
tok = Tokenizer("tokenizer.json")
own = lib.read("tokenizer.json")

# ---- Documentation ----

lib.write("docs.jsonl", '{"text":"' + package.TEXT + '"}\n')
if np:
    finder, runner, failures = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False), []
    for name in sorted(pathlib.Path(package.ROOT, "bpetools").glob("*.py")):
        module = bpetools if name.stem == "__init__" else importlib.import_module("bpetools." + name.stem)
        for test in finder.find(module, extraglobs={"tok": tok}):
            runner.run(test, out=failures.append)
    lib.ok(not runner.failures, "the examples in docstrings are right", "".join(failures))
    lib.ok(runner.tries > 5, "  and there are some", runner.tries)
else:
    lib.skip("the examples in docstrings are right", "numpy is not installed")

# ---- Opening ----

EXPECTED = [268, 267, 264]
SOURCES = {
    "from_file": lambda: Tokenizer.from_file("tokenizer.json"),
    "from_str": lambda: Tokenizer.from_str(own.decode()),
    "from_buffer": lambda: Tokenizer.from_buffer(own),
    "from_pretrained": lambda: Tokenizer.from_pretrained("directory"),
    "a path of bytes": lambda: Tokenizer(b"tokenizer.json"),
    "vocab.json and merges.txt": lambda: Tokenizer("gpt2"),
    "a .tiktoken file with its .json": lambda: Tokenizer("a.tiktoken"),
    "a .tiktoken file, with pattern and special tokens": lambda: Tokenizer("b.tiktoken", "gpt2", {lib.EOT: 0}),
}
tok.save("directory", "hf-dir")
tok.save("gpt2", "gpt2")
tok.save("a.tiktoken")
shutil.copy("a.tiktoken", "b.tiktoken")
for name, make in SOURCES.items():
    made = make()
    lib.ok(made.encode("low lower newest") == EXPECTED, f"{name}: encodes", made)
    lib.ok(made.token_to_id(lib.EOT) == 0, f"{name}: has the special token")
    lib.ok(Tokenizer.from_str(made.to_str()).encode("low lower newest") == EXPECTED, f"{name}: to_str can be read")

lib.ok(tok.to_str().encode() == own, "to_str gives the file unchanged")
tok.save("again.json")
lib.ok(lib.read("again.json") == own, "save writes the file unchanged")
lib.ok(os.stat("again.json").st_mode == os.stat("tokenizer.json").st_mode, "  with the usual permissions")

# ---- Tokens ----

lib.ok(tok.vocab_size == len(tok) == 269, "vocab_size, len", tok.vocab_size)
lib.ok("269 ids, 1 special token, eos_token_id 0" in repr(tok), "repr", tok)
lib.ok(tok.special_tokens == {lib.EOT: 0} and tok.eos_token_id == tok.pad_token_id == 0, "special tokens")
lib.ok(tok.token_to_id("Ġlower") == tok.token_to_id(b" lower") == 267, "token_to_id takes names and bytes")
lib.ok(tok.token_to_id("none") is tok.token_to_id(b"none") is None, "  an unknown token is None")
lib.ok((tok.id_to_token(267), tok.id_to_bytes(267)) == ("Ġlower", b" lower"), "id_to_token, id_to_bytes")
lib.ok(tok.id_to_token(269) is tok.id_to_bytes(-1) is tok.id_to_token(1 << 40) is None, "  an unknown id is None")
vocab = tok.get_vocab()
lib.ok(len(vocab) == 269 and vocab["Ġlower"] == 267 and vocab[lib.EOT] == 0, "get_vocab has all tokens")

# ---- Decoding ----

text = "low\0 é 🦀 lower\n<|endoftext|> newest"
ids = tok.encode(text, special="token")
lib.ok(tok.decode(ids) == text and tok.decode_bytes(ids) == text.encode(), "decode is the inverse of encode")
lib.ok(tok.decode(ids, skip_special_tokens=True) == text.replace(lib.EOT, ""), "skip_special_tokens")
lib.ok(tok.decode(tuple(ids)) == tok.decode(iter(ids)) == text, "a tuple and an iterator are decoded")
lib.ok(tok.decode_batch([ids, []]) == [text, ""], "decode_batch")
half = tok.encode("é")[:1]
lib.ok(tok.decode(half) == "\ufffd", "half a character")
lib.ok(raised(UnicodeDecodeError, tok.decode, half, errors="strict"), "  is an error with strict")
lib.ok(tok.decode(tok.encode("low" * 100000)) == "low" * 100000, "long text")
if np:
    for kind in (np.uint16, np.int64, np.uint32):
        lib.ok(tok.decode(np.array(ids, kind)[::1]) == text, f"numpy's {kind.__name__} is decoded")
    lib.ok(tok.decode(np.array(ids * 2)[::2]) == tok.decode((ids * 2)[::2]), "  and every second id of an array")
    lib.ok(raised(BpeValueError, tok.decode, np.array([1, -100])), "a negative number in an array is an error")
    lib.ok(raised(BpeValueError, tok.decode, np.array([0.5])), "an array of non-integers is an error")
BAD = (
    ([1, -100], "-100 at index 1"), ([1, 2, 269], "269 at index 2"), ([1, "a"], "'a' at index 1 is str"), (5, "pass [5]"),
    ([1.5], "1.5 at index 0 is float"), ([[1, 2]], "[1, 2] at index 0 is list, not int; decode_batch"), ("a", "not str"),
)
for bad, told in BAD:
    error = raised(BpeValueError, tok.decode, bad)
    lib.ok(error and told in str(error), f"decode({bad}) is an error that names the item", error)

# ---- Errors ----

error = raised(BpeError, Tokenizer, "none.json")
known = error and error.exit_code == 66 and error.input == "none.json"
lib.ok(known and "none.json: " in error.message, "a missing file", error)
lib.write("bad.json", own.replace(b'"BPE"', b'"WordPiece"'))
error = raised(BpeValueError, Tokenizer, "bad.json")
known = error and error.exit_code == 65 and error.input == "bad.json"
lib.ok(known and error.offset, "a tokenizer.json of another kind, and its offset", error)
error = raised(BpeError, Tokenizer.from_pretrained, "some/model")
lib.ok(error and "snapshot_download" in str(error), "from_pretrained says how to get a model from the hub", error)
error = raised(BpeValueError, Tokenizer("b.tiktoken").encode, "low")
lib.ok(error and "pattern" in str(error), "a .tiktoken file without a pattern", error)
lib.ok(raised(ValueError, tok.encode, "a", special="none"), "an unknown value of special")
lib.ok(raised(ValueError, tok.encode_flat, ["a"], threads=-1), "a negative number of threads")
again = pickle.loads(pickle.dumps(raised(BpeError, Tokenizer, "none.json")))
lib.ok(again.exit_code == 66 and "none.json" in str(again), "errors can be pickled")

# ---- Copies, threads, memory, start-up time ----

for name, make in SOURCES.items():
    again = pickle.loads(pickle.dumps(make()))
    lib.ok(again.encode("low lower newest") == EXPECTED and again.eos_token_id == 0, f"pickled: {name}")
changed = Tokenizer("gpt2")
shutil.copy("gpt2/merges.txt", "merges")
lib.write("gpt2/merges.txt", b"".join(lib.read("gpt2/merges.txt").splitlines(True)[:-1]))
error = raised(BpeError, pickle.dumps, changed)
lib.ok(error and "changed" in str(error), "a tokenizer whose file has changed is not pickled", error)

texts = ["low lower newest" * n for n in range(200)]
wanted, wrong = [tok.encode(text) for text in texts], []


def encode_all():
    wrong.extend(text for text, ids in zip(texts, wanted) if tok.encode(text) != ids)


threads = [threading.Thread(target=encode_all) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
lib.ok(not wrong, "threads share a tokenizer")
lib.ok(len({id(buffer) for buffer in tok._pool}) == len(tok._pool) <= 5, "  but no buffers", len(tok._pool))
grown = package.growth(lambda: Tokenizer("tokenizer.json").encode("low"), 300)
lib.ok(grown < 20 << 20, "closed tokenizers take no memory", grown)

START = f"import sys, time; sys.path.insert(0, {package.ROOT!r}); t = time.process_time(); import bpetools; "
TIME = START + "print(time.process_time() - t)"
seconds = min(float(lib.must(sys.executable, "-I", "-c", TIME)) for _ in range(5))
lib.ok(seconds < 0.03, "import bpetools takes less than 30 ms", seconds)
found = lib.must(sys.executable, "-I", "-c", START + "print({'numpy', 'subprocess'} & {*sys.modules})")
lib.ok(found == b"set()\n", "  without numpy and subprocess", found)
sys.exit(lib.done())
