/* utf8_internal.h - the parts of utf8.h, one file each: how to find quickly the approximate end of the valid prefix.
 * For utf8*.c and their test only; others include utf8.h.
 *
 * p[0 .. at) is valid, and `at` is not inside a character. Each function returns another such `at`, farther on: n if
 * all is valid, else one in the block with the first error or near its beginning. Only p[0 .. n) is read.
 */
#ifndef BPE_UNICODE_UTF8_INTERNAL_H
#define BPE_UNICODE_UTF8_INTERNAL_H

#include <stddef.h>

size_t utf8_shift(const unsigned char *p, size_t at, size_t n);

/* One for each level of simd.h (AVX-512 uses that of AVX2). They look back and read whole blocks: UTF8_BEFORE <= at
 * and UTF8_AHEAD <= n - at. */
enum { UTF8_BEFORE = 3, UTF8_AHEAD = 256 };
size_t utf8_sse2(const unsigned char *p, size_t at, size_t n);
size_t utf8_avx2(const unsigned char *p, size_t at, size_t n);

/* p[0 .. at) has no error, but a character may continue after it. Returns where that character begins, else at. */
static inline size_t utf8_whole(const unsigned char *p, size_t at)
{
    if (at >= 1 && p[at - 1] >= 0xC0)
        return at - 1;
    if (at >= 2 && p[at - 2] >= 0xE0)
        return at - 2;
    return at >= 3 && p[at - 3] >= 0xF0 ? at - 3 : at;
}

#endif
