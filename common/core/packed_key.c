/* packed_key.c - see packed_key.h: the plain version. */
#include "core/packed_key.h"

#include "sys/simd.h"

/* The lengths cannot be guessed, so there is no branch by them. */
static void split(struct tiny_split *s, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  const struct tiny_place *place)
{
    memset(s->other, 0, sizeof s->other);
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start;
        struct tiny_key key = tiny_key(text + start, len);
        uint64_t other = len > TINY_MAX;
        s->head[i] = key.head & (other - 1);
        s->tail[i] = key.tail & (uint32_t)(other - 1);
        s->other[i / 64] |= other << i % 64;
    }
    for (size_t i = 0; i < n; i++) {
        size_t slot = (size_t)(tiny_hash(place->secret, s->head[i], s->tail[i]) >> place->shift);
        s->slot[i] = s->tail[i] ? slot : place->spare;
    }
    s->n = n;
}

tiny_split_fn *const tiny_split_plain = split;

tiny_split_fn *tiny_splitter(void)
{
    return simd_level() == SIMD_AVX512 && tiny_split_avx512 ? tiny_split_avx512 : tiny_split_plain;
}
