# _toktokenizer.py - a replacement for the class of the package toktokenizer
from __future__ import annotations

from ._errors import BpeValueError
from ._tokenizer import Tokenizer

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Iterable, List, Optional, Union

    from ._batch import Text
    from ._model import Path
    from ._tokenizer import TokenIds

BYTES = 256


class BPETokenizer:
    """A replacement for the class of PyPI's toktokenizer. The attribute tokenizer is the Tokenizer that it uses.

    As in toktokenizer, vocab_size is the number of merges. There are three differences: the ids of merges come after
    those of all 256 bytes (in toktokenizer, bytes from 128 on share the ids of merges), files are tokenizer.json, and
    merges do not cross words (pattern gpt2).

    >>> from bpetools import BPETokenizer
    >>> bpe = BPETokenizer()
    >>> bpe.train("low low low lower lower newest newest newest newest", 12)
    >>> bpe.save_encoder("12.json")
    >>> bpe.load_encoder("12.json")
    >>> bpe.encode("low lower newest")
    [267, 266, 263]
    >>> bpe.decode([267, 266, 263])
    'low lower newest'
    """

    def __init__(self) -> None:
        self.tokenizer: Optional[Tokenizer] = None

    def train(self, text: Union[Text, Iterable[Text]], vocab_size: int) -> None:
        """Learns vocab_size merges from a text, or from an iterable of texts."""
        from ._commands import train_from_iterator

        texts = [text] if isinstance(text, (str, bytes, bytearray, memoryview)) else text
        self.tokenizer = train_from_iterator(texts, vocab_size=BYTES + vocab_size, special_tokens=())

    @classmethod
    def from_pretrained(cls, file: Path) -> BPETokenizer:
        """Opens a tokenizer.json, or any other file that Tokenizer.from_file takes."""
        made = cls()
        made.load_encoder(file)
        return made

    def load_encoder(self, file: Path) -> None:
        """Opens such a file in this object."""
        self.tokenizer = Tokenizer(file)

    def save_encoder(self, file: Path) -> None:
        """Writes a tokenizer.json."""
        self._trained().save(file, "json")

    def _trained(self) -> Tokenizer:
        if not self.tokenizer:
            raise BpeValueError("no tokenizer yet: call train or load_encoder", 64)
        return self.tokenizer

    def encode(self, text: Text) -> List[int]:
        """Encodes a text into ids."""
        return self._trained().encode(text)

    def decode(self, input_ids: TokenIds) -> str:
        """Decodes ids to text."""
        return self._trained().decode(input_ids)

    @property
    def n_vocab(self) -> int:
        """The number of merges."""
        return max(0, len(self) - BYTES)

    def __len__(self) -> int:
        """The number of ids."""
        return len(self.tokenizer) if self.tokenizer else BYTES

    def __repr__(self) -> str:
        return f"BPETokenizer(n_vocab={self.n_vocab})"
