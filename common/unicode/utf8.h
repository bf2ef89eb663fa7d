/* utf8.h - valid UTF-8, and what is done with invalid bytes.
 *
 * Valid is what the Unicode Standard says (table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). Where
 * bytes are not valid, the unit is the "maximal subpart of an ill-formed subsequence" (Unicode Standard, section 3.9),
 * as in Python and in the WHATWG encoding standard: each such subpart is replaced by one U+FFFD, or left out.
 */
#ifndef BPE_UNICODE_UTF8_H
#define BPE_UNICODE_UTF8_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is done with bytes that are not UTF-8: a part of how a text is read (input/reading.h). */
enum invalid_policy {
    INVALID_ERROR,
    INVALID_REPLACE, /* by U+FFFD */
    INVALID_SKIP,
    INVALID_BYTES, /* each is a pretoken of its own, and the text before it ends as a document does */
};

/* Their names on a command line, ending with NULL. */
extern const char *const invalid_policy_names[];

/* The length of the byte order mark with which p[0 .. n) begins; 0: there is none. */
static inline size_t utf8_mark_len(const unsigned char *p, size_t n)
{
    return n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* The length of a character in valid UTF-8, by its first byte. */
static inline size_t utf8_char_len(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* The character at p, in valid UTF-8, and its length. */
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

/* Writes the character c, at most 4 bytes; returns its length. */
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

/* Length of the longest valid prefix of p[0 .. n). *cut is set if what follows it is the beginning of a character that
 * more bytes could complete. */
size_t utf8_valid_len(const unsigned char *p, size_t n, bool *cut);

/* The same, one character at a time: it defines where an error is, and the tests compare the fast one with it. */
size_t utf8_plain_valid_len(const unsigned char *p, size_t n, bool *cut);

/* For p[0 .. n), n > 0, that does not begin with a valid character: the length of the maximal subpart, >= 1. */
size_t utf8_bad_len(const unsigned char *p, size_t n);

/* Appends p[0 .. n) to *out (up to `max` bytes of it), with each invalid subpart replaced by U+FFFD or, if !replace,
 * left out. Returns how many bytes of p were used (n, unless `max` was reached: then the least number that gives
 * `max` bytes; `max` must fall between two characters of the output), or -1: out of memory. */
ptrdiff_t utf8_clean(struct buf *out, const unsigned char *p, size_t n, bool replace, size_t max, struct err *e);

#endif
