/* nfc.h - normalization form NFC as in Hugging Face tokenizers, with the tables of Unicode 9.0.
 *
 * By Unicode Standard Annex #15, characters are decomposed, marks sorted by combining class, and characters composed
 * again. Characters newer than Unicode 9.0 remain unchanged, and compose with nothing. The tables are generated
 * (gen-uclass.py). All text here is valid UTF-8 and consists of whole characters.
 *
 * A *border* is a position in a text across which normalization has no effect, whatever the text on either side. There
 * is a border before a character if no mark is sorted past it, and neither it nor its decomposition composes with a
 * preceding character. The normal form of a text is therefore the concatenation of the normal forms of its parts
 * between borders.
 */
#ifndef BPE_UNICODE_NFC_H
#define BPE_UNICODE_NFC_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>

/* The length of a prefix of p[0 .. n) that is known to be in normal form and ends at a border; n if all of it is. The
 * prefix stops at a part that can be checked only by normalizing it, even if that part is in normal form. Runs at
 * memory speed on ASCII, Chinese and most other letters. */
size_t nfc_checked_len(const unsigned char *p, size_t n);

/* The offset of the last border in p[0 .. n): no text after p[0 .. n) changes the normal form before the border. 0:
 * none. */
size_t nfc_settled_len(const unsigned char *p, size_t n);

/* Appends the normal form of p[0 .. n) to *out: as many whole parts as fit in `max` bytes (SIZE_MAX: all). A part is a
 * character in normal form, or the text between two borders. Returns the length of these parts in p, or -1: out of
 * memory. Takes time proportional to n, and memory proportional to the longest part. */
ptrdiff_t nfc_put(struct buf *out, const unsigned char *p, size_t n, size_t max, struct err *e);

#endif
