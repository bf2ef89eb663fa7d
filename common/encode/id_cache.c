/* id_cache.c - see id_cache.h. */
#include "encode/id_cache.h"

#include "base/sys/hash.h"
#include "base/sys/huge.h"

#include <string.h>

enum {
    FIRST_SHIFT12 = 64 - 10, /* 64 KB */
    FIRST_SHIFT24 = 64 - 8,  /* 32 KB */
    FIRST_SHIFT_LONG = 64 - 10,
    LAST_SHIFT12 = 64 - 16,    /* maximum sizes of the tables: 4 MB */
    LAST_SHIFT24 = 64 - 15,    /* 4 MB */
    LAST_SHIFT_LONG = 64 - 15, /* 0.8 MB */
    LISTS_MAX = 16 << 20,      /* maximum bytes of ids of pretokens that are not long */
    BYTES_MAX = 2 << 20,       /* maximum bytes of long pretokens */
};

/* The list of a long pretoken holds the number of ids and at most one id per byte; a round adds less than 2^24. */
_Static_assert(LISTS_MAX / 2 < VALUE_LONG / 2 && 2 * BYTES_MAX < VALUE_LONG / 2, "indexes of lists have 30 bits");
_Static_assert(sizeof(struct id_line) == 64 && sizeof(struct id_set) == 128, "lines of the processor's cache");

/* Allocates an empty table. NULL: out of memory. */
static void *make_table(unsigned shift, size_t size_of_slot, struct err *e)
{
    const size_t size = table_slots(shift) * size_of_slot;
    void *table = huge_zeroed(size);
    if (!table)
        err_mem(e, "the table of pretokens", size);
    return table;
}

int id_cache_init(struct id_cache *c, bool wide, struct err *e)
{
    *c = (struct id_cache){.shift12 = FIRST_SHIFT12, .shift24 = FIRST_SHIFT24, .shift_long = FIRST_SHIFT_LONG};
    c->lists[LISTS_SHORT].wide = c->lists[LISTS_LONG].wide = wide;
    c->secret[0] = hash_bytes("first", 5, hash_secret());
    c->secret[1] = hash_bytes("second", 6, hash_secret()) | 1;
    c->secret[2] = hash_bytes("third", 5, hash_secret()) | 1;
    if (!(c->lines12 = make_table(c->shift12, sizeof *c->lines12, e)) ||
        !(c->sets24 = make_table(c->shift24, sizeof *c->sets24, e)) ||
        !(c->hash_index_long = make_table(c->shift_long, sizeof *c->hash_index_long, e))) {
        id_cache_free(c);
        return -1;
    }
    return 0;
}

void id_cache_free(struct id_cache *c)
{
    if (c->shift12) {
        huge_free(c->lines12, table_slots(c->shift12) * sizeof *c->lines12);
        huge_free(c->sets24, table_slots(c->shift24) * sizeof *c->sets24);
        huge_free(c->hash_index_long, table_slots(c->shift_long) * sizeof *c->hash_index_long);
    }
    ids_free(&c->lists[LISTS_SHORT]);
    ids_free(&c->lists[LISTS_LONG]);
    buf_free(&c->bytes);
    *c = (struct id_cache){0};
}

/* ---- Growing and forgetting ---- */

/* Whether this many entries would make an open-addressing table more than 5/8 full. */
static bool is_full(size_t n, unsigned shift)
{
    return n >= table_slots(shift) / 8 * 5;
}

static void forget_long(struct id_cache *c)
{
    memset(c->hash_index_long, 0, table_slots(c->shift_long) * sizeof *c->hash_index_long);
    c->n_long = c->bytes.len = c->lists[LISTS_LONG].n = 0;
}

static void forget_others(struct id_cache *c)
{
    memset(c->lines12, 0, table_slots(c->shift12) * sizeof *c->lines12);
    memset(c->sets24, 0, table_slots(c->shift24) * sizeof *c->sets24);
    c->n12 = c->n24 = c->lists[LISTS_SHORT].n = 0;
}

/* Each doubles a table. The contents of a line (or set) move to the two lines that replace it, in the same order, so
 * they always fit. */

static int grow12(struct id_cache *c, struct err *e)
{
    size_t n = table_slots(c->shift12);
    struct id_line *old = c->lines12, *new = make_table(c->shift12 - 1, sizeof *new, e);
    if (!new)
        return -1;
    c->lines12 = new;
    c->shift12--;
    for (size_t i = 0; i < n; i++) {
        const struct id_line *from = &old[i];
        for (size_t k = 0; k < LINE_WAYS && from->tail[k]; k++)
            id_cache_put12(c, from->head[k], from->tail[k],
                           table_slot(key12_hash(c->secret, from->head[k], from->tail[k]), c->shift12), from->value[k]);
    }
    c->n12 = 0;
    huge_free(old, n * sizeof *old);
    return 0;
}

static int grow24(struct id_cache *c, struct err *e)
{
    size_t n = table_slots(c->shift24);
    struct id_set *old = c->sets24, *new = make_table(c->shift24 - 1, sizeof *new, e);
    if (!new)
        return -1;
    c->sets24 = new;
    c->shift24--;
    for (size_t i = 0; i < n; i++) {
        const struct id_slot24 *from = old[i].slot;
        for (size_t k = 0; k < SET_WAYS && from[k].key[2]; k++) {
            struct key24 key = {{from[k].key[0], from[k].key[1], from[k].key[2]}};
            id_cache_put24(c, &key, key24_hash(c->secret, key.k), from[k].value);
        }
    }
    c->n24 = 0;
    huge_free(old, n * sizeof *old);
    return 0;
}

static int grow_long(struct id_cache *c, struct err *e)
{
    size_t n = table_slots(c->shift_long);
    struct id_slot_long *old = c->hash_index_long, *new = make_table(c->shift_long - 1, sizeof *new, e);
    if (!new)
        return -1;
    c->hash_index_long = new;
    c->shift_long--;
    for (size_t i = 0; i < n; i++) {
        if (!old[i].len)
            continue;
        size_t at = table_slot(old[i].hash, c->shift_long);
        while (new[at].len)
            at = table_next_slot(at, c->shift_long);
        new[at] = old[i];
    }
    huge_free(old, n * sizeof *old);
    return 0;
}

int id_cache_make_room(struct id_cache *c, size_t n, struct err *e)
{
    bool full_long = is_full(c->n_long + n, c->shift_long);
    if (c->lists[LISTS_SHORT].n * ids_width(c->lists[LISTS_SHORT].wide) >= LISTS_MAX)
        forget_others(c);
    if (c->bytes.len >= BYTES_MAX || (full_long && c->shift_long == LAST_SHIFT_LONG)) {
        forget_long(c);
        full_long = false;
    }
    if ((c->n12 >= table_slots(c->shift12) && c->shift12 > LAST_SHIFT12 && grow12(c, e)) ||
        (c->n24 >= table_slots(c->shift24) && c->shift24 > LAST_SHIFT24 && grow24(c, e)) ||
        (full_long && grow_long(c, e)))
        return -1;
    return 0;
}

/* ---- Lookup and insertion ---- */

/* The index of a pretoken in a line, or LINE_WAYS. */
static size_t place_in_line(const struct id_line *l, uint64_t head, uint32_t tail)
{
    size_t i = 0;
    while (i < LINE_WAYS && (l->head[i] != head || l->tail[i] != tail))
        i++;
    return i;
}

/* The index of a pretoken in a set, or SET_WAYS. */
static size_t place_in_set(const struct id_slot24 *slot, const struct key24 *key)
{
    size_t i = 0;
    while (i < SET_WAYS && !key24_equal(slot[i].key, key->k))
        i++;
    return i;
}

bool id_cache_get12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t *value)
{
    struct id_line *l = &c->lines12[line];
    size_t i = place_in_line(l, head, tail);
    if (i == LINE_WAYS)
        return false;
    *value = l->value[i];
    if (i > 0) {
        l->head[i] = l->head[i - 1];
        l->tail[i] = l->tail[i - 1];
        l->value[i] = l->value[i - 1];
        l->head[i - 1] = head;
        l->tail[i - 1] = tail;
        l->value[i - 1] = *value;
    }
    return true;
}

bool id_cache_get24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t *value)
{
    struct id_slot24 *slot = c->sets24[table_slot(hash, c->shift24)].slot;
    size_t i = place_in_set(slot, key);
    if (i == SET_WAYS)
        return false;
    const struct id_slot24 found = slot[i];
    *value = found.value;
    if (i > 0) {
        slot[i] = slot[i - 1];
        slot[i - 1] = found;
    }
    return true;
}

/* The slot of a long pretoken, or NULL. */
static struct id_slot_long *slot_of_long(const struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash)
{
    for (size_t at = table_slot(hash, c->shift_long); c->hash_index_long[at].len;
         at = table_next_slot(at, c->shift_long)) {
        struct id_slot_long *s = &c->hash_index_long[at];
        if (s->hash == hash && s->len == n && memcmp(c->bytes.p + s->at, p, n) == 0)
            return s;
    }
    return NULL;
}

bool id_cache_get_long(const struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t *value)
{
    const struct id_slot_long *slot = slot_of_long(c, p, n, hash);
    if (slot)
        *value = slot->value;
    return slot != NULL;
}

/* The value that holds n ids, which must fit. */
static uint64_t value_of(const uint32_t *id, size_t n, bool wide)
{
    uint64_t value = UINT64_MAX;
    uint16_t narrow[VALUE_BYTES / sizeof(uint16_t)];
    if (wide) {
        memcpy(&value, id, n * sizeof *id);
        return value;
    }
    for (size_t i = 0; i < n; i++)
        narrow[i] = (uint16_t)id[i];
    memcpy(&value, narrow, n * sizeof *narrow);
    return value;
}

int id_cache_make_value(struct id_cache *c, size_t len, const uint32_t *id, size_t n, uint64_t *value, struct err *e)
{
    const bool is_long = len > KEY24_MAX;
    struct ids *lists = &c->lists[is_long ? LISTS_LONG : LISTS_SHORT];
    bool fits = n <= VALUE_BYTES / ids_width(lists->wide);
    for (size_t i = 0; i < n && fits; i++)
        fits = id[i] != UINT16_MAX || lists->wide;
    if (fits) {
        *value = value_of(id, n, lists->wide);
        return 0;
    }
    if (ids_reserve(lists, n + 1, e))
        return -1;
    *value = value_with_rest((uint32_t)lists->n | (is_long ? VALUE_LONG : 0));
    ids_set(lists, lists->wide, lists->n++, (uint32_t)n); /* at most CACHE_LONGEST */
    for (size_t i = 0; i < n; i++)
        ids_set(lists, lists->wide, lists->n++, id[i]);
    return 0;
}

void id_cache_put12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t value)
{
    struct id_line *l = &c->lines12[line];
    size_t at = 0;
    while (at < LINE_WAYS - 1 && l->tail[at])
        at++;
    if (l->tail[at]) { /* the line is full: forget the last */
        l->head[at] = l->head[at - 1];
        l->tail[at] = l->tail[at - 1];
        l->value[at] = l->value[at - 1];
        at--;
    }
    l->head[at] = head;
    l->tail[at] = tail;
    l->value[at] = value;
    c->n12++;
}

void id_cache_put24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t value)
{
    struct id_slot24 *slot = c->sets24[table_slot(hash, c->shift24)].slot;
    size_t at = 0;
    while (at < SET_WAYS - 1 && slot[at].key[2])
        at++;
    if (slot[at].key[2]) {
        slot[at] = slot[at - 1];
        at--;
    }
    slot[at] = (struct id_slot24){{key->k[0], key->k[1], key->k[2]}, value};
    c->n24++;
}

int id_cache_put_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t value,
                      struct err *e)
{
    if (buf_put(&c->bytes, p, n, e))
        return -1;
    size_t at = table_slot(hash, c->shift_long);
    while (c->hash_index_long[at].len)
        at = table_next_slot(at, c->shift_long);
    c->hash_index_long[at] = (struct id_slot_long){hash, (uint32_t)(c->bytes.len - n), (uint32_t)n, value};
    c->n_long++;
    return 0;
}

void id_cache_set12(struct id_cache *c, uint64_t head, uint32_t tail, size_t line, uint64_t value)
{
    struct id_line *l = &c->lines12[line];
    size_t i = place_in_line(l, head, tail);
    if (i < LINE_WAYS)
        l->value[i] = value;
}

void id_cache_set24(struct id_cache *c, const struct key24 *key, uint64_t hash, uint64_t value)
{
    struct id_slot24 *slot = c->sets24[table_slot(hash, c->shift24)].slot;
    size_t i = place_in_set(slot, key);
    if (i < SET_WAYS)
        slot[i].value = value;
}

void id_cache_set_long(struct id_cache *c, const unsigned char *p, size_t n, uint64_t hash, uint64_t value)
{
    struct id_slot_long *slot = slot_of_long(c, p, n, hash);
    if (slot)
        slot->value = value;
}
