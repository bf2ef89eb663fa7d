# _programs.py - replaces the C library with the programs where there is no library: on musl. Each call runs a program, which reads
# the model again: pass many texts in one call.
from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import tempfile
from types import SimpleNamespace

from ._errors import BpeError, program_error
from ._library import UNKNOWN, Added, find_program

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

SPECIAL = ("token", "text", "error")  # enum bpe_special
NO_ERROR = SimpleNamespace(code=0, message=b"", text=UNKNOWN, offset=UNKNOWN, line=0)


def run(words: List[str], data: bytes = b"") -> bytes:
    """Runs a program. Errors do not have the hint ("; see -s") for users of programs, as in the library."""
    import subprocess

    program = find_program(words[0])
    done = subprocess.run([program, *words[1:]], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise program_error(done.returncode, re.sub(rb"; see -[^;\n]*$", b"", done.stderr.rstrip()))
    return done.stdout


@functools.lru_cache(maxsize=None)
def bytes_of_characters() -> Dict[str, int]:
    """A dict from each character that tokenizer.json uses for a byte (as GPT-2 does) to that byte."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in shown]
    return {chr(c): b for c, b in [*zip(shown, shown), *((256 + i, b) for i, b in enumerate(rest))]}


def spelled(name: str) -> bytes:
    """The bytes of a token of a byte-level model."""
    table = bytes_of_characters()
    return bytes(table[c] for c in name) if all(c in table for c in name) else name.encode()


def characters(name: str) -> bytes:
    """The bytes of a token of a character-level model (with byte_fallback), when it is not the first token of a text."""
    byte = re.fullmatch(r"<0x([0-9A-F]{2})>", name)
    return bytes.fromhex(byte[1]) if byte else name.replace("\u2581", " ").encode()


class Model:
    """An open tokenizer: its path, its options, and its tokens, which are read at first use."""

    def __init__(self, path: str, options: List[str], directory: Optional[Any] = None) -> None:
        self.path, self.options, self.directory = path, options, directory
        self.info = run(["bpe-model", "--info", *options, "--", path]).decode("utf-8", "surrogateescape")
        if not directory:  # the file may change
            self.tokens  # pylint: disable=pointless-statement

    def number(self, key: str) -> int:
        found = re.search(rf"^{key}: (\d+)", self.info, re.M)
        return int(found[1]) if found else -1

    @functools.cached_property
    def json(self) -> Dict[str, Any]:
        made: Dict[str, Any] = json.loads(run(["bpe-model", "-f", "json", *self.options, "--", self.path]))
        return made

    @property
    def separator(self) -> bytes:
        found = re.search(r"^separator: \d+ (.+)$", self.info, re.M)
        return found[1].encode("utf-8", "surrogateescape") if found else b""

    @functools.cached_property
    def names(self) -> Dict[int, str]:
        added = {token["id"]: token["content"] for token in self.json["added_tokens"]}
        return {**{number: name for name, number in self.json["model"]["vocab"].items()}, **added}

    @functools.cached_property
    def tokens(self) -> Dict[int, bytes]:
        of_characters = "byte_fallback" in self.json["model"] and self.json["model"]["byte_fallback"]
        added = {token["id"] for token in self.json["added_tokens"]}
        spell = characters if of_characters else spelled
        return {number: name.encode() if number in added else spell(name) for number, name in self.names.items()}

    @functools.cached_property
    def id_of_name(self) -> Dict[bytes, int]:
        return {name.encode(): number for number, name in self.names.items()}

    @functools.cached_property
    def id_of_bytes(self) -> Dict[bytes, int]:
        return {token: number for number, token in reversed(list(self.tokens.items()))}

    @functools.cached_property
    def added(self) -> Tuple[Any, Any, List[bytes]]:
        tokens = sorted(self.json["added_tokens"], key=lambda token: token["id"])
        texts = [token["content"].encode() for token in tokens]
        made = (Added * len(tokens))()
        for place, token, text in zip(made, tokens, texts):
            place.text = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p)
            place.len, place.id, place.special = len(text), token["id"], token["special"]
        return ctypes.cast(made, ctypes.POINTER(Added)), made, texts


def value_of(number: Any) -> int:
    return int(getattr(number, "value", number))


class Programs:
    """An object with the functions of the library that the package calls, with the same arguments."""

    def __init__(self) -> None:
        find_program("bpe-encode")
        self.models: Dict[int, Model] = {}
        self.batches: Dict[int, Any] = {}
        self.error = NO_ERROR

    def fail(self, why: BpeError, text: int = UNKNOWN, offset: int = UNKNOWN) -> int:
        message = why.message.encode("utf-8", "surrogateescape")
        self.error = SimpleNamespace(code=why.exit_code, message=message, text=text, offset=offset, line=0)
        return -1

    def model(self, handle: Any) -> Model:
        return self.models[value_of(handle)]

    def bpe_last_error(self) -> Any:
        return SimpleNamespace(contents=self.error)

    def open(self, path: str, pattern: Optional[bytes], special: Any, directory: Optional[Any] = None) -> int:
        options = [f"--pattern={os.fsdecode(pattern)}"] if pattern else []
        options += [f"--special-token={os.fsdecode(word)}" for word in special if word]
        try:
            model = Model(path, options, directory)
        except BpeError as why:
            if directory:
                directory.cleanup()
            self.fail(why)
            return 0
        handle = max(self.models, default=0) + 1
        self.models[handle] = model
        return handle

    def bpe_open(self, path: bytes, pattern: Optional[bytes], special: Any) -> int:
        return self.open(os.fsdecode(path), pattern, special)

    def bpe_open_memory(self, contents: bytes, _: int, name: bytes, pattern: Optional[bytes], special: Any) -> int:
        directory = tempfile.TemporaryDirectory(prefix="bpetools-")  # pylint: disable=consider-using-with
        path = os.path.join(directory.name, os.path.basename(os.fsdecode(name)) or "tokenizer.json")
        with open(path, "wb") as file:
            file.write(contents)
        return self.open(path, pattern, special, directory)

    def bpe_close(self, handle: Any) -> None:
        model = self.models.pop(value_of(handle), None)
        if model and model.directory:
            model.directory.cleanup()

    # ---- Encoding ----

    def encode(self, handle: Any, texts: List[bytes], special: int) -> List[List[int]]:
        """The ids of each text. Raises BpeError, and sets self.error."""
        model, ends, at = self.model(handle), [], 0
        for i, text in enumerate(texts):
            try:
                text.decode()
            except UnicodeDecodeError as bad:
                why = BpeError(f"text {i}: byte {bad.start}: invalid UTF-8 (0x{text[bad.start]:02X})", 65)
                self.fail(why, i, bad.start)
                raise why from None
            at += len(text) + 1
            ends.append(at)
        words = ["bpe-encode", "-m", model.path, *model.options, "--fe", f"--special={SPECIAL[special]}"]
        separator = model.separator
        if special == 0 and separator and len(texts) > 1 and any(separator in text for text in texts):
            # A separator divides a text into documents with one line each, so such texts are encoded separately.
            others = iter(self.encode(handle, [text for text in texts if separator not in text], special))
            return [self.encode(handle, [text], special)[0] if separator in text else next(others) for text in texts]
        try:
            if len(texts) == 1:
                out = memoryview(run([*words, "-d", "u32"], texts[0] + b"\xfe")).cast("I")
                return [out.tolist()]
            words += ["-f", "text"]
            lines = run(words, b"".join(text + b"\xfe" for text in texts)).split(b"\n")
        except BpeError as why:
            place = re.match(r"standard input: byte (\d+): (.*)", why.message)
            if not place:
                self.fail(why)
                raise
            i = next(i for i, end in enumerate(ends) if int(place[1]) < end)
            offset = int(place[1]) - (ends[i] - len(texts[i]) - 1)
            why = BpeError(f"text {i}: byte {offset}: {place[2]}", why.exit_code)
            self.fail(why, i, offset)
            raise why from None
        return [list(map(int, line.split())) for line in lines[: len(texts)]]

    def bpe_encode(self, handle: Any, text: bytes, _: Any, special: Any, ids: Any, room: Any) -> int:
        try:
            found = self.encode(handle, [text], value_of(special))[0]
        except BpeError:
            self.error.message = self.error.message.replace(b"text 0: ", b"text: ", 1)
            self.error.text = UNKNOWN
            return -1
        some = (ctypes.c_uint32 * len(found))(*found)
        ctypes.memmove(ids, some, 4 * min(len(found), value_of(room)))
        return len(found)

    def bpe_encode_batch(self, handle: Any, texts: int, n: int, special: int, _: int, out: Any) -> int:
        import numpy as np

        places = np.ctypeslib.as_array((ctypes.c_uint64 * (2 * n)).from_address(texts)) if n else np.empty(0, np.uint64)
        pairs = places.tolist()
        try:
            found = self.encode(handle, list(map(ctypes.string_at, pairs[::2], pairs[1::2])), special)
        except BpeError:
            return -1
        offsets = np.zeros(n + 1, np.uint64)
        np.cumsum(np.fromiter(map(len, found), np.uint64, n), out=offsets[1:])
        ids = np.fromiter((number for some in found for number in some), np.uint32, int(offsets[n]))
        batch = out._obj
        batch.n, batch.ids, batch.offset = n, ids.ctypes.data, offsets.ctypes.data
        self.batches[offsets.ctypes.data] = ids, offsets
        return 0

    def bpe_batch_free(self, batch: Any) -> None:
        self.batches.pop(batch._obj.offset, None)

    # ---- Decoding, tokens ----

    def bpe_decode(self, handle: Any, ids: int, n: int, skip_special: int, text: Any, room: int) -> int:
        model, data = self.model(handle), ctypes.string_at(ids, 4 * n) if n else b""
        if skip_special:
            special = {token["id"] for token in model.json["added_tokens"] if token["special"]}
            numbers = memoryview(data).cast("I")
            data = b"".join(number.to_bytes(4, "little") for number in numbers if number not in special)
        words = [word for word in model.options if not word.startswith("--pattern")]
        try:
            out = run(["bpe-decode", "-m", model.path, *words, "-d", "u32"], data)
        except BpeError as why:
            said = re.sub(r"^standard input: id (\d+) at index (\d+).*", r"unknown token id \1 at index \2", why.message)
            return self.fail(BpeError(said, why.exit_code))
        ctypes.memmove(text, out, min(len(out), room))
        return len(out)

    def bpe_vocab_size(self, handle: Any) -> int:
        return self.model(handle).number("ids")

    def give(self, found: Optional[bytes], number: int, to: Any, room: int) -> int:
        if found is None:
            return self.fail(BpeError(f"unknown token id {number}", 65))
        ctypes.memmove(to, found, min(len(found), room))
        return len(found)

    def bpe_token_bytes(self, handle: Any, number: int, to: Any, room: int) -> int:
        return self.give(self.model(handle).tokens.get(number), number, to, room)

    def bpe_token_name(self, handle: Any, number: int, to: Any, room: int) -> int:
        name = self.model(handle).names.get(number)
        return self.give(None if name is None else name.encode(), number, to, room)

    def bpe_id_of_bytes(self, handle: Any, token: bytes, _: int) -> int:
        return self.model(handle).id_of_bytes.get(token, -1)

    def bpe_id_of_name(self, handle: Any, name: bytes, _: int) -> int:
        return self.model(handle).id_of_name.get(name, -1)

    def bpe_added_tokens(self, handle: Any, n: Any) -> Any:
        tokens, made, _ = self.model(handle).added
        n._obj.value = len(made)
        return tokens

    def bpe_eos_id(self, handle: Any) -> int:
        return self.model(handle).number("separator")

    def bpe_pad_id(self, handle: Any) -> int:
        return self.model(handle).number("padding")

    def bpe_fingerprint(self, handle: Any) -> int:
        import hashlib

        model = self.model(handle).json["model"]
        text = json.dumps([model["vocab"], model["merges"]], sort_keys=True).encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "little")

    def bpe_version(self) -> bytes:
        return run(["bpe", "--version"]).split()[1]


def programs() -> Optional[Programs]:
    """None if the programs are not installed either."""
    try:
        return Programs()
    except BpeError:
        return None
