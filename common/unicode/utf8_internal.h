/* utf8_internal.h - functions that quickly find the approximate end of the valid prefix, for utf8.h; those with vectors
 * have one file each. Only for utf8*.c and their test; other files include utf8.h.
 *
 * p[0 .. at) is valid, and `at` is not inside a character. Each function returns a later offset for which that is true:
 * n if everything is valid, else an offset in the block with the first error, or near its start. Only p[0 .. n) is
 * read.
 */
#ifndef BPE_UNICODE_UTF8_INTERNAL_H
#define BPE_UNICODE_UTF8_INTERNAL_H

#include <stddef.h>

size_t utf8_shift(const unsigned char *p, size_t at, size_t n);

/* For the levels of simd.h (AVX-512 uses the function for AVX2). They look back and read whole blocks: UTF8_BEFORE <=
 * at and UTF8_AHEAD <= n - at. */
enum { UTF8_BEFORE = 3, UTF8_AHEAD = 256 };
size_t utf8_sse2(const unsigned char *p, size_t at, size_t n);
size_t utf8_avx2(const unsigned char *p, size_t at, size_t n);

/* p[0 .. at) has no error, but may end inside a character. Returns the offset of that character, else `at`. */
static inline size_t utf8_whole(const unsigned char *p, size_t at)
{
    if (at >= 1 && p[at - 1] >= 0xC0)
        return at - 1;
    if (at >= 2 && p[at - 2] >= 0xE0)
        return at - 2;
    return at >= 3 && p[at - 3] >= 0xF0 ? at - 3 : at;
}

#endif
