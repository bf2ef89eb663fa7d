/* pair_counts.h - counts pairs of adjacent ids: a hash table made for streams of ids.
 *
 * Ids of 2 bytes have slots of 8 bytes, the pair and a count of 32 bits; what does not fit is carried. Ids of 4 bytes
 * have slots of 16. Open addressing, linear probing, at most 5/8 full; the slots of a block of pairs are prefetched
 * before the first is read. count/table.h takes twice the time and the memory for the same pairs.
 */
#ifndef BPE_SUPERWORDS_PAIR_COUNTS_H
#define BPE_SUPERWORDS_PAIR_COUNTS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_carry;

struct wide_pair {
    uint64_t key, count; /* count 0: free */
};

struct pair_counts {
    bool wide;
    uint64_t *narrow_slot; /* owned: key << 32 | count; 0: free. NULL if wide */
    struct wide_pair *wide_slot;
    unsigned shift;             /* there are 2^(64 - shift) slots */
    size_t n;                   /* in use */
    uint64_t odd;               /* secret of the hash */
    struct pair_carry *carries; /* owned */
    size_t n_carries, cap_carries;
};

/* wide: ids have 4 bytes, else 2. -1: out of memory. */
int pair_counts_init(struct pair_counts *t, bool wide, struct err *e);
void pair_counts_free(struct pair_counts *t); /* a zeroed one is fine */

/* Empties the table and frees its memory. -1: out of memory. */
int pair_counts_clear(struct pair_counts *t, struct err *e);

/* Counts pairs of adjacent ids: for each bit i of the mask, that of ids[i] and ids[i + 1]. -1: out of memory. */
int pair_counts_add(struct pair_counts *t, const unsigned char *ids, uint64_t mask, struct err *e);

size_t pair_counts_bytes(const struct pair_counts *t); /* memory in use */

struct counted_ids {
    uint32_t left, right;
    uint64_t count;
};

/* Iterates over all pairs, in no particular order: start with *pos = 0; false at the end. */
bool pair_counts_next(const struct pair_counts *t, size_t *pos, struct counted_ids *pair);

#endif
