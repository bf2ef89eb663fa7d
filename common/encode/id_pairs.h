/* id_pairs.h - a set of pairs of ids, for checking every two neighbors of a sequence: a filter of bits in front of a
 * hash table. */
#ifndef BPE_ENCODE_ID_PAIRS_H
#define BPE_ENCODE_ID_PAIRS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_pair {
    uint32_t left, right; /* left UINT32_MAX: a free slot */
};

struct id_pairs {
    uint64_t *filter;     /* owned; 2^(64 - filter_shift) bits, by the pair's hash */
    struct id_pair *slot; /* owned; open addressing, at most half full */
    unsigned filter_shift, shift;
    size_t n;
    uint64_t odd[2]; /* secrets of the hash */
};

/* Makes an empty set for up to max pairs, at 20 to 40 bytes each. -1: out of memory. */
int id_pairs_init(struct id_pairs *s, size_t max, struct err *e);
void id_pairs_free(struct id_pairs *s); /* a zeroed set is fine */

/* Adds a pair, unless it is in the set. left is not UINT32_MAX. */
void id_pairs_put(struct id_pairs *s, uint32_t left, uint32_t right);

static inline uint64_t id_pairs_hash(const struct id_pairs *s, uint32_t left, uint32_t right)
{
    return left * s->odd[0] + right * s->odd[1];
}

/* Whether a pair may be in the set: always if it is, and for few others. Reads one word. */
static inline bool id_pairs_may_have(const struct id_pairs *s, uint32_t left, uint32_t right)
{
    const uint64_t bit = id_pairs_hash(s, left, right) >> s->filter_shift;
    return s->filter[bit / 64] >> bit % 64 & 1;
}

/* Whether a pair is in the set. */
bool id_pairs_have(const struct id_pairs *s, uint32_t left, uint32_t right);

#endif
