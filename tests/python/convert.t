#!/usr/bin/env python3
# Converts a tokenizer to other formats, and to objects of transformers, tokenizers and tiktoken: the ids do not change.
import json
import os
import pickle
import random
import sys
import warnings

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeError, BpeValueError, Tokenizer

SEED = lib.seed()
MIXED = lib.text(SEED, 100000).decode("utf-8", "replace")
package.train("mixed.json", MIXED, 700, "-s", "<pad>")
tok = Tokenizer("mixed.json")
chance = random.Random(SEED)
TEXTS = ["", "\0", "low<|endoftext|> é\u0301 🦀<pad>"]
TEXTS += [MIXED[(start := chance.randrange(len(MIXED))):start + chance.randrange(1, 200)] for _ in range(200)]


def same(name, encode, decode):
    """Tests that functions of another package give the same ids and text as the tokenizer."""
    wrong = [text for text in TEXTS if encode(text) != tok.encode(text, special="token")]
    lib.ok(not wrong, f"{name}: the same ids", wrong[:1])
    wrong = [text for text in TEXTS if decode(tok.encode(text)) != text]
    lib.ok(not wrong, f"{name}: the same text", wrong[:1])


# ---- Files ----

FILES = {"dir": "hf-dir", "dir/.": None, "new/": None, "gpt2": "gpt2", "a.tiktoken": None, "a.json": None}
for path, form in FILES.items():
    tok.save(path, form)
    again = Tokenizer(path)
    lib.ok([again.encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS], f"save({path!r}, {form!r})")
    lib.ok(again.special_tokens == tok.special_tokens, "  and special tokens")
    lib.ok((again.eos_token_id, again.pad_token_id) == (0, 1), "  and their roles")
tok.save("merges", "merges")
lib.ok(lib.read("merges") == lib.must("bpe-model", "-f", "merges", "mixed.json"), "save as merges")
lib.ok(raised(BpeValueError, tok.save, "a", "none"), "an unknown format")
for path in "none/a.json", "none/a.tiktoken", "none/a/", "none/a/b/":
    error = raised(BpeError, tok.save, path)
    lib.ok(error and error.exit_code == 73 and f"{path}" in str(error), "a missing directory", error)

os.unlink("dir/special_tokens_map.json")
CONFIG = {
    "eos_token": "<pad>", "bos_token": {"__type": "AddedToken", "content": lib.EOT, "lstrip": False}, "unk_token": None,
    "chat_template": "{{ 'é' }}", "model_max_length": 99, "added_tokens_decoder": {},
}
lib.write("dir/tokenizer_config.json", json.dumps(CONFIG))
other = Tokenizer("dir")
other.save("dir2", "hf-dir")
KEPT = {"bos_token": lib.EOT, "chat_template": "{{ 'é' }}", "model_max_length": 99}
for name, made in ("opened", other), ("saved", Tokenizer("dir2")), ("pickled", pickle.loads(pickle.dumps(other))):
    known = (made.bos_token_id, made.eos_token_id, made.pad_token_id, made._config)
    lib.ok(known == (0, 1, 1, KEPT), f"the settings in a directory are kept: {name}", known)
plain = Tokenizer("tokenizer.json")
plain.save("dir3/")
os.unlink("dir3/special_tokens_map.json")
lib.write("dir3/tokenizer_config.json", json.dumps({"eos_token": lib.EOT}))
Tokenizer("dir3").save("dir4/")
known = [made.pad_token_id for made in (plain, Tokenizer("dir3"), Tokenizer("dir4"))]
lib.ok(known == [0, None, None], "a directory without pad_token has none", known)
lib.ok(tok.bos_token_id is None, "without bos_token, bos_token_id is None")
lib.write("dir2/chat_template.jinja", "{{ 'b' }}")
lib.ok(Tokenizer("dir2")._config["chat_template"] == "{{ 'b' }}", "chat_template.jinja has precedence")
with warnings.catch_warnings(record=True) as remarks:
    warnings.simplefilter("always")
    tok.save("a.json")
    other.save("b.json")
    other.save("b", "gpt2")
    other.save("b.tiktoken")
    Tokenizer.from_buffer(lib.read("mixed.json").replace(b'"use_regex": true', b'"use_regex": false')).save("c", "gpt2")
lost = [str(remark.message) for remark in remarks]
TOLD = f"bos_token {lib.EOT}, eos_token <pad>", 'format="gpt2" does not record that <pad> ends', "pattern"
lib.ok(len(lost) == 3 and all(map(str.__contains__, lost, TOLD)), "a format that cannot keep something warns", lost)
lib.ok(Tokenizer("b.tiktoken").eos_token_id == 1, "  and b.tiktoken.json keeps eos_token")
lib.ok(all(remark.filename == __file__ for remark in remarks), "  with the caller's line")

# ---- Other packages ----


def convert(name):
    """The tokenizer as an object of another package, or None."""
    call = getattr(tok, f"to_{name}")
    if package.module(name):
        return call()
    error = raised(ImportError, call)
    lib.ok(error and f"pip install {name}" in str(error), f"without {name}: the error says what to install", error)
    lib.skip(f"to_{name}", f"{name} is not installed")
    return None


hf = convert("tokenizers")
if hf:
    same("tokenizers", lambda text: hf.encode(text, add_special_tokens=False).ids, lambda ids: hf.decode(ids, False))
encoding = convert("tiktoken")
if encoding:
    same("tiktoken", lambda text: encoding.encode(text, allowed_special="all"), encoding.decode)
    lib.ok((encoding.n_vocab, encoding.name) == (tok.vocab_size, "bpetools"), "  the vocabulary size, and a name")
auto = convert("transformers")
if auto:
    same("transformers", lambda text: auto.encode(text, add_special_tokens=False), auto.decode)
    lib.ok((auto.eos_token, auto.pad_token_id, auto.is_fast) == (lib.EOT, 1, True), "  eos_token and pad_token")
    lib.ok(tok.to_transformers(model_max_length=99).model_max_length == 99, "  and other arguments")
    for made in other.to_transformers(), package.module("transformers").AutoTokenizer.from_pretrained("dir2"):
        lib.ok((made.bos_token, made.eos_token, made.model_max_length) == (lib.EOT, "<pad>", 99), "  or settings in the directory", made)
    lib.ok(other.to_transformers().chat_template == "{{ 'é' }}", "  with the chat template")

# ---- toktokenizer ----

bpe = bpetools.BPETokenizer()
lib.ok(raised(BpeValueError, bpe.encode, "low") and len(bpe) == 256, "BPETokenizer: not trained yet")
bpe.train("this is some training data. any dumped string will do!", 8)
bpe.save_encoder("8word.json")
bpe.load_encoder("8word.json")
text = "some data é 🦀 \0"
lib.ok(bpe.decode(bpe.encode(text)) == text, "BPETokenizer: the example of toktokenizer")
lib.ok((bpe.n_vocab, len(bpe)) == (8, 264) and len(bpe.encode("some training")) < 13, "  is trained", bpe)
again = bpetools.BPETokenizer.from_pretrained("8word.json")
lib.ok(again.encode("this is") == bpe.encode("this is"), "  from_pretrained")
sys.exit(lib.done())
