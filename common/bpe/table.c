/* table.c - see table.h. The idea of the packed slot is old; "a hash table with no pointers" is what pays here:
 * pointers into the text cost a second cache miss for every pretoken. */
#include "bpe/table.h"

#include "sys/hash.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12, SHORT_MAX = 15 };

__extension__ typedef unsigned __int128 u128;

/* mask[SHORT_MAX + 1 - len ..] keeps the first len of 16 bytes. */
static const unsigned char mask[32] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                       0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { LEN_SHIFT = 0 };
#else
enum { LEN_SHIFT = 56 };
#endif

static inline void load_key(uint64_t key[2], const unsigned char *p, size_t len)
{
    uint64_t keep[2];
    memcpy(key, p, 16);
    memcpy(keep, mask + 16 - len, 16);
    key[0] &= keep[0];
    key[1] = (key[1] & keep[1]) | (uint64_t)len << LEN_SHIFT;
}

/* One multiplication of 64 by 64 bits, folded: the step of wyhash. */
static inline uint64_t hash_key(const struct table *t, uint64_t a, uint64_t b)
{
    u128 m = (u128)(a ^ t->secret[0]) * (b ^ t->secret[1]);
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline size_t key_len(const struct short_slot *s)
{
    return (size_t)(s->key[1] >> LEN_SHIFT & 0xFF);
}

int table_init(struct table *t, struct err *e)
{
    *t = (struct table){.short_mask = FIRST_SLOTS - 1, .long_mask = FIRST_SLOTS - 1};
    t->shorts = calloc(FIRST_SLOTS, sizeof *t->shorts);
    t->longs = calloc(FIRST_SLOTS, sizeof *t->longs);
    if (!t->shorts || !t->longs) {
        table_free(t);
        return err_mem(e, "the count table", FIRST_SLOTS * sizeof *t->shorts);
    }
    t->secret[0] = hash_secret();
    t->secret[1] = hash_bytes("second", 6, hash_secret());
    return 0;
}

void table_free(struct table *t)
{
    free(t->shorts);
    free(t->longs);
    buf_free(&t->arena);
    *t = (struct table){0};
}

int table_clear(struct table *t, struct err *e)
{
    table_free(t);
    return table_init(t, e);
}

static int grow_shorts(struct table *t, struct err *e)
{
    size_t n = (t->short_mask + 1) * 2;
    struct short_slot *new = calloc(n, sizeof *new);
    if (!new)
        return err_mem(e, "the count table", (unsigned long long)n * sizeof *new);
    for (size_t i = 0; i <= t->short_mask; i++) {
        const struct short_slot *s = &t->shorts[i];
        if (!s->key[1])
            continue;
        size_t at = hash_key(t, s->key[0], s->key[1]) & (n - 1);
        while (new[at].key[1])
            at = (at + 1) & (n - 1);
        new[at] = *s;
    }
    free(t->shorts);
    t->shorts = new;
    t->short_mask = n - 1;
    return 0;
}

static int grow_longs(struct table *t, struct err *e)
{
    size_t n = (t->long_mask + 1) * 2;
    struct long_slot *new = calloc(n, sizeof *new);
    if (!new)
        return err_mem(e, "the count table", (unsigned long long)n * sizeof *new);
    for (size_t i = 0; i <= t->long_mask; i++) {
        if (!t->longs[i].count)
            continue;
        size_t at = t->longs[i].hash & (n - 1);
        while (new[at].count)
            at = (at + 1) & (n - 1);
        new[at] = t->longs[i];
    }
    free(t->longs);
    t->longs = new;
    t->long_mask = n - 1;
    return 0;
}

static int add_long(struct table *t, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    uint64_t hash = hash_bytes(p, len, t->secret[0]);
    size_t at = hash & t->long_mask;
    for (; t->longs[at].count; at = (at + 1) & t->long_mask) {
        struct long_slot *s = &t->longs[at];
        if (s->hash == hash && s->len == len && memcmp(t->arena.p + s->at, p, len) == 0) {
            s->count += count;
            return 0;
        }
    }
    size_t start = t->arena.len;
    if (buf_put(&t->arena, p, len, e))
        return -1;
    t->longs[at] = (struct long_slot){hash, count, start, len};
    return 2 * ++t->n_long > t->long_mask ? grow_longs(t, e) : 0;
}

static inline int add_short(struct table *t, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    uint64_t key[2];
    load_key(key, p, len);
    size_t at = hash_key(t, key[0], key[1]) & t->short_mask;
    for (; t->shorts[at].key[1]; at = (at + 1) & t->short_mask) {
        struct short_slot *s = &t->shorts[at];
        if (s->key[0] == key[0] && s->key[1] == key[1]) {
            s->count += count;
            return 0;
        }
    }
    t->shorts[at] = (struct short_slot){{key[0], key[1]}, count};
    return 2 * ++t->n_short > t->short_mask ? grow_shorts(t, e) : 0;
}

/* No single count can overflow if their total does not. */
static int add_total(struct table *t, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(t->total, count, &t->total))
        return err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
    return 0;
}

int table_add(struct table *t, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    if (add_total(t, count, e))
        return -1;
    return len <= SHORT_MAX ? add_short(t, p, len, count, e) : add_long(t, p, len, count, e);
}

int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e)
{
    if (add_total(t, n, e))
        return -1;
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start;
        if (len <= SHORT_MAX ? add_short(t, text + start, len, 1, e) : add_long(t, text + start, len, 1, e))
            return -1;
    }
    return 0;
}

size_t table_n(const struct table *t)
{
    return t->n_short + t->n_long;
}

size_t table_bytes(const struct table *t)
{
    return (t->short_mask + 1) * sizeof *t->shorts + (t->long_mask + 1) * sizeof *t->longs + t->arena.cap;
}

bool table_next(const struct table *t, size_t *pos, struct word *w)
{
    for (; *pos <= t->short_mask; ++*pos) {
        const struct short_slot *s = &t->shorts[*pos];
        if (s->key[1]) {
            *w = (struct word){(const unsigned char *)s->key, key_len(s), s->count};
            ++*pos;
            return true;
        }
    }
    for (size_t i; (i = *pos - t->short_mask - 1) <= t->long_mask; ++*pos) {
        const struct long_slot *s = &t->longs[i];
        if (s->count) {
            *w = (struct word){t->arena.p + s->at, (size_t)s->len, s->count};
            ++*pos;
            return true;
        }
    }
    return false;
}

int word_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return c ? c : (a_len > b_len) - (a_len < b_len);
}

static int compare_words(const void *x, const void *y)
{
    const struct word *a = x, *b = y;
    return word_compare(a->p, a->len, b->p, b->len);
}

int table_sorted(const struct table *t, struct word **words, size_t *n, struct err *e)
{
    size_t pos = 0;
    *n = 0;
    *words = malloc((table_n(t) + 1) * sizeof **words);
    if (!*words)
        return err_mem(e, "sorting the counts", (unsigned long long)(table_n(t) + 1) * sizeof **words);
    while (table_next(t, &pos, *words + *n))
        ++*n;
    qsort(*words, *n, sizeof **words, compare_words);
    return 0;
}
