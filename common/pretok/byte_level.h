/* byte_level.h - a token's bytes as readable text: the byte-to-unicode map of GPT-2.
 *
 * The map turns any byte into a readable character. The 188 bytes 21-7E, A1-AC and AE-FF become the code point of the
 * same value; the other 68 become, in increasing order, U+0100, U+0101, ... (a space is U+0120).
 */
#ifndef BPE_PRETOK_BYTE_LEVEL_H
#define BPE_PRETOK_BYTE_LEVEL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

#define BYTE_LEVEL_PAD 24 /* bytes past the end that byte_level_get may read and write */
#define BYTE_LEVEL_NOT SIZE_MAX

/* The 256 bytes in the order of their code points in the map: "!" first. */
void byte_level_order(unsigned char order[256]);

/* Writes the character of one byte; returns its length, 1 or 2. */
size_t byte_level_char(unsigned char to[2], unsigned char byte);

/* Appends the characters of n bytes. -1: out of memory. */
int byte_level_put(struct buf *out, const unsigned char *p, size_t n, struct err *e);

/* The inverse: decodes the characters p[0 .. n) to bytes at `to`, which has room for n + BYTE_LEVEL_PAD bytes;
 * BYTE_LEVEL_PAD bytes after p[n) must be readable. Returns the number of bytes, or BYTE_LEVEL_NOT if p has anything
 * except characters of the map. p need not be valid UTF-8. */
size_t byte_level_get(unsigned char *to, const unsigned char *p, size_t n);

#endif
