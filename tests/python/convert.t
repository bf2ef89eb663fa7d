#!/usr/bin/env python3
# A tokenizer of the package in other formats, and as objects of transformers, tokenizers and tiktoken: the ids stay.
import os
import pickle
import random
import sys
import warnings

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeValueError, Tokenizer

SEED = lib.seed()
MIXED = lib.text(SEED, 100000).decode("utf-8", "replace")
package.train("mixed.json", MIXED, 700, "-s", "<pad>")
tok = Tokenizer("mixed.json")
chance = random.Random(SEED)
TEXTS = ["", "\0", "low<|endoftext|> é\u0301 🦀<pad>"]
TEXTS += [MIXED[(start := chance.randrange(len(MIXED))):start + chance.randrange(1, 200)] for _ in range(200)]


def same(name, encode, decode):
    """Whether ids and text are those of the tokenizer, by functions of another package."""
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
    lib.ok((again.eos_token_id, again.pad_token_id) == (0, 1), "  and what they are for")
tok.save("merges", "merges")
lib.ok(lib.read("merges") == lib.must("bpe-model", "-f", "merges", "mixed.json"), "save as merges")
lib.ok(raised(BpeValueError, tok.save, "a", "none"), "a format that is none")
lib.ok(raised(OSError, tok.save, "none/a.json"), "a directory that is not there")

os.unlink("dir/special_tokens_map.json")
lib.write("dir/tokenizer_config.json", '{"eos_token": "<pad>"}')
other = Tokenizer("dir")
other.save("dir2", "hf-dir")
lib.ok(other.eos_token_id == Tokenizer("dir2").eos_token_id == 1, "the eos_token of a directory is kept")
lib.ok(pickle.loads(pickle.dumps(other)).eos_token_id == 1, "  also by pickle")
with warnings.catch_warnings(record=True) as remarks:
    warnings.simplefilter("always")
    other.save("b.tiktoken")
    Tokenizer.from_buffer(lib.read("mixed.json").replace(b'"use_regex": true', b'"use_regex": false')).save("c", "gpt2")
lost = [str(remark.message) for remark in remarks]
lib.ok(len(lost) == 2 and "<pad>" in lost[0] and "pattern" in lost[1], "what a format does not keep is a warning", lost)
lib.ok(all(remark.filename == __file__ for remark in remarks), "  of the line that calls")

# ---- Other packages ----



def convert(name):
    """The tokenizer as an object of another package, or None."""
    call = getattr(tok, f"to_{name}")
    if package.module(name):
        return call()
    error = raised(ImportError, call)
    lib.ok(error and f"pip install {name}" in str(error), f"without {name}: what to install", error)
    lib.skip(f"to_{name}", f"{name} is not installed")
    return None


hf = convert("tokenizers")
if hf:
    same("tokenizers", lambda text: hf.encode(text, add_special_tokens=False).ids, lambda ids: hf.decode(ids, False))
encoding = convert("tiktoken")
if encoding:
    same("tiktoken", lambda text: encoding.encode(text, allowed_special="all"), encoding.decode)
    lib.ok((encoding.n_vocab, encoding.name) == (tok.vocab_size, "bpetools"), "  the vocabulary, and a name")
auto = convert("transformers")
if auto:
    same("transformers", lambda text: auto.encode(text, add_special_tokens=False), auto.decode)
    lib.ok((auto.eos_token, auto.pad_token_id, auto.is_fast) == (lib.EOT, 1, True), "  eos_token and pad_token")
    lib.ok(tok.to_transformers(model_max_length=99).model_max_length == 99, "  and what else is given")

# ---- toktokenizer ----

bpe = bpetools.BPETokenizer()
lib.ok(raised(BpeValueError, bpe.encode, "low") and len(bpe) == 256, "BPETokenizer: nothing is learned yet")
bpe.train("this is some training data. any dumped string will do!", 8)
bpe.save_encoder("8word.json")
bpe.load_encoder("8word.json")
text = "some data é 🦀 \0"
lib.ok(bpe.decode(bpe.encode(text)) == text, "BPETokenizer: the example of toktokenizer")
lib.ok((bpe.n_vocab, len(bpe)) == (8, 264) and len(bpe.encode("some training")) < 13, "  has learned", bpe)
again = bpetools.BPETokenizer.from_pretrained("8word.json")
lib.ok(again.encode("this is") == bpe.encode("this is"), "  from_pretrained")
sys.exit(lib.done())
