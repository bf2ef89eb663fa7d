/* id_pairs.h - a set of pairs of ids, for checking every two neighbors of a sequence, and for finding the runs of ids
 * whose neighbors are all in the set: a filter of bits in front of a hash table. */
#ifndef BPE_ENCODE_ID_PAIRS_H
#define BPE_ENCODE_ID_PAIRS_H

#include "base/sys/err.h"
#include "encode/ids.h"

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

#define ID_PAIRS_INLINE static inline __attribute__((always_inline))

/* Which of n <= 64 pairs, of ids[0] and ids[1], ids[1] and ids[2] and so on, are in the set: bit i is about ids[i].
 * exact: else a few others may seem to be, which is faster. No branch of the first loop depends on the ids. */
ID_PAIRS_INLINE uint64_t id_pairs_mask(const struct id_pairs *s, bool exact, const unsigned char *ids, size_t n,
                                       bool wide)
{
    const size_t width = ids_width(wide);
    uint64_t maybe = 0, mask = 0;
    for (size_t i = 0; i < n; i++)
        maybe |= (uint64_t)id_pairs_may_have(s, ids_get(ids + i * width, wide), ids_get(ids + (i + 1) * width, wide))
                 << i;
    if (!exact)
        return maybe;
    for (uint64_t rest = maybe; rest; rest &= rest - 1) {
        const size_t i = (size_t)__builtin_ctzll(rest);
        const uint32_t left = ids_get(ids + i * width, wide), right = ids_get(ids + (i + 1) * width, wide);
        const struct id_pair slot = s->slot[id_pairs_hash(s, left, right) >> s->shift];
        const bool first = slot.left == left && slot.right == right; /* rarely, it is not in its first slot */
        mask |= (uint64_t)(first || id_pairs_have(s, left, right)) << i;
    }
    return mask;
}

/* Finds the runs of two ids or more that end among n <= 64 pairs with this mask, whose first is that of the ids `at`
 * and at + 1, and calls take(ctx, begin, end, e) for each: ids from begin to before end. *begin: where a run begins
 * that goes on after these pairs, for the next call; SIZE_MAX: none. -1: as returned by take. */
ID_PAIRS_INLINE int id_runs(uint64_t mask, size_t at, size_t n, size_t *begin,
                            int (*take)(void *ctx, size_t begin, size_t end, struct err *e), void *ctx, struct err *e)
{
    for (size_t i = 0; i < n;) {
        if (*begin == SIZE_MAX) {
            const uint64_t rest = mask >> i;
            if (!rest)
                return 0;
            i += (size_t)__builtin_ctzll(rest);
            *begin = at + i;
        }
        const uint64_t rest = ~mask >> i;
        i = rest ? i + (size_t)__builtin_ctzll(rest) : 64;
        if (i >= n)
            return 0;
        if (take(ctx, *begin, at + i + 1, e))
            return -1;
        *begin = SIZE_MAX;
    }
    return 0;
}

#endif
