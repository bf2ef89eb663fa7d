#!/usr/bin/env python3
# Without the library, as on musl, the programs are used instead: the same ids, tokens and errors.
import sys

import package
from package import lib, raised

bpetools = package.load()
from bpetools import BpeError, BpeValueError, Tokenizer, _library, _programs

np = package.module("numpy")
package.train("mixed.json", lib.text(1, 100000), 600, "-s", "<|end|>")
DOCS = ["", "low\0er", "a<|endoftext|>b <|end|>", "é\n\nx", "<|endoftext|>", "newest " * 500]


def told(error):
    """The fields and message of an exception."""
    return error and (type(error), error.exit_code, error.offset, error.document, str(error))


ERRORS = {
    "invalid UTF-8": lambda t: t.encode(b"ab\xff"),
    "a special token": lambda t: t.encode("ab<|endoftext|>", "error"),
    "an unknown id": lambda t: t.decode([1, 100000]),
    **({"the second text": lambda t: t.encode_batch(["a", b"b\xff"])} if np else {}),
}

for name in "tokenizer.json", "mixed.json":
    of_library = Tokenizer(name)
    errors = {what: told(raised(BpeError, call, of_library)) for what, call in ERRORS.items()}
    _library.loaded[_library.NAME] = _programs.Programs()
    tok = Tokenizer.from_buffer(lib.read(name)) if name == "mixed.json" else Tokenizer(name)
    lib.ok(isinstance(tok._lib, _programs.Programs), f"{name}: opened with the programs")
    for special in "text", "token":
        want = [of_library.encode(text, special) for text in DOCS]
        lib.ok([tok.encode(text, special) for text in DOCS] == want, f"  special={special}: the same ids")
        if np:
            lib.ok([ids.tolist() for ids in tok.encode_batch(DOCS, special)] == want, "  for many texts, too")
            flat, offsets = tok.encode_flat(iter(DOCS), special)
            lib.ok(flat.dtype == np.uint32 and offsets.tolist()[-1] == sum(map(len, want)), "  and with encode_flat")
    ids = of_library.encode("".join(DOCS), "token")
    lib.ok(tok.decode(ids) == "".join(DOCS), "  decode")
    lib.ok(tok.decode(ids, skip_special_tokens=True) == of_library.decode(ids, True), "  without special tokens")
    lib.ok(tok.get_vocab() == of_library.get_vocab() and tok.special_tokens == of_library.special_tokens, "  the same tokens")
    numbers = range(-1, tok.vocab_size + 1)
    lib.ok([tok.id_to_bytes(i) for i in numbers] == [of_library.id_to_bytes(i) for i in numbers], "  the same bytes of each token")
    lib.ok((tok.vocab_size, tok.eos_token_id, tok.token_to_id(b"low")) ==
           (of_library.vocab_size, of_library.eos_token_id, of_library.token_to_id(b"low")), "  size, eos, an id")
    for what, call in ERRORS.items():
        ours = told(raised(BpeError, call, tok))
        lib.ok(ours and ours == errors[what], f"  {what} is the same error", (ours, errors[what]))
    del _library.loaded[_library.NAME]
_library.loaded[_library.NAME] = _programs.Programs()
lib.ok(told(raised(BpeError, Tokenizer, "none.json"))[1] == 66, "a missing file")
lib.ok(raised(BpeValueError, Tokenizer.from_str, "{}"), "not a tokenizer")
sys.exit(lib.done())
