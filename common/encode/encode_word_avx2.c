/* encode_word_avx2.c - encode_word.h with AVX2: vectors of 8. */
#include "encode/encode_word.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = 8 };

typedef __m256i vec;

static inline vec vec_load(const uint32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline void vec_store(uint32_t *p, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm256_min_epu32(a, b);
}

static inline uint32_t vec_least(vec v)
{
    __m128i x = _mm_min_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, _MM_SHUFFLE(1, 0, 3, 2)));
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(x);
}

typedef __m128i one; /* in all lanes */

static inline one one_of(uint32_t x)
{
    return _mm_set1_epi32((int)x);
}

static inline one one_key(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag, uint32_t place)
{
    const __m128i none = one_of(t->none), slots = _mm_loadu_si128((const __m128i *)(const void *)b);
    __m128i found = _mm_and_si128(slots, _mm_cmpeq_epi32(_mm_andnot_si128(none, slots), one_of(tag)));
    found = _mm_or_si128(found, _mm_shuffle_epi32(found, _MM_SHUFFLE(1, 0, 3, 2)));
    found = _mm_or_si128(found, _mm_shuffle_epi32(found, _MM_SHUFFLE(2, 3, 0, 1)));
    return _mm_or_si128(_mm_slli_epi32(_mm_andnot_si128(found, none), PLACE_BITS), one_of(place));
}

static inline uint32_t one_value(one x)
{
    return (uint32_t)_mm_cvtsi128_si32(x);
}

static inline vec vec_put(vec v, int lane, one x)
{
    const vec lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_blendv_epi8(v, _mm256_broadcastd_epi32(x), _mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(lane)));
}

enum { CERTAIN_PAIRS = 4 };

/* rank, in every fourth lane, is compared with `before` of the pair before, and with `after` of the next one. */
static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    const unsigned char *p = (const unsigned char *)x;
    const __m256i rank = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(p - 6));
    const __m256i after = _mm256_loadu_si256((const __m256i *)(const void *)(p + 12));
    __m256i more = _mm256_subs_epu16(_mm256_min_epu16(before, after), rank); /* not 0 if both are above it */
    uint32_t bits = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(more, _mm256_setzero_si256()));
    return _pext_u32(bits, 0x01010101);
}

#include "encode/encode_word_parts.h"

WORD_ENCODER(encode_word_avx2);
#else
const struct word_encoder encode_word_avx2 = {NULL};
#endif
