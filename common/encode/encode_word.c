/* encode_word.c - see encode_word.h: which version is used, and the one in C, with vectors of the compiler's that any
 * processor has. (Versions by the instructions of SSE2 and NEON were no faster.) */
#include "encode/encode_word.h"

#include "sys/simd.h"

enum { LANES = 4 };

typedef int32_t vec
    __attribute__((vector_size(16))); /* of any processor; where it has none, the compiler does without */

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

/* Of each lane b where mask is all ones, a where it is 0. */
static inline vec choose(vec mask, vec a, vec b)
{
    return (a & ~mask) | (b & mask);
}

static inline vec vec_min(vec a, vec b)
{
    return choose(a > b, a, b);
}

static inline uint32_t vec_least(vec v)
{
    v = vec_min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
    v = vec_min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
    return (uint32_t)v[0];
}

typedef vec one; /* in all lanes */

static inline one one_of(uint32_t x)
{
    const int32_t i = (int32_t)x;
    return (vec){i, i, i, i};
}

static inline one one_key(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag, uint32_t place)
{
    const vec none = one_of(t->none), slots = vec_load(b->slot);
    vec found = slots & ((slots & ~none) == one_of(tag)); /* at most one is not 0 */
    found |= __builtin_shufflevector(found, found, 2, 3, 0, 1);
    found |= __builtin_shufflevector(found, found, 1, 0, 3, 2);
    return (~found & none) << PLACE_BITS | one_of(place);
}

static inline uint32_t one_value(one x)
{
    return (uint32_t)x[0];
}

static inline vec vec_put(vec v, int lane, one x)
{
    return choose((vec){0, 1, 2, 3} == (vec){lane, lane, lane, lane}, v, x);
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
    return simd_level() >= SIMD_AVX2 && encode_word_avx2.some ? &encode_word_avx2 : &encode_word_plain;
}
