/* packed_key.c - see packed_key.h: the keys of a batch, in plain C. */
#include "pretok/packed_key.h"

#include "base/sys/simd.h"

/* Without a branch on the length, because lengths cannot be predicted. */
static void pack_keys(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      const struct key12_slots *slots)
{
    uint64_t longer = 0; /* bits of up to 64 pretokens */
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start;
        bool is_longer = len > KEY12_MAX;
        struct key12 key = key12_of(text + start, is_longer ? 0 : len);
        size_t slot = table_slot(key12_hash(slots->secret, key.head, key.tail), slots->shift);
        b->head[i] = key.head;
        b->tail[i] = key.tail;
        b->slot[i] = is_longer ? slots->spare : slot;
        longer |= (uint64_t)is_longer << i % 64;
        if (i % 64 == 63 || i == n - 1) {
            b->longer[i / 64] = longer;
            longer = 0;
        }
    }
    b->n = n;
}

pack_keys_fn *const pack_keys_plain = pack_keys;

pack_keys_fn *pack_keys_best(void)
{
    pack_keys_fn *const all[SIMD_N] = {pack_keys_plain, pack_keys_neon, pack_keys_sse2, pack_keys_avx2,
                                       pack_keys_avx512};
    size_t level = simd_level();
    while (!all[level])
        level--;
    return all[level];
}
