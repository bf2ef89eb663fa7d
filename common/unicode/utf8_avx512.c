/* utf8_avx512.c - see utf8_internal.h; like utf8_avx2.c, with vectors of twice the size. vpermb uses only the low bits
 * of an index and ignores the others, which saves most of the masking. */
#include "unicode/utf8_internal.h"

#ifdef __AVX512VBMI__
#include <immintrin.h>
#include <stdbool.h>

typedef __m512i vec;

static inline vec load(const unsigned char *p)
{
    return _mm512_loadu_si512(p);
}

static inline __m512i look_up(int table, __m512i index)
{
    __m128i t = _mm_loadu_si128((const __m128i *)utf8_pairs[table]);
    return _mm512_permutexvar_epi8(index, _mm512_broadcast_i32x4(t));
}

static inline vec merge(vec a, vec b)
{
    return _mm512_or_si512(a, b);
}

/* Not zero if one of 64 bytes is wrong, given the three bytes before. */
static inline vec wrong(const unsigned char *p)
{
    __m512i v = load(p), before1 = load(p - 1), before2 = load(p - 2), before3 = load(p - 3);
    __m512i high1 = look_up(UTF8_PAIR_HIGH1, _mm512_srli_epi16(before1, 4));
    __m512i low1 = look_up(UTF8_PAIR_LOW1, before1);
    __m512i high2 = look_up(UTF8_PAIR_HIGH2, _mm512_srli_epi16(v, 4));
    __m512i pair = _mm512_ternarylogic_epi32(high1, low1, high2, 0x80); /* high1 & low1 & high2 */
    /* The highest bit: a third byte is required after E0 and above, a fourth after F0 and above. */
    __m512i due = _mm512_or_si512(_mm512_subs_epu8(before2, _mm512_set1_epi8(0xE0 - 0x80)),
                                  _mm512_subs_epu8(before3, _mm512_set1_epi8(0xF0 - 0x80)));
    return _mm512_ternarylogic_epi32(due, _mm512_set1_epi8((char)0x80), pair, 0x6A); /* (due & 0x80) ^ pair */
}

static inline bool any_high(vec v)
{
    return _mm512_test_epi8_mask(v, _mm512_set1_epi8((char)0x80)) != 0;
}

static inline bool any(vec v)
{
    return _mm512_test_epi8_mask(v, v) != 0;
}

#define utf8_blocks utf8_avx512
#include "unicode/utf8_blocks_impl.h"
#endif
