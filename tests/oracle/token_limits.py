"""token_limits.py - which tokens may be made (--max-token-length, --utf8-boundaries, --veto), for the oracles."""
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402


@functools.cache
def within_characters(token):
    """Whether a token is a sequence of characters, or a part of one. (A part that begins a character: of at most three bytes.)"""
    if len(token) < 4 and all(0x80 <= b < 0xC0 for b in token):
        return True
    try:
        return token.decode() is not None
    except UnicodeDecodeError:
        return any(chr(c).encode().startswith(token) for c in range(0x80, 0x10000) if not 0xD800 <= c < 0xE000)


class Limits:
    """Which tokens may be made: shorter than max_len, within characters, without vetoed strings."""

    def __init__(self, max_len=0, utf8=False, vetoes=()):
        self.max_len, self.utf8, self.vetoes = max_len, utf8, vetoes

    def allow(self, token):
        return ((not self.max_len or len(token) < max(self.max_len, 3)) and (not self.utf8 or within_characters(token)) and
                not any(veto in token for veto in self.vetoes))

    def options(self, path, meta=""):
        """Those of bpe-merge; the vetoes are written to two files, the second with a space for each `meta`."""
        args = ["--max-token-length", str(self.max_len)] * (self.max_len > 0) + ["--utf8-boundaries"] * self.utf8
        if self.vetoes:
            lib.write(path, b"".join(veto + b"\n" for veto in self.vetoes[1:]))
            lib.write(f"{path}2", self.vetoes[0].replace(meta.encode(), b" ") if meta else self.vetoes[0])
        return args + ["--veto", path, "--veto", f"{path}2"] * (len(self.vetoes) > 0)


def choose(rng, words):
    """Random limits. Vetoes are parts of words, which are bytes."""
    vetoes = []
    for word in rng.choices(words, k=rng.choice([0, 0, 1, 5])) if words else []:
        at = rng.randrange(len(word))
        veto = word[at:at + rng.randint(1, 4)]
        if veto[0] not in b'"\r' and b"\n" not in veto and veto[-1:] != b"\r":
            vetoes.append(veto)
    return Limits(rng.choice([0, 0, 0, 1, 4, 6]), rng.random() < 0.3, vetoes)
