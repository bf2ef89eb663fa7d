/* packed_key_parts.h - what the versions share that make the keys of four pretokens at a time. */
#ifndef BPE_CORE_PACKED_KEY_PARTS_H
#define BPE_CORE_PACKED_KEY_PARTS_H

#include "core/packed_key.h"

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

#endif
