/* encode_word_neon.c - encode_word.h with NEON: vectors of 4. */
#include "encode/encode_word.h"

#if defined __AARCH64EL__ && defined __ARM_NEON
#include <arm_neon.h>

enum { LANES = 4 };

typedef uint32x4_t vec;

static inline vec vec_load(const uint32_t *p)
{
    return vld1q_u32(p);
}

static inline void vec_store(uint32_t *p, vec v)
{
    vst1q_u32(p, v);
}

static inline vec vec_min(vec a, vec b)
{
    return vminq_u32(a, b);
}

static inline uint32_t vec_least(vec v)
{
    return vminvq_u32(v);
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
    static const int32_t lanes[] = {0, 1, 2, 3};
    return vbslq_u32(vceqq_s32(vld1q_s32(lanes), vdupq_n_s32(lane)), vdupq_n_u32(x), v);
}

enum { CERTAIN_PAIRS = 1 };

static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    return (x->rank < x[-1].before) & (x->rank < x[1].after);
}

#include "encode/encode_word_parts.h"

WORD_ENCODER(encode_word_neon);
#else
const struct word_encoder encode_word_neon = {NULL, NULL};
#endif
