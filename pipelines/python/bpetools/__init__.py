"""Byte-pair encoding: train tokenizers, and turn text into the ids of tokens, and back.

>>> import bpetools
>>> tok = bpetools.Tokenizer("tokenizer.json")
>>> tok.encode("low lower newest")
[268, 267, 264]

See help(bpetools.Tokenizer).
"""

from ._errors import BpeError, BpeValueError
from ._tokenizer import Tokenizer

__version__ = "0.2.0"
__all__ = ["BpeError", "BpeValueError", "Tokenizer"]
