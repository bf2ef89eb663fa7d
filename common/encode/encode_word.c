/* encode_word.c - see encode_word.h: which version is used, and the one in plain C. */
#include "encode/encode_word.h"

#include "sys/simd.h"

enum { LANES = 16 };

typedef struct {
    uint32_t lane[LANES];
} vec;

static inline vec vec_load(const uint32_t *p)
{
    vec v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline void vec_store(uint32_t *p, vec v)
{
    __builtin_memcpy(p, &v, sizeof v);
}

static inline vec vec_min(vec a, vec b)
{
    for (int i = 0; i < LANES; i++)
        a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

static inline uint32_t vec_least(vec v)
{
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            v.lane[i] = v.lane[i] < v.lane[i + n] ? v.lane[i] : v.lane[i + n];
    return v.lane[0];
}

typedef uint32_t one;

static inline one one_of(uint32_t x)
{
    return x;
}

static inline one one_key(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag, uint32_t place)
{
    return pair_bucket_rank(t, b, tag) << PLACE_BITS | place;
}

static inline uint32_t one_value(one x)
{
    return x;
}

static inline vec vec_put(vec v, int lane, one x)
{
    if (lane >= 0 && lane < LANES)
        v.lane[lane] = x;
    return v;
}

enum { CERTAIN_PAIRS = 1 };

static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    return (x->rank < x[-1].before) & (x->rank < x[1].after);
}

#include "encode/encode_word_parts.h"

WORD_ENCODER(encode_word_plain);

const struct word_encoder *word_encoder_best(void)
{
    static const struct word_encoder *const at_level[SIMD_N] = {[SIMD_NONE] = &encode_word_plain,
                                                                [SIMD_NEON] = &encode_word_neon,
                                                                [SIMD_SSE2] = &encode_word_sse2,
                                                                [SIMD_AVX2] = &encode_word_avx2};
    enum simd level = simd_level();
    while (!at_level[level] || !at_level[level]->one)
        level--;
    return at_level[level];
}
