/* utf8_sse2.c - see utf8_internal.h. SSE2 has no table lookup, so errors are found by comparisons. */
#include "unicode/utf8_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#include <stdbool.h>

typedef __m128i vec;

static inline vec load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline vec merge(vec a, vec b)
{
    return _mm_or_si128(a, b);
}

static inline __m128i all(int byte)
{
    return _mm_set1_epi8((char)byte);
}

/* Nonzero if any of 16 bytes is wrong, given the three bytes before them. */
static inline vec wrong(const unsigned char *p)
{
    __m128i v = load(p), before1 = load(p - 1), before2 = load(p - 2), before3 = load(p - 3);
    /* Continuation bytes must be exactly where they are required. As signed numbers, 80 to BF are the smallest. */
    __m128i due = _mm_or_si128(_mm_subs_epu8(before1, all(0xBF)), _mm_subs_epu8(before2, all(0xDF)));
    due = _mm_or_si128(due, _mm_subs_epu8(before3, all(0xEF)));
    __m128i bad = _mm_cmpeq_epi8(_mm_cmpeq_epi8(due, all(0)), _mm_cmplt_epi8(v, all(0xC0)));
    /* Bytes that never occur: C0, C1, F5 to FF. */
    bad = _mm_or_si128(bad, _mm_cmpeq_epi8(_mm_and_si128(v, all(0xFE)), all(0xC0)));
    bad = _mm_or_si128(bad, _mm_subs_epu8(v, all(0xF4)));
    /* Overlong forms after E0 and F0, surrogates after ED, code points above U+10FFFF after F4. */
    __m128i from_a0 = _mm_cmpgt_epi8(v, all(0x9F)), from_90 = _mm_cmpgt_epi8(v, all(0x8F));
    bad = _mm_or_si128(bad, _mm_andnot_si128(from_a0, _mm_cmpeq_epi8(before1, all(0xE0))));
    bad = _mm_or_si128(bad, _mm_and_si128(from_a0, _mm_cmpeq_epi8(before1, all(0xED))));
    bad = _mm_or_si128(bad, _mm_andnot_si128(from_90, _mm_cmpeq_epi8(before1, all(0xF0))));
    return _mm_or_si128(bad, _mm_and_si128(from_90, _mm_cmpeq_epi8(before1, all(0xF4))));
}

static inline bool any_high(vec v)
{
    return _mm_movemask_epi8(v) != 0;
}

static inline bool any(vec v)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, all(0))) != 0xFFFF;
}

#define utf8_blocks utf8_sse2
#include "unicode/utf8_blocks_impl.h"
#endif
