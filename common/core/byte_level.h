/* byte_level.h - a token's bytes as readable text: the byte-to-unicode map of GPT-2.
 *
 * It writes any bytes as readable UTF-8: the 188 bytes 21-7E, A1-AC and AE-FF as the code point of their value, the
 * other 68, in increasing order, as U+0100, U+0101, ... (a space is U+0120).
 */
#ifndef BPE_CORE_BYTE_LEVEL_H
#define BPE_CORE_BYTE_LEVEL_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

#define BYTE_LEVEL_PAD 24 /* room past the end that byte_level_get needs, to read and to write */
#define BYTE_LEVEL_NOT SIZE_MAX

/* The bytes by their code point in the map: "!" first. */
void byte_level_order(unsigned char order[256]);

/* Writes the character of one byte; returns its length, 1 or 2. */
size_t byte_level_char(unsigned char to[2], unsigned char byte);

/* Appends the characters of n bytes. -1: out of memory. */
int byte_level_put(struct buf *out, const unsigned char *p, size_t n, struct err *e);

/* The way back: writes the bytes for which the characters p[0 .. n) stand to `to` (n bytes and BYTE_LEVEL_PAD of room;
 * p has BYTE_LEVEL_PAD readable past its end). Returns how many, or BYTE_LEVEL_NOT when p has anything but characters
 * of the map; then p may be no UTF-8 either. */
size_t byte_level_get(unsigned char *to, const unsigned char *p, size_t n);

#endif
