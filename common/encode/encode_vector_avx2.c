/* encode_vector_avx2.c - encode_vector.h with AVX2: vectors of 8. */
#include "encode/encode_vector.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = 8 };

typedef __m256i vec;

static inline vec vec_load(const uint32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
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

enum { CERTAIN_PAIRS = 4 };

/* Compares rank, in every fourth lane, with `before` of the previous pair and `after` of the next one. */
static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    const unsigned char *p = (const unsigned char *)x;
    const __m256i rank = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(p - 6));
    const __m256i after = _mm256_loadu_si256((const __m256i *)(const void *)(p + 12));
    __m256i more = _mm256_subs_epu16(_mm256_min_epu16(before, after), rank); /* not 0 if both are greater than rank */
    uint32_t bits = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(more, _mm256_setzero_si256()));
    return _pext_u32(bits, 0x01010101);
}

#include "encode/encode_vector_impl.h"

const struct word_encoder encode_vector_avx2 = {sizeof(struct turns), encode_words};
#else
const struct word_encoder encode_vector_avx2 = {0, NULL};
#endif
