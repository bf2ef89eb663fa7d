# _tokenizer.py - the class Tokenizer: a tokenizer in the memory of this process, by the C library
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

ROOM = 16 << 10  # of ids; a text of so many bytes mostly has no more
FULL = ctypes.c_size_t(ROOM)
SHORT = 512  # bytes of text; of these
LENGTHS = [ctypes.c_size_t.from_param(n) for n in range(SHORT)]  # is made once what takes a tenth of a call
SPECIAL = {"token": ctypes.c_int(0), "text": ctypes.c_int(1), "error": ctypes.c_int(2)}  # enum bpe_special


def special_of(special: str) -> ctypes.c_int:
    if special not in SPECIAL:
        raise BpeValueError(f"special={special!r}: must be 'token', 'text' or 'error'", 64)
    return SPECIAL[special]


def buffer_of(n: int) -> Buffer:
    """Room for n ids: as an argument, and as a view."""
    ids = (ctypes.c_uint32 * n)()
    return ctypes.byref(ids), memoryview(ids).cast("B").cast("I")


class Tokenizer(Model):
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

    __slots__ = ()

    # ---- Opening ----

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
        """Opens a directory as save_pretrained of transformers writes it. It must be on this machine.

        Tokenizer(directory) does the same. Of tokenizer_config.json to_transformers and save(format="hf-dir") keep the
        names of tokens, the chat template, model_max_length, and the sides of padding and truncation.
        """
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
        return cls._of_contents(json, name)

    train = staticmethod(_files.train)
    train_from_iterator = staticmethod(_files.train_from_iterator)

    # ---- Saving ----

    def to_str(self) -> str:
        """The tokenizer as a tokenizer.json: as it was, if it is one."""
        return self._to_json().decode()

    def save(self, path: Path, format: Optional[str] = None) -> None:  # pylint: disable=redefined-builtin
        """Writes the tokenizer to a file or directory, which appears when it is complete.

        format: "json" (a tokenizer.json), "tiktoken", "gpt2" (a directory with vocab.json and merges.txt), "hf-dir"
        (a directory for AutoTokenizer.from_pretrained) or "merges", as bpe-model(1) describes them. By default
        hf-dir if path is a directory or ends with /, tiktoken if it ends with .tiktoken, else json.

        A format that cannot say what the tokenizer is raises BpeValueError; what it does not keep is a warning: only
        hf-dir says which tokens begin and end a text, and pad. Beside PATH.tiktoken is PATH.tiktoken.json, with the
        pattern and the special tokens; keep them together.
        """
        from ._convert import save

        save(self, path, format)

    def to_transformers(self, **options: Any) -> transformers.PreTrainedTokenizerFast:
        """The tokenizer as PreTrainedTokenizerFast of transformers, with eos_token and pad_token; of a directory with
        its bos_token, chat template and model_max_length, too.

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

    # ---- Encoding ----

    def encode(self, text: Text, special: str = "text") -> List[int]:
        """The ids of a text, a str or UTF-8 as bytes: a list of int.

        special: what special tokens in the text are. "text": text as any other; "token": they become their ids;
        "error": BpeValueError, which names the token and its place. Added tokens that the file does not call special
        (and that special_tokens does not list) become their ids in any case, as in Hugging Face's tokenizers.

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

        blocks = _batch.blocks(docs, _batch.BLOCK // 2 if by_caller else _batch.BLOCK)  # for its memory
        return map(encode, blocks) if threads == 1 else _batch.overlapped(encode, blocks, beside=not by_caller)

    def encode_iter(self, docs: Documents, special: str = "text", threads: Optional[int] = None) -> Iterator[Ids]:
        """As encode_batch, but yields the arrays one by one, and takes some 10 MB of documents at a time.

        >>> [len(ids) for ids in tok.encode_iter(["low lower", "", "low"])]
        [2, 0, 1]
        """
        return _batch.each_of(self._encode_blocks(docs, special, threads, by_caller=True))

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
        return list(_batch.each_of(self._encode_blocks(docs, special, threads)))

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
        """The bytes that ids stand for: of a list of int, or of an array of integers (numpy, torch). See decode."""
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
        """The text that ids stand for: a list of int, or an array; one id is a list, too: decode([5]).

        Ids may end inside a character, whose bytes become U+FFFD then; errors="strict" raises UnicodeDecodeError
        instead, "ignore" leaves them out. skip_special_tokens leaves out special tokens.
        """
        return self.decode_bytes(ids, skip_special_tokens).decode("utf-8", errors)

    def decode_batch(
        self, batch: Iterable[TokenIds], skip_special_tokens: bool = False, errors: str = "replace"
    ) -> List[str]:
        """The text of each."""
        return [self.decode(ids, skip_special_tokens, errors) for ids in batch]
