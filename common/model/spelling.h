/* spelling.h - how the keys of a vocabulary, and its merges, spell tokens. */
#ifndef BPE_MODEL_SPELLING_H
#define BPE_MODEL_SPELLING_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "pretok/byte_level.h"
#include "pretok/metaspace.h"

#include <stddef.h>

enum spelling {
    SPELLING_BYTE_LEVEL, /* each byte as a character: byte_level.h */
    SPELLING_TEXT,       /* unchanged */
    SPELLING_SPACES,     /* a space as U+2581, so that both are the same; otherwise unchanged (SentencePiece) */
};

/* Writes the token that p[0 .. n) spells to `to`; memory and padding as for byte_level_get. Returns its length, or
 * BYTE_LEVEL_NOT if p does not spell a token (with SPELLING_SPACES: if it contains a space). */
size_t spelling_get(enum spelling s, unsigned char *to, const unsigned char *p, size_t n);

/* The inverse: appends the spelling of p[0 .. n). -1: out of memory. */
int spelling_put(enum spelling s, struct buf *out, const unsigned char *p, size_t n, struct err *e);

#endif
