/* packed_key.c - see packed_key.h: the keys of a batch, in plain C. */
#include "core/packed_key.h"

#include "sys/simd.h"

/* Without a branch on the length, because lengths cannot be predicted. */
static void pack_keys(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      const struct key12_slots *slots)
{
    memset(b->longer, 0, sizeof b->longer);
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start;
        struct key12 key = key12_of(text + start, len);
        uint64_t longer = len > KEY12_MAX;
        b->head[i] = key.head & (longer - 1);
        b->tail[i] = key.tail & (uint32_t)(longer - 1);
        b->longer[i / 64] |= longer << i % 64;
    }
    for (size_t i = 0; i < n; i++) {
        size_t slot = table_slot(key12_hash(slots->secret, b->head[i], b->tail[i]), slots->shift);
        b->slot[i] = b->tail[i] ? slot : slots->spare;
    }
    b->n = n;
}

pack_keys_fn *const pack_keys_plain = pack_keys;

pack_keys_fn *pack_keys_best(void)
{
    return simd_level() == SIMD_AVX512 && pack_keys_avx512 ? pack_keys_avx512 : pack_keys_plain;
}
