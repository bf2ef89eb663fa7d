/* utf8.h - valid UTF-8, and what to do with the rest of the world's files.
 *
 * Valid is what the Unicode Standard says (table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). Where
 * bytes are not valid, the unit is the "maximal subpart of an ill-formed subsequence" (Unicode Standard, section 3.9),
 * as in Python and in the WHATWG encoding standard: each such subpart becomes one U+FFFD, or goes.
 */
#ifndef BPE_SYS_UTF8_H
#define BPE_SYS_UTF8_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest valid prefix of p[0 .. n). *cut is set if what follows it is the beginning of a character that
 * more bytes could complete. */
size_t utf8_valid_len(const unsigned char *p, size_t n, bool *cut);

/* The same, a character at a time: what decides where an error is, and what the tests compare with. */
size_t utf8_plain_valid_len(const unsigned char *p, size_t n, bool *cut);

/* For p[0 .. n), n > 0, that does not begin with a valid character: the length of the maximal subpart, >= 1. */
size_t utf8_bad_len(const unsigned char *p, size_t n);

/* Appends p[0 .. n) to *out (up to `most` bytes of it), with each invalid subpart replaced by U+FFFD or, if !replace,
 * left out. Returns how many bytes of p were used (n, unless `most` was reached: then the least number that gives
 * `most` bytes; `most` must fall between two characters of the output), or -1: out of memory. */
ptrdiff_t utf8_clean(struct buf *out, const unsigned char *p, size_t n, bool replace, size_t most, struct err *e);

/* ---- for utf8.c: how to find quickly about where the valid prefix ends ----
 *
 * p[0 .. at) is valid, and `at` is not inside a character. Each returns another such `at`, farther on: n if all is
 * valid, else one in the block with the first error or near its beginning. They read nothing outside of p[0 .. n). */

size_t utf8_shift(const unsigned char *p, size_t at, size_t n);

/* One for each level of simd.h. They look back and take whole blocks, so UTF8_BEHIND <= at and UTF8_AHEAD <= n - at. */
enum { UTF8_BEHIND = 3, UTF8_AHEAD = 256 };
size_t utf8_sse2(const unsigned char *p, size_t at, size_t n);
size_t utf8_avx2(const unsigned char *p, size_t at, size_t n);
size_t utf8_avx512(const unsigned char *p, size_t at, size_t n);

/* What is wrong with two bytes in a row, a bit for each thing it may be: the AND of what three nibbles allow. */
enum { UTF8_PAIR_HIGH1, UTF8_PAIR_LOW1, UTF8_PAIR_HIGH2, UTF8_PAIR_N };
extern const unsigned char utf8_pairs[UTF8_PAIR_N][16];

/* If no byte of p[0 .. at) is wrong but a character may go on beyond: where that one begins, else at. */
static inline size_t utf8_whole(const unsigned char *p, size_t at)
{
    if (at >= 1 && p[at - 1] >= 0xC0)
        return at - 1;
    if (at >= 2 && p[at - 2] >= 0xE0)
        return at - 2;
    return at >= 3 && p[at - 3] >= 0xF0 ? at - 3 : at;
}

#endif
