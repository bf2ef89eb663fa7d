/* id_cache.h - pretokens that were encoded before, and their ids. For encoder.c only.
 *
 * Three hash tables by the length of a pretoken, as in count/table.h, whose slots hold a value instead of a count. The
 * tables have a maximum size: a full one is emptied, because frequent pretokens soon come back.
 */
#ifndef BPE_ENCODE_ID_CACHE_H
#define BPE_ENCODE_ID_CACHE_H

#include "core/packed_key.h"
#include "encode/ids.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_LONGEST = 1024, /* bytes: a longer pretoken is not put into the cache */
    LIST_COPY = 4,        /* ids of a list are copied this many at a time: so the ids after a list must be readable */
    LIST_N_MAX = 31,      /* the largest number of ids that a value can hold */
    LIST_AT_BITS = 26,    /* bits of an offset in the lists */
};

/* The value of a pretoken that is one token is its id. Else it has VALUE_LIST set, and holds the number of ids and
 * where they begin in `lists`; if there are more than LIST_N_MAX, it holds 0, and the list begins with their number. */
#define VALUE_LIST (1u << 31)

struct id_slot12 {
    uint64_t head; /* see struct key12 */
    uint32_t tail; /* 0: free */
    uint32_t value;
};

struct id_slot24 {
    uint64_t key[3]; /* see struct key24; key[2] 0: free */
    uint64_t value;
};

struct id_slot_long {
    uint64_t hash;
    uint32_t at, len; /* of the pretoken in `bytes`; len 0: free */
    uint32_t value;
};

struct id_cache {
    /* Open addressing, at most 5/8 full. */
    struct id_slot12 *slots12;
    struct id_slot24 *slots24;
    struct id_slot_long *slots_long;
    size_t n12, n24, n_long;
    unsigned shift12, shift24, shift_long; /* each table has 2^(64 - shift) slots */
    size_t spare;                          /* a free slot of slots12 */
    struct ids lists;
    struct buf bytes; /* of the long pretokens */
    uint64_t secret[3];
};

/* wide: whether the lists hold ids of 4 bytes. -1: out of memory. */
int id_cache_init(struct id_cache *c, bool wide, struct err *e);
void id_cache_free(struct id_cache *c); /* a zeroed cache is fine */

/* Makes room for KEY_BATCH more pretokens, perhaps by removing others; slots move and values become invalid. -1: out of
 * memory. */
int id_cache_make_room(struct id_cache *c, struct err *e);

/* Whether a pretoken is in the cache, and its value. Of up to 11 bytes, searched from slot `at` on; of 12 to 23;
 * longer.
 */
bool id_cache_get12(const struct id_cache *c, uint64_t head, uint32_t tail, size_t at, uint32_t *value);
bool id_cache_get24(const struct id_cache *c, const struct key24 *key, uint64_t hash, uint32_t *value);
bool id_cache_get_long(const struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint32_t *value);

/* Makes the value for the ids of a pretoken. -1: out of memory. */
int id_cache_make_value(struct id_cache *c, const uint32_t *id, size_t n, uint32_t *value, struct err *e);

/* Add a pretoken that is not in the cache; there must be room. */
void id_cache_put12(struct id_cache *c, uint64_t head, uint32_t tail, uint32_t value);
void id_cache_put24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint32_t value);
int id_cache_put_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint32_t value,
                      struct err *e); /* -1: out of memory */

/* Where the ids of a value with VALUE_LIST begin; wide: as lists.wide. */
static inline const unsigned char *id_cache_list(const struct id_cache *c, uint32_t value, bool wide)
{
    return c->lists.p + (value & ((1u << LIST_AT_BITS) - 1)) * ids_width(wide);
}

#endif
