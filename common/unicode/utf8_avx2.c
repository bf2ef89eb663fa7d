/* utf8_avx2.c - see utf8_internal.h, and utf8_pairs.c for the idea. */
#include "unicode/utf8_internal.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <stdbool.h>

typedef __m256i vec;

static inline vec load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline vec merge(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

/* Looks up each byte's low four bits in a table. */
static inline __m256i look_up(int table, __m256i index)
{
    __m128i t = _mm_loadu_si128((const __m128i *)utf8_pairs[table]);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t), _mm256_and_si256(index, _mm256_set1_epi8(0x0F)));
}

/* Not zero if one of 32 bytes is wrong, given the three bytes before. */
static inline vec wrong(const unsigned char *p)
{
    __m256i v = load(p), before1 = load(p - 1), before2 = load(p - 2), before3 = load(p - 3);
    __m256i high1 = look_up(UTF8_PAIR_HIGH1, _mm256_srli_epi16(before1, 4));
    __m256i low1 = look_up(UTF8_PAIR_LOW1, before1);
    __m256i high2 = look_up(UTF8_PAIR_HIGH2, _mm256_srli_epi16(v, 4));
    __m256i pair = _mm256_and_si256(_mm256_and_si256(high1, low1), high2);
    /* The highest bit: a third byte is required after E0 and above, a fourth after F0 and above. */
    __m256i due = _mm256_or_si256(_mm256_subs_epu8(before2, _mm256_set1_epi8(0xE0 - 0x80)),
                                  _mm256_subs_epu8(before3, _mm256_set1_epi8(0xF0 - 0x80)));
    return _mm256_xor_si256(_mm256_and_si256(due, _mm256_set1_epi8((char)0x80)), pair);
}

static inline bool any_high(vec v)
{
    return _mm256_movemask_epi8(v) != 0;
}

static inline bool any(vec v)
{
    return !_mm256_testz_si256(v, v);
}

#define utf8_blocks utf8_avx2
#include "unicode/utf8_blocks_impl.h"
#endif
