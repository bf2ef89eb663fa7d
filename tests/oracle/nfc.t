#!/usr/bin/env python3
"""nfc.t - the NFC of Unicode 9.0 characters is the one of Python's unicodedata. Prints TAP.

STRINGS=N random sequences (20000), SEED=N their seed. Characters newer than Unicode 9.0 that unicodedata changes are left to
nfc_peers.py.
"""
import os
import random
import sys
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/..", HERE]
import lib  # noqa: E402
import nfc_peers  # noqa: E402

KNOWN = "14.0.0"
# Ranges added in Unicode 10 to 14 that contain characters with a combining class or a decomposition.
NEWER = [(0x7FD, 0x7FD), (0x898, 0x89F), (0x8CA, 0x8D3), (0x9FE, 0x9FE), (0xC3C, 0xC3C), (0xD3B, 0xD3C), (0xEBA, 0xEBA),
         (0x1715, 0x1715), (0x1ABF, 0x1ACE), (0x1DF6, 0x1DFA), (0xA82C, 0xA82C), (0x10D24, 0x10D27), (0x10EAB, 0x10F85),
         (0x11070, 0x11070), (0x1133B, 0x1133B), (0x1145E, 0x1145E), (0x11839, 0x1183A), (0x11938, 0x11A99),
         (0x11D42, 0x11D97), (0x16FF0, 0x16FF1), (0x1E130, 0x1E2EF)]

if unicodedata.unidata_version != KNOWN:
    lib.skip_all(f"Python's unicodedata has Unicode {unicodedata.unidata_version}, not {KNOWN}")
left_out = {chr(c) for first, last in NEWER for c in range(first, last + 1)}
known = [c for c in nfc_peers.EVERY if c not in left_out]
for name, items in nfc_peers.texts(known, random.Random(lib.seed()), nfc_peers.STRINGS):
    nfc_peers.compare(name, items, lambda text: unicodedata.normalize("NFC", text))
sys.exit(lib.done())
