/* encode_word_sse2.c - encode_word.h with SSE2: vectors of 4, without an instruction for the minimum. */
#include "encode/encode_word.h"

#ifdef __SSE2__
#include <emmintrin.h>

enum { LANES = 4 };

typedef __m128i vec;

static inline vec vec_load(const uint32_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void vec_store(uint32_t *p, vec v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}

/* Of each lane b where mask is all ones, a where it is 0. */
static inline vec choose(vec mask, vec a, vec b)
{
    return _mm_or_si128(_mm_and_si128(mask, b), _mm_andnot_si128(mask, a));
}

static inline vec vec_min(vec a, vec b)
{
    return choose(_mm_cmpgt_epi32(a, b), a, b);
}

static inline uint32_t vec_least(vec v)
{
    v = vec_min(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(1, 0, 3, 2)));
    v = vec_min(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(v);
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
    const vec lanes = _mm_setr_epi32(0, 1, 2, 3);
    return choose(_mm_cmpeq_epi32(lanes, _mm_set1_epi32(lane)), v, x);
}

enum { CERTAIN_PAIRS = 2 };

/* rank, in every fourth lane, is compared with `before` of the pair before, and with `after` of the next one. */
static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    const unsigned char *p = (const unsigned char *)x;
    const __m128i rank = _mm_loadu_si128((const __m128i *)(const void *)p), zero = _mm_setzero_si128();
    const __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(p - 6));
    const __m128i after = _mm_loadu_si128((const __m128i *)(const void *)(p + 12));
    __m128i not = _mm_or_si128(_mm_cmpeq_epi16(_mm_subs_epu16(before, rank), zero),
                               _mm_cmpeq_epi16(_mm_subs_epu16(after, rank), zero));
    uint32_t bits = ~(uint32_t)_mm_movemask_epi8(not );
    return (bits & 1) | (bits >> 7 & 2);
}

#include "encode/encode_word_parts.h"

WORD_ENCODER(encode_word_sse2);
#else
const struct word_encoder encode_word_sse2 = {NULL, NULL};
#endif
