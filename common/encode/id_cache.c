/* id_cache.c - see id_cache.h. */
#include "encode/id_cache.h"

#include "sys/hash.h"
#include "sys/huge.h"

#include <string.h>

enum {
    FIRST_SHIFT = 64 - 12,
    LAST_SHIFT12 = 64 - 19,    /* the largest sizes of the tables: 8 MB, */
    LAST_SHIFT24 = 64 - 18,    /* 8 MB, */
    LAST_SHIFT_LONG = 64 - 15, /* 0.8 MB, */
    LISTS_MAX = 4 << 20,       /* ids, 4 or 8 MB, */
    BYTES_MAX = 2 << 20,       /* bytes of long pretokens */
};

int id_cache_init(struct id_cache *c, bool wide, struct err *e)
{
    *c = (struct id_cache){.shift12 = FIRST_SHIFT, .shift24 = FIRST_SHIFT, .shift_long = FIRST_SHIFT};
    c->lists.wide = wide;
    c->secret[0] = hash_bytes("first", 5, hash_secret());
    c->secret[1] = hash_bytes("second", 6, hash_secret()) | 1;
    c->secret[2] = hash_bytes("third", 5, hash_secret()) | 1;
    c->slots12 = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *c->slots12);
    c->slots24 = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *c->slots24);
    c->slots_long = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *c->slots_long);
    if (!c->slots12 || !c->slots24 || !c->slots_long) {
        id_cache_free(c);
        return err_mem(e, "the table of pretokens", table_slots(FIRST_SHIFT) * sizeof *c->slots24);
    }
    return 0;
}

void id_cache_free(struct id_cache *c)
{
    if (c->shift12) {
        huge_free(c->slots12, table_slots(c->shift12) * sizeof *c->slots12);
        huge_free(c->slots24, table_slots(c->shift24) * sizeof *c->slots24);
        huge_free(c->slots_long, table_slots(c->shift_long) * sizeof *c->slots_long);
    }
    ids_free(&c->lists);
    buf_free(&c->bytes);
    *c = (struct id_cache){0};
}

/* ---- Growing and forgetting ---- */

/* Whether a batch of new pretokens would make a table more than 5/8 full. */
static bool is_full(size_t n, unsigned shift)
{
    return n + KEY_BATCH >= table_slots(shift) / 8 * 5;
}

static void forget12(struct id_cache *c)
{
    memset(c->slots12, 0, table_slots(c->shift12) * sizeof *c->slots12);
    c->n12 = 0;
}

static void forget24(struct id_cache *c)
{
    memset(c->slots24, 0, table_slots(c->shift24) * sizeof *c->slots24);
    c->n24 = 0;
}

static void forget_long(struct id_cache *c)
{
    memset(c->slots_long, 0, table_slots(c->shift_long) * sizeof *c->slots_long);
    c->n_long = c->bytes.len = 0;
}

static void find_spare(struct id_cache *c)
{
    while (c->slots12[c->spare].tail)
        c->spare = table_next_slot(c->spare, c->shift12);
}

/* Doubles a table: kind is its array of slots, `used` the field that is 0 in a free slot, hash that of the slot *s. */
#define GROW(kind, shift, used, hash)                                                                                  \
    do {                                                                                                               \
        size_t n = table_slots(c->shift);                                                                              \
        __typeof__(c->kind) old = c->kind, new = huge_zeroed(2 * n * sizeof *new);                                     \
        if (!new)                                                                                                      \
            return err_mem(e, "the table of pretokens", 2 * n * sizeof *new);                                          \
        c->kind = new;                                                                                                 \
        c->shift--;                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const __typeof__(*old) *s = &old[i];                                                                       \
            if (!s->used)                                                                                              \
                continue;                                                                                              \
            size_t at = table_slot(hash, c->shift);                                                                    \
            while (new[at].used)                                                                                       \
                at = table_next_slot(at, c->shift);                                                                    \
            new[at] = *s;                                                                                              \
        }                                                                                                              \
        huge_free(old, n * sizeof *old);                                                                               \
    } while (0)

int id_cache_make_room(struct id_cache *c, struct err *e)
{
    bool all = c->lists.n >= LISTS_MAX; /* the lists of one table cannot be removed alone, so all tables are emptied */
    bool full12 = is_full(c->n12, c->shift12), full24 = is_full(c->n24, c->shift24);
    bool full_long = is_full(c->n_long, c->shift_long);
    if (all)
        c->lists.n = 0;
    if (all || (full12 && c->shift12 == LAST_SHIFT12)) {
        forget12(c);
    } else if (full12) {
        GROW(slots12, shift12, tail, key12_hash(c->secret, s->head, s->tail));
        c->spare = 0;
        find_spare(c);
    }
    if (all || (full24 && c->shift24 == LAST_SHIFT24))
        forget24(c);
    else if (full24)
        GROW(slots24, shift24, key[2], key24_hash(c->secret, s->key));
    if (all || (full_long && c->shift_long == LAST_SHIFT_LONG) || c->bytes.len >= BYTES_MAX)
        forget_long(c);
    else if (full_long)
        GROW(slots_long, shift_long, len, s->hash);
    return 0;
}

/* ---- Looking up and adding ---- */

bool id_cache_get12(const struct id_cache *c, uint64_t head, uint32_t tail, size_t at, uint32_t *value)
{
    for (; c->slots12[at].tail; at = table_next_slot(at, c->shift12)) {
        if (c->slots12[at].head == head && c->slots12[at].tail == tail) {
            *value = c->slots12[at].value;
            return true;
        }
    }
    return false;
}

bool id_cache_get24(const struct id_cache *c, const struct key24 *key, uint64_t hash, uint32_t *value)
{
    for (size_t at = table_slot(hash, c->shift24); c->slots24[at].key[2]; at = table_next_slot(at, c->shift24)) {
        if (key24_equal(c->slots24[at].key, key->k)) {
            *value = (uint32_t)c->slots24[at].value;
            return true;
        }
    }
    return false;
}

bool id_cache_get_long(const struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint32_t *value)
{
    for (size_t at = table_slot(hash, c->shift_long); c->slots_long[at].len; at = table_next_slot(at, c->shift_long)) {
        const struct id_slot_long *s = &c->slots_long[at];
        if (s->hash == hash && s->len == n && memcmp(c->bytes.p + s->at, p, n) == 0) {
            *value = s->value;
            return true;
        }
    }
    return false;
}

int id_cache_make_value(struct id_cache *c, const uint32_t *id, size_t n, uint32_t *value, struct err *e)
{
    struct ids *lists = &c->lists;
    if (n == 1) {
        *value = id[0];
        return 0;
    }
    if (ids_reserve(lists, n + LIST_COPY + 2, e))
        return -1;
    size_t at = lists->n;
    bool fits = n <= LIST_N_MAX;
    if (!fits) /* cannot be more than CACHE_LONGEST */
        ids_set(lists, lists->wide, lists->n++, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        ids_set(lists, lists->wide, lists->n++, id[i]);
    *value = VALUE_LIST | (fits ? (uint32_t)n : 0) << LIST_AT_BITS | (uint32_t)at;
    return 0;
}

void id_cache_put12(struct id_cache *c, uint64_t head, uint32_t tail, uint32_t value)
{
    size_t at = table_slot(key12_hash(c->secret, head, tail), c->shift12);
    while (c->slots12[at].tail)
        at = table_next_slot(at, c->shift12);
    c->slots12[at] = (struct id_slot12){head, tail, value};
    c->n12++;
    find_spare(c);
}

void id_cache_put24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint32_t value)
{
    size_t at = table_slot(hash, c->shift24);
    while (c->slots24[at].key[2])
        at = table_next_slot(at, c->shift24);
    c->slots24[at] = (struct id_slot24){{key->k[0], key->k[1], key->k[2]}, value};
    c->n24++;
}

int id_cache_put_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint32_t value,
                      struct err *e)
{
    if (buf_put(&c->bytes, p, n, e))
        return -1;
    size_t at = table_slot(hash, c->shift_long);
    while (c->slots_long[at].len)
        at = table_next_slot(at, c->shift_long);
    c->slots_long[at] = (struct id_slot_long){hash, (uint32_t)(c->bytes.len - n), (uint32_t)n, value};
    c->n_long++;
    return 0;
}
