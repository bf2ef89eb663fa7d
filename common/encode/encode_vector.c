/* encode_vector.c - see encode_vector.h: the choice of a version, and the portable version, with the compiler's vector
 * types. (Versions with SSE2 and NEON intrinsics were no faster.) */
#include "encode/encode_vector.h"

#include "base/sys/simd.h"

enum { LANES = 4 };

typedef int32_t vec __attribute__((vector_size(16))); /* the compiler emulates it where the processor has no vectors */

static inline vec vec_load(const uint32_t *p)
{
    vec v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

/* In each lane, b where mask is all ones, a where it is 0. */
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

enum { CERTAIN_PAIRS = 1 };

static inline uint32_t certain_pairs(const struct byte_pair *x)
{
    return (x->rank < x[-1].before) & (x->rank < x[1].after);
}

#include "encode/encode_vector_impl.h"

const struct word_encoder encode_vector_plain = {sizeof(struct turns), encode_words};

const struct word_encoder *word_encoder_best(void)
{
    return simd_level() >= SIMD_AVX2 && encode_vector_avx2.encode_batch ? &encode_vector_avx2 : &encode_vector_plain;
}
