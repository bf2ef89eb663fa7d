/* packed_key_internal.h - what the versions share that make the keys of four pretokens at a time. */
#ifndef BPE_PRETOK_PACKED_KEY_INTERNAL_H
#define BPE_PRETOK_PACKED_KEY_INTERNAL_H

#include "pretok/packed_key.h"

/* The ends of four pretokens, of which n >= 1 are left. If there are fewer, they are put into last, and the others are
 * empty: they end where the last one does. */
static inline const uint32_t *four_ends(const uint32_t *ends, size_t n, uint32_t last[4])
{
    if (n >= 4)
        return ends;
    for (size_t k = 0; k < 4; k++)
        last[k] = ends[k < n ? k : n - 1];
    return last;
}

/* Notes which of the four pretokens from i on are longer than KEY12_MAX, a bit each; i is a multiple of four. longer:
 * what this returned for the four before, 0 for the first; it is put into b->longer when 64 are known, or all n. */
static inline uint64_t note_longer(struct key_batch *b, size_t i, size_t n, uint64_t longer, unsigned four)
{
    longer |= (uint64_t)four << i % 64;
    if (i % 64 != 60 && n - i > 4)
        return longer;
    b->longer[i / 64] = longer;
    return 0;
}

#endif
