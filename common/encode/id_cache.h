/* id_cache.h - a cache of pretokens and their ids. For cached_encoder.h and its users only.
 *
 * It has three hash tables, by the length of a pretoken:
 *   lines12           up to 11 bytes (97 of 100 in English): a cache line holds three of them
 *   sets24            12 to 23 bytes: a set of two cache lines holds four
 *   hash_index_long   longer ones, with their bytes in `bytes`
 * In a line or set, a pretoken that was found moves forward by one slot. If there is no free slot for a new one, it
 * gets the second-to-last slot; the pretoken from there moves to the last, whose pretoken is forgotten. So frequent
 * pretokens remain, those that occur once disappear, and the first two tables are never full. They are emptied when
 * their lists of ids are. The third table is emptied when it is full, together with its own lists, which are long and
 * rarely needed again. All tables start small and have a maximum size.
 */
#ifndef BPE_ENCODE_ID_CACHE_H
#define BPE_ENCODE_ID_CACHE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/ids.h"
#include "pretok/packed_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_LONGEST = 1024, /* in bytes: longer pretokens are not put into the cache */
    LINE_WAYS = 3,
    SET_WAYS = 4,
    LISTS_SHORT = 0,
    LISTS_LONG,
    LISTS,
};

/* Pretokens of up to 11 bytes, the most frequently found first; free slots are last. */
struct id_line {
    uint64_t head[LINE_WAYS]; /* see struct key12 */
    uint64_t value[LINE_WAYS];
    uint32_t tail[LINE_WAYS]; /* 0: free */
    uint32_t unused;
};

struct id_slot24 {
    uint64_t key[3]; /* see struct key24; key[2] 0: free */
    uint64_t value;
};

/* The same for 12 to 23 bytes. */
struct id_set {
    struct id_slot24 slot[SET_WAYS];
};

struct id_slot_long {
    uint64_t hash;
    uint32_t at, len; /* the pretoken is bytes[at .. at + len); len 0: free */
    uint64_t value;
};

struct id_cache {
    struct id_line *lines12;
    struct id_set *sets24;
    struct id_slot_long *hash_index_long; /* open addressing, at most 5/8 full */
    size_t n12, n24, n_long; /* pretokens in each; for lines12 and sets24, those added since the last growth */
    unsigned shift12, shift24, shift_long; /* each table has 2^(64 - shift) lines, sets or slots */
    struct buf bytes;                      /* the bytes of the long pretokens */
    /* The ids that do not fit into a value, each list preceded by the number of ids: of short and of long pretokens. */
    struct ids lists[LISTS];
    uint64_t secret[3];
};

/* wide: whether ids have 4 bytes. -1: out of memory. */
int id_cache_init(struct id_cache *c, bool wide, struct err *e);
void id_cache_free(struct id_cache *c); /* a zeroed cache is fine */

/* Ensures that n more pretokens fit, perhaps by removing others; tables move and values become invalid. -1: out of
 * memory. */
int id_cache_make_room(struct id_cache *c, size_t n, struct err *e);

/* Look up a pretoken of up to 11 bytes (in this line), of 12 to 23 bytes, or of more. If it is in the cache, they
 * return true and set *value. */
bool id_cache_get12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t *value);
bool id_cache_get24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t *value);
bool id_cache_get_long(const struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t *value);

/* Makes the value for the n ids of a pretoken of len bytes. -1: out of memory. */
int id_cache_make_value(struct id_cache *c, size_t len, const uint32_t *id, size_t n, uint64_t *value, struct err *e);

/* Add a pretoken that is not in the cache. */
void id_cache_put12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t value);
void id_cache_put24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t value);
int id_cache_put_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t value,
                      struct err *e); /* it must fit (id_cache_make_room); -1: out of memory */

/* Replace the value of a pretoken, if it is still there. */
void id_cache_set12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t value);
void id_cache_set24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t value);
void id_cache_set_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t value);

/* ---- Values ----
 *
 * The ids of most pretokens fit into a value of 8 bytes: four of 2 bytes, or two of 4. They are in memory order,
 * followed by all ones. If the first id is all ones, the ids are in a list, and the rest of the value is the index
 * where it begins. (A pretoken with such an id always has a list.) So writing the ids of a pretoken takes a store of 8
 * bytes, and an advance by the bytes in use. */

enum { VALUE_BYTES = 8 };

#define VALUE_NONE UINT64_MAX /* for pretokens that are not cached: longer than CACHE_LONGEST */
#define VALUE_PENDING ((uint32_t)1 << 31)
#define VALUE_LONG ((uint32_t)1 << 30) /* in lists[LISTS_LONG] */

/* The number of ids in a value. */
static inline size_t value_n(uint64_t value, bool wide)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    size_t ones = (size_t)__builtin_ctzll(~value);
#else
    size_t ones = (size_t)__builtin_clzll(~value);
#endif
    return VALUE_BYTES / ids_width(wide) - ones / (8 * ids_width(wide));
}

static inline bool value_is_list(uint64_t value, bool wide)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = wide ? value >> 32 : value >> 48;
#endif
    return wide ? (uint32_t)value == UINT32_MAX : (uint16_t)value == UINT16_MAX;
}

/* The number in the second half of a value. */
static inline uint32_t value_rest(uint64_t value)
{
    uint32_t rest;
    __builtin_memcpy(&rest, (unsigned char *)&value + sizeof rest, sizeof rest);
    return rest;
}

static inline uint64_t value_with_rest(uint32_t rest)
{
    uint64_t value = UINT64_MAX;
    __builtin_memcpy((unsigned char *)&value + sizeof rest, &rest, sizeof rest);
    return value;
}

/* The value of one id, which is not all ones. */
static inline uint64_t value_of_one(uint32_t id, bool wide)
{
    uint64_t value = UINT64_MAX;
    uint16_t narrow = (uint16_t)id;
    if (wide)
        __builtin_memcpy(&value, &id, sizeof id);
    else
        __builtin_memcpy(&value, &narrow, sizeof narrow);
    return value;
}

/* The value of a pretoken whose ids are not known yet; it counts as a list. index: its index among the new pretokens,
 * see encoder.h. */
static inline uint64_t value_pending(size_t index)
{
    return value_with_rest(VALUE_PENDING | (uint32_t)index);
}

static inline bool value_is_pending(uint64_t value)
{
    return value_rest(value) & VALUE_PENDING;
}

static inline size_t value_index(uint64_t value)
{
    return value_rest(value) & ~VALUE_PENDING;
}

/* The beginning of the list of a value: the number of ids, in the width of an id, followed by the ids. wide: as in
 * lists. */
static inline const unsigned char *id_cache_list(const struct id_cache *c, uint64_t value, bool wide)
{
    const uint32_t rest = value_rest(value);
    return c->lists[rest & VALUE_LONG ? LISTS_LONG : LISTS_SHORT].p + (rest & ~VALUE_LONG) * ids_width(wide);
}

#endif
