/* hash_index.h - the hash table underlying every index: it finds numbers by a 32-bit hash.
 *
 * The caller knows what a number stands for, and compares the keys:
 *
 *     struct hash_slot *s = hash_index_first(&t, hash);
 *     while (s->n1 && !(s->hash == hash && is_it(s->n1 - 1)))
 *         s = hash_index_next(&t, s);
 *     if (!s->n1) the key is not in the table; insert it in slot s
 *
 * The table uses open addressing; at most half of the slots are in use. Use a keyed hash (hash_secret) for keys from
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
    size_t n;               /* number of slots: a power of two; 0 in a zeroed table, which must be grown before use */
};

/* Makes room for n numbers (fewer than 2^31). -1: out of memory, the table is unchanged; `what` names it in the error.
 */
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
