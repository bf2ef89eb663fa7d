/* hash_index.h - the hash table below every index: numbers, found by 32 bits of hash.
 *
 * The caller knows what a number stands for, and does the comparing:
 *
 *     struct hash_slot *s = hash_index_first(&t, hash);
 *     while (s->n1 && !(s->hash == hash && is_it(s->n1 - 1)))
 *         s = hash_index_next(&t, s);
 *     if (!s->n1) it is not in the table, and s is the slot to put it in
 *
 * Open addressing; at most half of the slots are in use. The hash should be keyed (hash_secret) if the keys come from
 * outside, so that nobody can make them collide.
 */
#ifndef BPE_BASE_SYS_HASH_INDEX_H
#define BPE_BASE_SYS_HASH_INDEX_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct hash_slot {
    uint32_t hash;
    uint32_t n1; /* the number + 1; 0: free */
};

struct hash_index {
    struct hash_slot *slot; /* owned */
    size_t n; /* number of slots: a power of two, or 0 in a zeroed table, which must grow before it is used */
};

/* Makes room for n numbers (fewer than 2^31). -1: out of memory, the table is unchanged; `what` names it. */
int hash_index_grow(struct hash_index *t, size_t n, const char *what, struct err *e);
void hash_index_free(struct hash_index *t); /* a zeroed one is fine */

static inline struct hash_slot *hash_index_first(const struct hash_index *t, uint32_t hash)
{
    return &t->slot[hash & (t->n - 1)];
}

static inline struct hash_slot *hash_index_next(const struct hash_index *t, const struct hash_slot *s)
{
    return &t->slot[(size_t)(s - t->slot + 1) & (t->n - 1)];
}

#endif
