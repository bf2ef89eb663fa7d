/* scan_avx512.c - scan_masks_impl.h with AVX-512 (BW, VBMI2): one compare of 64 bytes gives a mask directly, and one
 * compression gives the positions of its bits. */
#include "pretok/scan_internal.h"

#ifdef __AVX512VBMI2__

#include <immintrin.h>

typedef __m512i vec;
typedef uint64_t set;

INLINE vec load(const unsigned char *p)
{
    return _mm512_loadu_si512(p);
}

INLINE uint64_t bits(set s)
{
    return s;
}

INLINE set either(set s, set t)
{
    return s | t;
}

INLINE set in_range(vec v, unsigned low, unsigned n)
{
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8((char)low)), _mm512_set1_epi8((char)n));
}

INLINE set equal(vec v, unsigned c)
{
    return _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)c));
}

INLINE vec lower(vec v)
{
    return _mm512_or_si512(v, _mm512_set1_epi8(0x20));
}

INLINE size_t put_ends(uint32_t *ends, uint64_t starts, uint32_t at)
{
    const __m512i count =
        _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40,
                        39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i base = _mm512_set1_epi32((int)at);
    size_t n = (size_t)__builtin_popcountll(starts);
    __m512i bits = _mm512_maskz_compress_epi8(starts, count);
    _mm512_storeu_si512(ends, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bits))));
    _mm512_storeu_si512(ends + 16, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bits, 1))));
    if (n > 32) { /* rare; whether there are more than 16 cannot be predicted, so the first 32 are always written */
        _mm512_storeu_si512(ends + 32,
                            _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bits, 2))));
        _mm512_storeu_si512(ends + 48,
                            _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bits, 3))));
    }
    return n;
}

#include "pretok/scan_masks_impl.h"

scan_fn *const scan_avx512[PATTERN_N] = SCANNERS;
#else
scan_fn *const scan_avx512[PATTERN_N] = {NULL};
#endif
