/* utf8.h - validation of UTF-8, and replacement of invalid bytes.
 *
 * Validity is defined by the Unicode Standard (table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
 * Invalid bytes are grouped into "maximal subparts of an ill-formed subsequence" (Unicode Standard, section 3.9), as in
 * Python and the WHATWG encoding standard: each subpart is replaced by one U+FFFD, or skipped.
 */
#ifndef BPE_UNICODE_UTF8_H
#define BPE_UNICODE_UTF8_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What to do with invalid UTF-8: part of how a text is read (input/reading.h). */
enum invalid_policy {
    INVALID_ERROR,
    INVALID_REPLACE, /* by U+FFFD */
    INVALID_SKIP,
    INVALID_BYTES, /* each byte is a separate pretoken, and the text before it ends as at the end of a document */
};

/* The names of the policies on a command line, ending with NULL. */
extern const char *const invalid_policy_names[];

/* The length of the byte order mark at the start of p[0 .. n); 0: none. */
static inline size_t utf8_mark_len(const unsigned char *p, size_t n)
{
    return n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Whether no UTF-8 contains this byte: the 13 bytes C0, C1, and F5 to FF. */
static inline bool utf8_never_contains(unsigned char c)
{
    return c == 0xC0 || c == 0xC1 || c >= 0xF5;
}

/* The length of a character in valid UTF-8, by its first byte. */
static inline size_t utf8_char_len(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* The character at p in valid UTF-8; sets *len to its length. */
static inline uint32_t utf8_char(const unsigned char *p, size_t *len)
{
    *len = utf8_char_len(p[0]);
    switch (*len) {
    case 1:
        return p[0];
    case 2:
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3:
        return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    default:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
               (p[3] & 0x3F);
    }
}

/* Writes the character c in at most 4 bytes; returns its length. */
static inline size_t utf8_put(unsigned char *to, uint32_t c)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; --i; c >>= 6)
        to[i] = (unsigned char)(0x80 | (c & 0x3F));
    to[0] = (unsigned char)(lead[n] | c);
    return n;
}

/* The length of the longest valid prefix of p[0 .. n). Sets *cut to whether an incomplete character follows it, which
 * more bytes could complete. */
size_t utf8_valid_len(const unsigned char *p, size_t n, bool *cut);

/* The same, one character at a time. It defines where an error is, and tests compare the fast version with it. */
size_t utf8_plain_valid_len(const unsigned char *p, size_t n, bool *cut);

/* The length, at least 1, of the maximal subpart at the start of p[0 .. n), which must not begin with a valid
 * character; n > 0. */
size_t utf8_bad_len(const unsigned char *p, size_t n);

/* Appends p[0 .. n) to *out, at most `max` bytes, with each invalid subpart replaced by U+FFFD or, if !replace,
 * skipped. Returns the number of bytes of p that were used, or -1: out of memory. That number is n or, if the output
 * reaches `max` bytes, the smallest number that yields them; `max` must not be inside a character of the output. */
ptrdiff_t utf8_clean(struct buf *out, const unsigned char *p, size_t n, bool replace, size_t max, struct err *e);

#endif
