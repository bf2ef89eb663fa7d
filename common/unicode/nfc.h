/* nfc.h - the normal form NFC, as Hugging Face tokenizers makes it: by the tables of Unicode 9.0.
 *
 * Unicode Standard Annex #15: characters are decomposed, marks sorted by their combining class, and composed again.
 * Characters newer than Unicode 9.0 stay as they are, and compose with nothing. The tables are generated
 * (gen-uclass.py). All text here is valid UTF-8, and no character is cut.
 *
 * A *border* is a place in a text that normalization does not reach across, whatever stands on its two sides: before a
 * character that no mark is sorted past and that composes with nothing before it, nor does what it decomposes to. So
 * the normal form of a text is that of its parts between borders, one after the other.
 */
#ifndef BPE_UNICODE_NFC_H
#define BPE_UNICODE_NFC_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>

/* How long a prefix of p[0 .. n) is certainly in normal form and ends at a border: n if all is. What is not certain
 * without normalizing it is not counted: it may turn out to be in normal form. At the speed of reading memory where
 * characters are ASCII, Chinese, or most other letters. */
size_t nfc_checked_len(const unsigned char *p, size_t n);

/* Where the last border in p[0 .. n) is, so that no text after p[n) changes the normal form before it; 0: nowhere. */
size_t nfc_settled_len(const unsigned char *p, size_t n);

/* Appends the normal form of p[0 .. n) to *out: of its parts as many as have no more than `max` bytes (SIZE_MAX: all).
 * A part is a character that is in normal form, or text between two borders. Returns how many bytes of p these parts
 * take, or -1: out of memory. Takes time in proportion to n, and memory in proportion to the longest part. */
ptrdiff_t nfc_put(struct buf *out, const unsigned char *p, size_t n, size_t max, struct err *e);

#endif
