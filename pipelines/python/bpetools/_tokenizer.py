# _tokenizer.py - the class Tokenizer: a tokenizer in the memory of this process, by the C library
from __future__ import annotations

import ctypes
import os
import weakref

from . import _batch, _files
from ._errors import BpeError, BpeValueError
from ._library import fail, library

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

    import numpy as np
    import tiktoken
    import tokenizers
    import transformers
    from numpy.typing import NDArray

    from ._batch import Documents, Ids, Numbers, Text

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
    SpecialTokens = Union[Iterable[str], Dict[str, int]]
    Buffer = Tuple[Any, memoryview]
    TokenIds = Union[Iterable[int], NDArray[np.integer[Any]]]

ROOM = 16 << 10  # of ids; a text of so many bytes mostly has no more
FULL = ctypes.c_size_t(ROOM)
SHORT = 512  # bytes of text; of these
LENGTHS = [ctypes.c_size_t.from_param(n) for n in range(SHORT)]  # is made once what takes a tenth of a call


def read_tokenizer_json(path: str) -> Optional[bytes]:
    """The contents of a tokenizer.json, or None if the file is another: it has a list of merges, as tekken.json and
    vocab.json have not."""
    import re

    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        contents = file.read(64)
        if not contents.lstrip().startswith(b"{"):
            return None
        contents += file.read()
    return contents if re.search(rb'"merges"\s*:\s*\[', contents) else None


def words_of(special_tokens: Optional[SpecialTokens]) -> List[bytes]:
    """As the programs' option -s has them."""
    if isinstance(special_tokens, (str, bytes)):
        raise BpeValueError("special_tokens is one string: give a list, or a dict with ids", 64)
    if isinstance(special_tokens, dict):
        return [f"{token}={number}".encode() for token, number in special_tokens.items()]
    return [token.encode() for token in special_tokens or ()]


def restore(contents: bytes, name: str, eos: Optional[int], pad: Optional[int]) -> Tokenizer:
    """For pickle."""
    tok = Tokenizer.from_buffer(contents, name)
    tok._eos, tok._pad = eos, pad
    return tok


SPECIAL = {"token": ctypes.c_int(0), "text": ctypes.c_int(1), "error": ctypes.c_int(2)}  # enum bpe_special


def special_of(special: str) -> ctypes.c_int:
    if special not in SPECIAL:
        raise BpeValueError(f"special={special!r}: must be 'token', 'text' or 'error'", 64)
    return SPECIAL[special]


def buffer_of(n: int) -> Buffer:
    """Room for n ids: as an argument, and as a view."""
    ids = (ctypes.c_uint32 * n)()
    return ctypes.byref(ids), memoryview(ids).cast("B").cast("I")


class Tokenizer:
    """A tokenizer: text to the ids of its tokens, and back, in this process.

    Tokenizer(path) opens a file or directory, as from_file does. A tokenizer does not change: threads may share it, and
    encode at the same time; it can be pickled, and used after a fork, as by the workers of torch's DataLoader.

    What fails raises BpeError; wrong arguments and bad data BpeValueError, which is a ValueError, too.

    >>> import bpetools
    >>> tok = bpetools.Tokenizer("tokenizer.json")
    >>> tok.encode("low lower newest")
    [268, 267, 264]
    >>> tok.decode([268, 267, 264])
    'low lower newest'
    """

    __slots__ = ("_lib", "_encode", "_handle", "_pool", "_source", "_json", "_eos", "_pad", "__weakref__")
    _lib: Any
    _encode: Any  # its bpe_encode
    _handle: ctypes.c_void_p
    _pool: List[Buffer]  # those that no call uses
    _source: Tuple[str, Optional[str], List[bytes]]  # name, pattern and special tokens
    _json: Optional[bytes]  # the tokenizer.json, if it is known
    _eos: Optional[int]
    _pad: Optional[int]

    # ---- Opening ----

    def __init__(
        self, path: Path, pattern: Optional[str] = None, special_tokens: Optional[SpecialTokens] = None
    ) -> None:
        name = os.fsdecode(path)
        file = os.path.join(name, "tokenizer.json") if os.path.isdir(name) else name
        self._source = (name, pattern, words_of(special_tokens))
        self._json = read_tokenizer_json(file)
        self._open(self._json if file == name else None)

    def _open(self, contents: Optional[bytes]) -> None:
        """By the contents, or by the name."""
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
        self._eos, self._pad = None if eos < 0 else eos, None if pad < 0 else pad

    @classmethod
    def from_file(
        cls, path: Path, pattern: Optional[str] = None, special_tokens: Optional[SpecialTokens] = None
    ) -> Tokenizer:
        """Opens a tokenizer.json, .tiktoken, tekken.json, SentencePiece's tokenizer.model, or a directory with such.

        pattern and special_tokens are for files that do not say these, as a .tiktoken file from elsewhere: the name of
        a pattern ("cl100k", see bpe-chunk(1)); and a list of tokens, which get the next ids, or a dict of their ids.
        """
        return cls(path, pattern, special_tokens)

    @classmethod
    def from_pretrained(cls, directory: Path) -> Tokenizer:
        """Opens a directory as save_pretrained of transformers writes it. It must be on this machine."""
        if not os.path.isdir(directory):
            name = os.fsdecode(directory)
            raise BpeError(
                f"{name}: no such directory, and nothing is downloaded here; of a model on the hub use"
                f' Tokenizer.from_pretrained(huggingface_hub.snapshot_download("{name}", allow_patterns=["*token*",'
                ' "*.json", "*.txt"]))',
                66,
                name,
            )
        return cls(directory)

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Opens the contents of a tokenizer.json."""
        return cls.from_buffer(json.encode())

    @classmethod
    def from_buffer(cls, json: bytes, name: str = "tokenizer.json") -> Tokenizer:
        """Opens the contents of a tokenizer.json. Messages call it by the name."""
        tok = cls.__new__(cls)
        tok._source = (name, None, [])
        tok._json = bytes(json)
        tok._open(tok._json)
        return tok

    train = staticmethod(_files.train)
    train_from_iterator = staticmethod(_files.train_from_iterator)

    # ---- Saving ----

    def to_str(self) -> str:
        """The tokenizer as a tokenizer.json: as it was, if it is one."""
        return self._to_json().decode()

    def _to_json(self) -> bytes:
        if self._json is None:
            from ._convert import read_as_json

            self._json = read_as_json(self)
        return self._json

    def save(self, path: Path, format: Optional[str] = None) -> None:  # pylint: disable=redefined-builtin
        """Writes the tokenizer to a file or directory, which appears when it is complete.

        format: "json" (a tokenizer.json), "tiktoken", "gpt2" (a directory with vocab.json and merges.txt), "hf-dir"
        (a directory for AutoTokenizer.from_pretrained) or "merges", as bpe-model(1) describes them. By default
        hf-dir if path is a directory or ends with /, tiktoken if it ends with .tiktoken, else json.

        A format that cannot say what the tokenizer is raises BpeValueError; what it does not keep is a warning.
        """
        from ._convert import save

        save(self, path, format)

    def to_transformers(self, **options: Any) -> transformers.PreTrainedTokenizerFast:
        """The tokenizer as PreTrainedTokenizerFast of transformers, with eos_token and pad_token.

        options are passed on, as model_max_length=2048.
        """
        from ._convert import to_transformers

        return to_transformers(self, options)

    def to_tokenizers(self) -> tokenizers.Tokenizer:
        """The tokenizer as Tokenizer of Hugging Face's tokenizers."""
        from ._convert import to_tokenizers

        return to_tokenizers(self)

    def to_tiktoken(self, name: str = "bpetools") -> tiktoken.Encoding:
        """The tokenizer as Encoding of tiktoken, if ranks can say what it is: see bpe-model(1)."""
        from ._convert import to_tiktoken

        return to_tiktoken(self, name)

    def __reduce__(self) -> Tuple[Callable[..., Tokenizer], Tuple[Any, ...]]:
        return restore, (self._to_json(), self._source[0], self._eos, self._pad)

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: Dict[int, Any]) -> Tokenizer:
        return self

    @property
    def fingerprint(self) -> int:
        """The same number for tokenizers with the same tokens, ids and merges."""
        return int(self._lib.bpe_fingerprint(self._handle))

    # ---- Encoding ----

    def encode(self, text: Text, special: str = "text") -> List[int]:
        """The ids of a text, a str or UTF-8 as bytes: a list of int.

        special: what special tokens in the text are. "text": text as any other; "token": they become their ids;
        "error": BpeValueError.

        >>> tok.encode("low<|endoftext|>", special="token")
        [268, 0]
        """
        try:
            data, mode = text.encode(), SPECIAL[special]  # type: ignore[union-attr]
        except (AttributeError, UnicodeEncodeError, KeyError):
            data, mode = _batch.utf8(text), special_of(special)
        n = len(data)
        if n > ROOM:
            return self._encode_long(data, mode, n // 2)
        try:
            buffer = self._pool.pop()
        except IndexError:
            buffer = buffer_of(ROOM)
        place, view = buffer
        n = self._encode(self._handle, data, LENGTHS[n] if n < SHORT else ctypes.c_size_t(n), mode, place, FULL)
        if not 0 <= n <= ROOM:
            return self._encode_long(data, mode, n)
        ids: List[int] = view[:n].tolist()
        self._pool.append(buffer)
        return ids

    def _encode_long(self, data: bytes, mode: ctypes.c_int, n: int) -> List[int]:
        """n: how many ids there are, perhaps; negative: it has failed."""
        room = -1
        while n > room:
            room = n
            place, view = buffer_of(room)
            n = self._encode(self._handle, data, ctypes.c_size_t(len(data)), mode, place, ctypes.c_size_t(room))
        if n < 0:
            fail()
        ids: List[int] = view[:n].tolist()
        return ids

    def encode_ordinary(self, text: Text) -> List[int]:
        """The same as encode(text): special tokens are text."""
        return self.encode(text)

    def _encode_blocks(self, docs: Documents, special: str, threads: Optional[int]) -> Iterator[Tuple[Ids, Numbers]]:
        mode = special_of(special).value
        if threads is not None and threads < 0:
            raise BpeValueError(f"threads={threads}: must be a number of threads, or None", 64)
        if threads is None:
            threads = 0 if _batch.is_main_process() else 1

        def encode(block: _batch.Block) -> Tuple[Ids, Numbers]:
            return _batch.encode_block(self._lib, self._handle, block, mode, threads)

        return (map if threads == 1 else _batch.overlapped)(encode, _batch.blocks(docs))

    def encode_iter(self, docs: Documents, special: str = "text", threads: Optional[int] = None) -> Iterator[Ids]:
        """As encode_batch, but yields the arrays one by one, and takes some 10 MB of documents at a time.

        >>> [len(ids) for ids in tok.encode_iter(["low lower", "", "low"])]
        [2, 0, 1]
        """
        for ids, offsets in self._encode_blocks(docs, special, threads):
            places = offsets.tolist()
            yield from map(ids.__getitem__, map(slice, places, places[1:]))

    def encode_batch(self, docs: Documents, special: str = "text", threads: Optional[int] = None) -> List[Ids]:
        """The ids of each document: a list of numpy arrays of uint32. (They are views of larger arrays: copy those that
        are kept alone.)

        docs: any iterable of str, or of UTF-8 as bytes: a list, a generator, a column of datasets or pandas; an array
        of strings of pyarrow is read without a copy. Nothing is added between documents.

        special: see encode. threads: at most so many encode at the same time, and none is left after the call; by
        default one for each processor, but in processes that multiprocessing started (as workers of DataLoader) one.

        A document that cannot be encoded raises BpeValueError, whose document is its index.

        >>> tok.encode_batch(["low lower newest", "low"])
        [array([268, 267, 264], dtype=uint32), array([268], dtype=uint32)]
        """
        return list(self.encode_iter(docs, special, threads))

    def encode_flat(
        self, docs: Documents, special: str = "text", threads: Optional[int] = None
    ) -> Tuple[Ids, Numbers]:
        """As encode_batch, but all ids in one array: (ids, offsets), uint32 and uint64.

        The ids of document i are ids[offsets[i]:offsets[i + 1]]; offsets has one number more than there are documents.

        >>> tok.encode_flat(["low lower newest", "low"])
        (array([268, 267, 264, 268], dtype=uint32), array([0, 3, 4], dtype=uint64))
        """
        return _batch.joined(list(self._encode_blocks(docs, special, threads)))

    encode_files = _files.encode_files
    shard = _files.shard

    # ---- Decoding ----

    def decode_bytes(self, ids: TokenIds, skip_special_tokens: bool = False) -> bytes:
        """The bytes that ids stand for: of a list of int, or of an array of integers (numpy, torch)."""
        numbers, address, n = _batch.numbers_of(ids)
        room = 8 * n + 64
        while True:
            text = ctypes.create_string_buffer(room)
            size: int = self._lib.bpe_decode(self._handle, address, n, skip_special_tokens, text, room)
            if size < 0:
                fail()
            if size <= room:
                return ctypes.string_at(text, size)
            room = size

    def decode(self, ids: TokenIds, skip_special_tokens: bool = False, errors: str = "replace") -> str:
        """The text that ids stand for.

        Ids may end inside a character, whose bytes become U+FFFD then; errors="strict" raises UnicodeDecodeError
        instead, "ignore" leaves them out. skip_special_tokens leaves out special tokens.
        """
        return self.decode_bytes(ids, skip_special_tokens).decode("utf-8", errors)

    def decode_batch(
        self, batch: Iterable[TokenIds], skip_special_tokens: bool = False, errors: str = "replace"
    ) -> List[str]:
        """The text of each."""
        return [self.decode(ids, skip_special_tokens, errors) for ids in batch]

    # ---- Tokens ----

    @property
    def vocab_size(self) -> int:
        """All ids are smaller than this number."""
        return int(self._lib.bpe_vocab_size(self._handle))

    def __len__(self) -> int:
        return self.vocab_size

    def token_to_id(self, token: Union[str, bytes]) -> Optional[int]:
        """The id of a token, or None: a str is its name in tokenizer.json ("\u0120low", as Hugging Face spells " low"),
        bytes are its bytes (b" low")."""
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
        """The ids of all tokens, by their names."""
        names = ((self.id_to_token(number), number) for number in range(self.vocab_size))
        return {name: number for name, number in names if name is not None}

    @property
    def special_tokens(self) -> Dict[str, int]:
        """The ids of the special tokens, by their text."""
        n = ctypes.c_size_t()
        added = self._lib.bpe_added_tokens(self._handle, ctypes.byref(n))
        found = (added[i] for i in range(n.value))
        return {ctypes.string_at(each.text, each.len).decode(): each.id for each in found if each.special}

    @property
    def eos_token_id(self) -> Optional[int]:
        """The id of the token that ends a text: the tokenizer's eos_token, else "<|endoftext|>" and the like."""
        return self._eos

    @property
    def pad_token_id(self) -> Optional[int]:
        """The id of the token that pads: the tokenizer's pad_token, else "<pad>" and the like, else eos_token_id."""
        return self._pad

    def __repr__(self) -> str:
        counts = f"{self.vocab_size} ids, {len(self.special_tokens)} special tokens"
        return f"<bpetools.Tokenizer {self._source[0]!r}: {counts}, eos_token_id {self._eos}>"
