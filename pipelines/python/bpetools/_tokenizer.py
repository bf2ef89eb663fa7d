# _tokenizer.py - the class Tokenizer: a tokenizer in the memory of this process; uses the C library
from __future__ import annotations

import ctypes
import os

from . import _batch, _files
from ._errors import BpeError, BpeValueError
from ._library import fail
from ._model import Model

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

    import numpy as np
    import tiktoken
    import tokenizers
    import transformers
    from numpy.typing import NDArray

    from ._batch import Documents, Ids, Numbers, Text
    from ._model import Buffer, Path, SpecialTokens

    TokenIds = Union[Iterable[int], NDArray[np.integer[Any]]]

ROOM = 16 << 10  # ids; a text of this many bytes rarely has more
FULL = ctypes.c_size_t(ROOM)
SHORT = 512  # bytes of text
LENGTHS = [ctypes.c_size_t.from_param(n) for n in range(SHORT)]  # made once, because making one takes a tenth of a call
SPECIAL = {"token": ctypes.c_int(0), "text": ctypes.c_int(1), "error": ctypes.c_int(2)}  # enum bpe_special


def special_of(special: str) -> ctypes.c_int:
    if special not in SPECIAL:
        raise BpeValueError(f"special={special!r}: must be 'token', 'text' or 'error'", 64)
    return SPECIAL[special]


def buffer_of(n: int) -> Buffer:
    """A buffer for n ids: as an argument of the library, and as a view."""
    ids = (ctypes.c_uint32 * n)()
    return ctypes.byref(ids), memoryview(ids).cast("B").cast("I")


class Tokenizer(Model):
    """A tokenizer: encodes text into token ids, and decodes ids, in this process.

    Tokenizer(path) opens a file or directory, like from_file. A tokenizer does not change: threads may share it, and
    encode at the same time. It can be pickled, and used after a fork, for example in the workers of torch's DataLoader.

    Errors raise BpeError; wrong arguments and bad data raise BpeValueError, which is also a ValueError.

    >>> import bpetools
    >>> tok = bpetools.Tokenizer("tokenizer.json")
    >>> tok.encode("low lower newest")
    [268, 267, 264]
    >>> tok.decode([268, 267, 264])
    'low lower newest'
    """

    __slots__ = ()

    # ---- Opening ----

    @classmethod
    def from_file(
        cls, path: Path, pattern: Optional[str] = None, special_tokens: Optional[SpecialTokens] = None
    ) -> Tokenizer:
        """Opens a tokenizer.json, .tiktoken, tekken.json, SentencePiece's tokenizer.model, or a directory with one of these.

        pattern and special_tokens are for files that do not contain them, such as a .tiktoken file from another source.
        pattern is a name ("cl100k", see bpe-chunk(1)); special_tokens is a list of tokens, which get the next ids, or a
        dict from token to id.
        """
        return cls(path, pattern, special_tokens)

    @classmethod
    def from_pretrained(cls, directory: Path) -> Tokenizer:
        """Opens a local directory that save_pretrained of transformers wrote.

        Tokenizer(directory) does the same. From tokenizer_config.json, to_transformers and save(format="hf-dir") keep
        the names of tokens, the chat template, model_max_length, and the sides of padding and truncation.
        """
        if not os.path.isdir(directory):
            name = os.fsdecode(directory)
            raise BpeError(
                f"{name}: no such directory, and nothing is downloaded; for a model on the hub, use"
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
        """Opens the contents of a tokenizer.json. name is its name in messages."""
        return cls._of_contents(json, name)

    train = staticmethod(_files.train)
    train_from_iterator = staticmethod(_files.train_from_iterator)

    # ---- Saving ----

    def to_str(self) -> str:
        """The tokenizer as a tokenizer.json; unchanged if it was opened from one."""
        return self._to_json().decode()

    def save(self, path: Path, format: Optional[str] = None) -> None:  # pylint: disable=redefined-builtin
        """Writes the tokenizer to a file or directory, which appears when it is complete.

        format: "json" (a tokenizer.json), "tiktoken", "gpt2" (a directory with vocab.json and merges.txt), "hf-dir"
        (a directory for AutoTokenizer.from_pretrained) or "merges"; see bpe-model(1). The default is hf-dir if path is
        a directory or ends with /, tiktoken if it ends with .tiktoken, otherwise json.

        If the format cannot express the tokenizer, BpeValueError is raised. If settings are lost, a warning says so:
        only hf-dir records which tokens begin, end or pad a text. With PATH.tiktoken, PATH.tiktoken.json is
        written, with the pattern and the special tokens; keep the two files together.
        """
        from ._convert import save

        save(self, path, format)

    def to_transformers(self, **options: Any) -> transformers.PreTrainedTokenizerFast:
        """The tokenizer as a PreTrainedTokenizerFast of transformers, with eos_token and pad_token, and with the bos_token,
        chat template and model_max_length of a directory.

        options are passed to its constructor, such as model_max_length=2048.
        """
        from ._convert import to_transformers

        return to_transformers(self, options)

    def to_tokenizers(self) -> tokenizers.Tokenizer:
        """The tokenizer as a Tokenizer of Hugging Face's tokenizers."""
        from ._convert import to_tokenizers

        return to_tokenizers(self)

    def to_tiktoken(self, name: str = "bpetools") -> tiktoken.Encoding:
        """The tokenizer as an Encoding of tiktoken, if ranks can express it: see bpe-model(1)."""
        from ._convert import to_tiktoken

        return to_tiktoken(self, name)

    # ---- Encoding ----

    def encode(self, text: Text, special: str = "text") -> List[int]:
        """Encodes a text, a str or UTF-8 as bytes, and returns its ids as a list of int.

        special selects what happens to special tokens in the text. "text": they are encoded like any other text;
        "token": each becomes its id; "error": raises BpeValueError, which names the token and its offset. Added tokens
        that the file does not mark as special (and that special_tokens does not list) always become their ids, as in
        Hugging Face's tokenizers.

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
        """n: an estimate of the number of ids; negative: the last call failed."""
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
        """The same as encode(text): special tokens are encoded as text."""
        return self.encode(text)

    def _encode_blocks(
        self, docs: Documents, special: str, threads: Optional[int], by_caller: bool = False
    ) -> Iterator[Tuple[Ids, Numbers]]:
        """by_caller: the caller's code runs between the blocks."""
        mode = special_of(special).value
        if threads is not None and threads < 0:
            raise BpeValueError(f"threads={threads}: must be a number of threads, or None", 64)
        if threads is None:
            threads = 0 if _batch.is_main_process() else 1

        def encode(block: _batch.Block) -> Tuple[Ids, Numbers]:
            return _batch.encode_block(self._lib, self._handle, block, mode, threads)

        blocks = _batch.blocks(docs, _batch.BLOCK // 2 if by_caller else _batch.BLOCK)  # limits memory
        return map(encode, blocks) if threads == 1 else _batch.overlapped(encode, blocks, beside=not by_caller)

    def encode_iter(self, docs: Documents, special: str = "text", threads: Optional[int] = None) -> Iterator[Ids]:
        """Like encode_batch, but yields the arrays one by one, and reads some 10 MB of documents at a time.

        >>> [len(ids) for ids in tok.encode_iter(["low lower", "", "low"])]
        [2, 0, 1]
        """
        return _batch.each_of(self._encode_blocks(docs, special, threads, by_caller=True))

    def encode_batch(self, docs: Documents, special: str = "text", threads: Optional[int] = None) -> List[Ids]:
        """Encodes documents, and returns the ids of each as a numpy array of uint32. (The arrays are views of larger ones:
        copy an array to keep it without the others.)

        docs: any iterable of str, or of UTF-8 as bytes: a list, a generator, a column of datasets or pandas. An array
        of strings of pyarrow is read without a copy. Nothing is added between documents.

        special: see encode. threads: the maximum number of threads, which all end with the call. The default is one for
        each processor, or a single one in processes that multiprocessing started (such as workers of DataLoader).

        A document that cannot be encoded raises BpeValueError; its attribute document is the index.

        >>> tok.encode_batch(["low lower newest", "low"])
        [array([268, 267, 264], dtype=uint32), array([268], dtype=uint32)]
        """
        return list(_batch.each_of(self._encode_blocks(docs, special, threads)))

    def encode_flat(
        self, docs: Documents, special: str = "text", threads: Optional[int] = None
    ) -> Tuple[Ids, Numbers]:
        """Like encode_batch, but returns all ids in one array: (ids, offsets), uint32 and uint64.

        The ids of document i are ids[offsets[i]:offsets[i + 1]]; offsets has one more element than there are documents.

        >>> tok.encode_flat(["low lower newest", "low"])
        (array([268, 267, 264, 268], dtype=uint32), array([0, 3, 4], dtype=uint64))
        """
        return _batch.joined(list(self._encode_blocks(docs, special, threads)))

    encode_files = _files.encode_files
    shard = _files.shard

    # ---- Decoding ----

    def decode_bytes(self, ids: TokenIds, skip_special_tokens: bool = False) -> bytes:
        """Decodes ids, a list of int or an array of integers (numpy, torch), to bytes. See decode."""
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
        """Decodes ids, a list of int or an array, to text. Pass a single id as a list: decode([5]).

        If ids begin or end inside a character, its bytes become U+FFFD; errors="strict" raises UnicodeDecodeError
        instead, and "ignore" drops them. skip_special_tokens leaves out special tokens.
        """
        return self.decode_bytes(ids, skip_special_tokens).decode("utf-8", errors)

    def decode_batch(
        self, batch: Iterable[TokenIds], skip_special_tokens: bool = False, errors: str = "replace"
    ) -> List[str]:
        """Decodes each element of the batch."""
        return [self.decode(ids, skip_special_tokens, errors) for ids in batch]
