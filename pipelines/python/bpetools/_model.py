# _model.py - an open tokenizer: its origin, its tokens, and copies of it for other processes
from __future__ import annotations

import contextlib
import ctypes
import os
import weakref

from ._errors import BpeValueError
from ._library import fail, library

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar, Union

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
    SpecialTokens = Union[Iterable[str], Dict[str, int]]
    Buffer = Tuple[Any, memoryview]
    Kind = TypeVar("Kind", bound="Model")


def read_tokenizer_json(path: str) -> Optional[bytes]:
    """The contents of a tokenizer.json, or None for another file. Unlike tekken.json and vocab.json, a tokenizer.json has a
    list of merges."""
    import re

    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        contents = file.read(64)
        if not contents.lstrip().startswith(b"{"):
            return None
        contents += file.read()
    return contents if re.search(rb'"merges"\s*:\s*\[', contents) else None


# Settings of a directory's tokenizer_config.json that transformers uses and the tokenizer does not need.
KEPT = (
    *("bos_token", "unk_token", "sep_token", "cls_token", "mask_token", "additional_special_tokens"),
    *("extra_special_tokens", "chat_template", "model_max_length", "padding_side", "truncation_side"),
    "model_input_names",
)


def plain(value: Any) -> Any:
    """The value with each token replaced by its text."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return value["content"] if "content" in value else {key: plain(each) for key, each in value.items()}
    return value


def read_config(directory: str) -> Dict[str, Any]:
    import json

    found: Dict[str, Any] = {}
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(directory, "tokenizer_config.json"), encoding="utf-8") as file:
            found = json.load(file)
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(directory, "chat_template.jinja"), encoding="utf-8") as file:
            found["chat_template"] = file.read()
    return {key: plain(found[key]) for key in KEPT if found.get(key) is not None}


def words_of(special_tokens: Optional[SpecialTokens]) -> List[bytes]:
    """The values for the programs' option -s."""
    if isinstance(special_tokens, (str, bytes)):
        raise BpeValueError("special_tokens is one string: give a list, or a dict with ids", 64)
    if isinstance(special_tokens, dict):
        return [f"{token}={number}".encode() for token, number in special_tokens.items()]
    return [token.encode() for token in special_tokens or ()]


def restore(
    kind: Type[Kind], contents: bytes, name: str, eos: Optional[int], pad: Optional[int], config: Dict[str, Any]
) -> Kind:
    """For pickle."""
    made = kind._of_contents(contents, name)
    made._eos, made._pad, made._config = eos, pad, config
    return made


class Model:
    """The part of Tokenizer that is about its tokens."""

    __slots__ = ("_lib", "_encode", "_handle", "_pool", "_source", "_json", "_eos", "_pad", "_config", "__weakref__")
    _lib: Any
    _encode: Any  # its bpe_encode
    _handle: ctypes.c_void_p
    _pool: List[Buffer]  # buffers that no call is using
    _source: Tuple[str, Optional[str], List[bytes]]  # name, pattern and special tokens
    _json: Optional[bytes]  # the contents of tokenizer.json, if known
    _eos: Optional[int]
    _pad: Optional[int]
    _config: Dict[str, Any]  # settings of its directory: see KEPT

    def __init__(
        self, path: Path, pattern: Optional[str] = None, special_tokens: Optional[SpecialTokens] = None
    ) -> None:
        """See from_file."""
        name = os.fsdecode(path)
        file = os.path.join(name, "tokenizer.json") if os.path.isdir(name) else name
        self._source = (name, pattern, words_of(special_tokens))
        self._json = read_tokenizer_json(file)
        self._open(self._json if file == name else None)
        self._config = read_config(name) if os.path.isdir(name) else {}

    def _open(self, contents: Optional[bytes]) -> None:
        """Opens the contents, or if they are None the file."""
        name, pattern, special = self._source
        shown, split = os.fsencode(name), None if pattern is None else pattern.encode()
        words = (ctypes.c_char_p * (len(special) + 1))(*special, None)
        lib = self._lib = library()
        if contents is None:
            handle = lib.bpe_open(shown, split, words)
        else:
            handle = lib.bpe_open_memory(contents, len(contents), shown, split, words)
        if not handle:
            fail(name=name)
        self._encode, self._handle, self._pool = lib.bpe_encode, ctypes.c_void_p(handle), []
        weakref.finalize(self, lib.bpe_close, handle).atexit = False
        eos, pad = lib.bpe_eos_id(handle), lib.bpe_pad_id(handle)
        self._eos = None if eos < 0 else eos
        self._pad = pad if pad >= 0 else None if os.path.isdir(name) else self._eos

    @classmethod
    def _of_contents(cls: Type[Kind], json: bytes, name: str) -> Kind:
        made = cls.__new__(cls)
        made._source = (name, None, [])
        made._json, made._config = bytes(json), {}
        made._open(made._json)
        return made

    # ---- Copies ----

    def _to_json(self) -> bytes:
        if self._json is None:
            from ._convert import read_as_json

            self._json = read_as_json(self)
        return self._json

    def __reduce__(self) -> Tuple[Callable[..., Model], Tuple[Any, ...]]:
        return restore, (type(self), self._to_json(), self._source[0], self._eos, self._pad, self._config)

    def __copy__(self: Kind) -> Kind:
        return self

    def __deepcopy__(self: Kind, memo: Dict[int, Any]) -> Kind:
        return self

    @property
    def fingerprint(self) -> int:
        """A number that is equal for tokenizers with the same tokens, ids and merges, whatever the file format. It does not
        depend on how text is split, or on which tokens are special."""
        return int(self._lib.bpe_fingerprint(self._handle))

    # ---- Tokens ----

    @property
    def vocab_size(self) -> int:
        """All ids are smaller than this number. Added tokens are included, as in len(tokenizer) of transformers."""
        return int(self._lib.bpe_vocab_size(self._handle))

    def __len__(self) -> int:
        return self.vocab_size

    def token_to_id(self, token: Union[str, bytes]) -> Optional[int]:
        """The id of a token, or None. Pass a str for its name in tokenizer.json ("\u0120low", as Hugging Face spells
        " low"), or bytes for its bytes (b" low")."""
        name = token.encode() if isinstance(token, str) else token
        find = self._lib.bpe_id_of_name if isinstance(token, str) else self._lib.bpe_id_of_bytes
        number: int = find(self._handle, name, len(name))
        return None if number < 0 else number

    def _bytes_of(self, function: Callable[..., int], number: int) -> Optional[bytes]:
        if not 0 <= number < self.vocab_size:
            return None
        size, room = 0, 256
        while True:
            text = ctypes.create_string_buffer(room)
            size = function(self._handle, number, text, room)
            if size <= room:
                return None if size < 0 else ctypes.string_at(text, size)
            room = size

    def id_to_token(self, id: int) -> Optional[str]:  # pylint: disable=redefined-builtin
        """The name of a token in tokenizer.json, or None."""
        name = self._bytes_of(self._lib.bpe_token_name, id)
        return None if name is None else name.decode("utf-8", "replace")

    def id_to_bytes(self, id: int) -> Optional[bytes]:  # pylint: disable=redefined-builtin
        """The bytes of a token, or None."""
        return self._bytes_of(self._lib.bpe_token_bytes, id)

    def get_vocab(self) -> Dict[str, int]:
        """A dict from the name of each token to its id."""
        names = ((self.id_to_token(number), number) for number in range(self.vocab_size))
        return {name: number for name, number in names if name is not None}

    @property
    def special_tokens(self) -> Dict[str, int]:
        """A dict from the text of each special token to its id: the added tokens that the file marks as special."""
        n = ctypes.c_size_t()
        added = self._lib.bpe_added_tokens(self._handle, ctypes.byref(n))
        found = (added[i] for i in range(n.value))
        return {ctypes.string_at(each.text, each.len).decode(): each.id for each in found if each.special}

    @property
    def eos_token_id(self) -> Optional[int]:
        """The id of the token that ends a text: the tokenizer's eos_token, otherwise "<|endoftext|>" or a similar name."""
        return self._eos

    @property
    def pad_token_id(self) -> Optional[int]:
        """The id of the padding token: the tokenizer's pad_token, otherwise "<pad>" or a similar name, otherwise
        eos_token_id. None for a directory without a pad_token."""
        return self._pad

    @property
    def bos_token_id(self) -> Optional[int]:
        """The id of the token that begins a text: the bos_token of a directory, otherwise None. encode does not add it."""
        name = self._config.get("bos_token")
        return None if name is None else self.token_to_id(name)

    def __repr__(self) -> str:
        n = len(self.special_tokens)
        counts = f"{self.vocab_size} ids, {n} special token{'s' * (n != 1)}"
        return f"<bpetools.Tokenizer {self._source[0]!r}: {counts}, eos_token_id {self._eos}>"
