/* tiny.c - see tiny.h: the plain version. */
#include "bpe/tiny.h"

#include "sys/simd.h"

/* The lengths cannot be guessed, so there is no branch by them: all is written, and half of it again. */
static void split(struct tiny_split *s, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  const uint64_t secret[3], unsigned shift)
{
    size_t n_tiny = 0, n_other = 0;
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start;
        s->at[n_other] = (uint32_t)start;
        s->len[n_other] = (uint32_t)len;
        n_other += len > TINY_MAX;
        struct tiny_key key = tiny_key(text + start, len);
        s->head[n_tiny] = key.head;
        s->tail[n_tiny] = key.tail;
        n_tiny += len <= TINY_MAX;
    }
    for (size_t i = 0; i < n_tiny; i++)
        s->slot[i] = tiny_hash(secret, s->head[i], s->tail[i]) >> shift;
    s->n_tiny = n_tiny;
    s->n_other = n_other;
}

tiny_split_fn *const tiny_split_plain = split;

tiny_split_fn *tiny_splitter(void)
{
    return simd_level() == SIMD_AVX512 && tiny_split_avx512 ? tiny_split_avx512 : tiny_split_plain;
}
