/* scan_sse2.c - scan_masks_impl.h with SSE2, which every x86-64 has: four compares and movemasks for a mask of 64
 * bytes. */
#include "pretok/scan_internal.h"

#ifdef __SSE2__

#include <emmintrin.h>

typedef struct {
    __m128i a, b, c, d;
} vec;
typedef vec set; /* all ones or 0 in each byte */

INLINE vec load(const unsigned char *p)
{
    const __m128i *q = (const __m128i *)(const void *)p;
    return (vec){_mm_loadu_si128(q), _mm_loadu_si128(q + 1), _mm_loadu_si128(q + 2), _mm_loadu_si128(q + 3)};
}

INLINE uint64_t bits(set v)
{
    uint32_t low = (uint32_t)_mm_movemask_epi8(v.a) | (uint32_t)_mm_movemask_epi8(v.b) << 16;
    uint32_t high = (uint32_t)_mm_movemask_epi8(v.c) | (uint32_t)_mm_movemask_epi8(v.d) << 16;
    return low | (uint64_t)high << 32;
}

INLINE __m128i range_of(__m128i v, unsigned low, unsigned n)
{
    v = _mm_sub_epi8(v, _mm_set1_epi8((char)low));
    return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8((char)(n - 1))), v);
}

INLINE set in_range(vec v, unsigned low, unsigned n)
{
    return (set){range_of(v.a, low, n), range_of(v.b, low, n), range_of(v.c, low, n), range_of(v.d, low, n)};
}

INLINE set equal(vec v, unsigned c)
{
    __m128i all = _mm_set1_epi8((char)c);
    return (set){_mm_cmpeq_epi8(v.a, all), _mm_cmpeq_epi8(v.b, all), _mm_cmpeq_epi8(v.c, all),
                 _mm_cmpeq_epi8(v.d, all)};
}

INLINE set either(set s, set t)
{
    return (set){_mm_or_si128(s.a, t.a), _mm_or_si128(s.b, t.b), _mm_or_si128(s.c, t.c), _mm_or_si128(s.d, t.d)};
}

INLINE vec lower(vec v)
{
    __m128i bit = _mm_set1_epi8(0x20);
    return either(v, (vec){bit, bit, bit, bit});
}

#define put_ends put_ends_by_four
#include "pretok/scan_masks_impl.h"

scan_fn *const scan_sse2[PATTERN_N] = SCANNERS;
#else
scan_fn *const scan_sse2[PATTERN_N] = {NULL};
#endif
