/* scan_avx2.c - scan_masks_impl.h with AVX2: two compares and movemasks for a mask of 64 bytes. */
#include "pretok/scan_internal.h"

#ifdef __AVX2__

#include <immintrin.h>

typedef struct {
    __m256i a, b;
} vec;
typedef vec set; /* all ones or 0 in each byte */

INLINE vec load(const unsigned char *p)
{
    return (vec){_mm256_loadu_si256((const __m256i *)(const void *)p),
                 _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

INLINE uint64_t bits(set v)
{
    return (uint32_t)_mm256_movemask_epi8(v.a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(v.b) << 32;
}

INLINE __m256i range_of(__m256i v, unsigned low, unsigned n)
{
    v = _mm256_sub_epi8(v, _mm256_set1_epi8((char)low));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8((char)(n - 1))), v);
}

INLINE set in_range(vec v, unsigned low, unsigned n)
{
    return (set){range_of(v.a, low, n), range_of(v.b, low, n)};
}

INLINE set equal(vec v, unsigned c)
{
    __m256i all = _mm256_set1_epi8((char)c);
    return (set){_mm256_cmpeq_epi8(v.a, all), _mm256_cmpeq_epi8(v.b, all)};
}

INLINE set either(set s, set t)
{
    return (set){_mm256_or_si256(s.a, t.a), _mm256_or_si256(s.b, t.b)};
}

INLINE vec lower(vec v)
{
    __m256i bit = _mm256_set1_epi8(0x20);
    return either(v, (vec){bit, bit});
}

#define put_ends put_ends_by_four
#include "pretok/scan_masks_impl.h"

scan_fn *const scan_avx2[PATTERN_N] = SCANNERS;
#else
scan_fn *const scan_avx2[PATTERN_N] = {NULL};
#endif
