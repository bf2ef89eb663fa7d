/* table.c - see table.h.
 *
 * What pays here: no pointers, as keys that point into the text cost a cache miss more each; a batch of words whose
 * slots are all asked for before the first is looked at; huge pages; slots taken from the first bits of a hash, so that
 * a table that doubles is walked in order; a table of its own for tiny words; tables up to 5/8 full rather than 1/2
 * (half the memory, no slower). tests/bench/README has the figures, and what lost.
 */
#include "bpe/table.h"

#include "bpe/tiny.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SHIFT = 64 - 12,
    SHORT_MAX = 23,
    AHEAD = TINY_BATCH, /* words whose slots are asked for before the first is looked at */
};

__extension__ typedef unsigned __int128 u128;

struct key {
    uint64_t k[3];
};

/* mask[SHORT_MAX + 1 - len ..] keeps the first len of 24 bytes. */
static const unsigned char mask[48] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                       0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static inline struct key short_key(const unsigned char *p, size_t len)
{
    struct key key, keep;
    memcpy(&key, p, 24);
    memcpy(&keep, mask + 24 - len, 24);
    for (int i = 0; i < 3; i++)
        key.k[i] &= keep.k[i];
    key.k[2] |= (uint64_t)len << TINY_LEN_SHIFT;
    return key;
}

/* A multiplication of 64 by 64 bits, folded: the step of wyhash. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    u128 m = (u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t short_hash(const uint64_t secret[3], const uint64_t k[3])
{
    return fold(fold(k[0] ^ secret[0], k[1] ^ secret[1]) ^ k[2], secret[2]);
}

/* 2^(64 - shift) slots: the first bits of a hash are its slot. */
static inline size_t slot_of(uint64_t hash, unsigned shift)
{
    return (size_t)(hash >> shift);
}

static inline size_t next_slot(size_t at, unsigned shift)
{
    return (at + 1) & (SIZE_MAX >> shift);
}

int table_init(struct table *t, struct err *e)
{
    *t = (struct table){.tiny_shift = FIRST_SHIFT, .short_shift = FIRST_SHIFT, .long_shift = FIRST_SHIFT};
    t->tiny = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->tiny);
    t->shorts = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->shorts);
    t->longs = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->longs);
    if (!t->tiny || !t->shorts || !t->longs) {
        table_free(t);
        return err_mem(e, "the count table", table_slots(FIRST_SHIFT) * sizeof *t->shorts);
    }
    /* Other ones for each table: words that come in the order of one table's slots would pile up in another with the
     * same hash, until it has grown. */
    static uint64_t n_tables;
    uint64_t seed = hash_bytes(&n_tables, sizeof n_tables, hash_secret());
    n_tables++;
    t->split = tiny_splitter();
    t->secret[0] = hash_bytes("first", 5, seed);
    t->secret[1] = hash_bytes("second", 6, seed) | 1;
    t->secret[2] = hash_bytes("third", 5, seed) | 1;
    return 0;
}

void table_free(struct table *t)
{
    huge_free(t->tiny, table_slots(t->tiny_shift) * sizeof *t->tiny);
    huge_free(t->shorts, table_slots(t->short_shift) * sizeof *t->shorts);
    huge_free(t->longs, table_slots(t->long_shift) * sizeof *t->longs);
    buf_free(&t->arena);
    *t = (struct table){0};
}

int table_clear(struct table *t, struct err *e)
{
    table_free(t);
    return table_init(t, e);
}

/* Twice as many slots, in place: memory is asked for only as the table gains it, and never held twice. What was in slot
 * i is looked for from slot 2i or 2i + 1 on now (but for a few, by as much as they had been moved on). So from the last
 * slot to the first each finds its place among those that were moved already, before what it finds there: what came
 * first is met first, as before, for that is what occurs most.
 * The few that do not fit in are put aside to the end. */
#define GROW(t, kind, shift, used, hash)                                                                               \
    do {                                                                                                               \
        size_t n = table_slots(t->shift), n_aside = 0, cap_aside = 0;                                                  \
        __typeof__(t->kind) slot = huge_double(t->kind, n * sizeof *slot), aside = NULL;                               \
        if (!slot)                                                                                                     \
            return err_mem(e, "the count table", 2 * n * sizeof *slot);                                                \
        t->kind = slot;                                                                                                \
        t->shift--;                                                                                                    \
        for (size_t i = n; i-- > 0;) {                                                                                 \
            __typeof__(*slot) one = slot[i], *s = &one;                                                                \
            if (!s->used)                                                                                              \
                continue;                                                                                              \
            memset(&slot[i], 0, sizeof *slot);                                                                         \
            size_t at = slot_of(hash, t->shift);                                                                       \
            bool fits = at >= i;                                                                                       \
            for (; fits && at < 2 * n && slot[at].used; at++) {                                                        \
                __typeof__(*slot) later = slot[at];                                                                    \
                slot[at] = one;                                                                                        \
                one = later;                                                                                           \
            }                                                                                                          \
            if (fits && at < 2 * n) {                                                                                  \
                slot[at] = one;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            if (array_grow(&aside, &cap_aside, n_aside + 1, sizeof *aside, "the count table", e)) {                    \
                free(aside);                                                                                           \
                return -1;                                                                                             \
            }                                                                                                          \
            aside[n_aside++] = one;                                                                                    \
        }                                                                                                              \
        while (n_aside-- > 0) {                                                                                        \
            const __typeof__(*slot) *s = &aside[n_aside];                                                              \
            size_t at = slot_of(hash, t->shift);                                                                       \
            while (slot[at].used)                                                                                      \
                at = next_slot(at, t->shift);                                                                          \
            slot[at] = *s;                                                                                             \
        }                                                                                                              \
        free(aside);                                                                                                   \
    } while (0)

static __attribute__((noinline)) int grow_tiny(struct table *t, struct err *e)
{
    GROW(t, tiny, tiny_shift, key, tiny_hash(t->secret, s->key));
    return 0;
}

static __attribute__((noinline)) int grow_shorts(struct table *t, struct err *e)
{
    GROW(t, shorts, short_shift, count, short_hash(t->secret, s->key));
    return 0;
}

static int grow_longs(struct table *t, struct err *e)
{
    GROW(t, longs, long_shift, count, s->hash);
    return 0;
}

static inline bool too_full(size_t n, unsigned shift)
{
    return n > table_slots(shift) / 8 * 5;
}

/* Puts a pretoken that is not there into the free slot it was looked for in. Apart, so that the loops stay small. */
static __attribute__((noinline)) int new_tiny(struct table *t, size_t at, uint64_t key, uint64_t count, struct err *e)
{
    t->tiny[at] = (struct tiny_slot){key, count};
    return too_full(++t->n_tiny, t->tiny_shift) ? grow_tiny(t, e) : 0;
}

static __attribute__((noinline)) int new_short(struct table *t, size_t at, const struct key *key, uint64_t count,
                                               struct err *e)
{
    t->shorts[at] = (struct short_slot){{key->k[0], key->k[1], key->k[2]}, count};
    return too_full(++t->n_short, t->short_shift) ? grow_shorts(t, e) : 0;
}

static inline int add_tiny(struct table *t, uint64_t key, uint64_t hash, uint64_t count, struct err *e)
{
    size_t at = slot_of(hash, t->tiny_shift);
    for (; t->tiny[at].key != key; at = next_slot(at, t->tiny_shift)) {
        if (!t->tiny[at].key)
            return new_tiny(t, at, key, count, e);
    }
    t->tiny[at].count += count;
    return 0;
}

static inline bool same_key(const struct short_slot *s, const struct key *key)
{
    return ((s->key[0] ^ key->k[0]) | (s->key[1] ^ key->k[1]) | (s->key[2] ^ key->k[2])) == 0;
}

static inline int add_short(struct table *t, const struct key *key, uint64_t hash, uint64_t count, struct err *e)
{
    size_t at = slot_of(hash, t->short_shift);
    for (; !same_key(&t->shorts[at], key); at = next_slot(at, t->short_shift)) {
        if (!t->shorts[at].key[2])
            return new_short(t, at, key, count, e);
    }
    t->shorts[at].count += count;
    return 0;
}

static __attribute__((noinline)) int add_long(struct table *t, const struct word *w, uint64_t hash, struct err *e)
{
    size_t at = slot_of(hash, t->long_shift);
    for (; t->longs[at].count; at = next_slot(at, t->long_shift)) {
        struct long_slot *s = &t->longs[at];
        if (s->hash == hash && s->len == w->len && memcmp(t->arena.p + s->at, w->p, w->len) == 0) {
            s->count += w->count;
            return 0;
        }
    }
    size_t start = t->arena.len;
    if (buf_put(&t->arena, w->p, w->len, e))
        return -1;
    t->longs[at] = (struct long_slot){hash, w->count, start, w->len};
    return too_full(++t->n_long, t->long_shift) ? grow_longs(t, e) : 0;
}

/* No single count can overflow if their total does not. */
static inline int add_total(struct table *t, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(t->total, count, &t->total))
        return err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
    return 0;
}

/* Words that are not tiny, on their way into the table. */
struct others {
    size_t n_short, n_long;
    struct key key[AHEAD];
    uint64_t hash[AHEAD], count[AHEAD];
    const struct word *long_word[AHEAD];
    uint64_t long_hash[AHEAD];
};

/* Asks for the slots of up to AHEAD words that are not tiny; w is borrowed until end_others. */
static inline void begin_others(const struct table *t, struct others *o, const struct word *w, size_t n)
{
    o->n_short = o->n_long = 0;
    for (size_t i = 0; i < n; i++) {
        if (w[i].len > SHORT_MAX) {
            uint64_t hash = hash_bytes(w[i].p, w[i].len, t->secret[0]);
            o->long_word[o->n_long] = &w[i];
            o->long_hash[o->n_long++] = hash;
            __builtin_prefetch(&t->longs[slot_of(hash, t->long_shift)], 1);
            continue;
        }
        struct key key = short_key(w[i].p, w[i].len);
        uint64_t hash = short_hash(t->secret, key.k);
        o->key[o->n_short] = key;
        o->count[o->n_short] = w[i].count;
        o->hash[o->n_short++] = hash;
        __builtin_prefetch(&t->shorts[slot_of(hash, t->short_shift)], 1);
    }
}

static inline int end_others(struct table *t, const struct others *o, struct err *e)
{
    for (size_t i = 0; i < o->n_short; i++) {
        if (add_short(t, &o->key[i], o->hash[i], o->count[i], e))
            return -1;
    }
    for (size_t i = 0; i < o->n_long; i++) {
        if (add_long(t, o->long_word[i], o->long_hash[i], e))
            return -1;
    }
    return 0;
}

static inline void prefetch_tiny(const struct table *t, const uint64_t *hash, size_t n)
{
    const struct tiny_slot *tiny = t->tiny; /* which the compiler need not read again each time */
    const unsigned shift = t->tiny_shift;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&tiny[slot_of(hash[i], shift)], 1);
}

/* Adds up to AHEAD words: tiny ones by key and hash, each with its count (NULL: one each), and others. */
static inline __attribute__((always_inline)) int add_batch(struct table *t, const uint64_t *key, const uint64_t *hash,
                                                           const uint64_t *count, size_t n_tiny,
                                                           const struct word *other, size_t n_other, struct err *e)
{
    struct others others;
    begin_others(t, &others, other, n_other);
    prefetch_tiny(t, hash, n_tiny);
    for (size_t i = 0; i < n_tiny; i++) {
        if (add_tiny(t, key[i], hash[i], count ? count[i] : 1, e))
            return -1;
    }
    return end_others(t, &others, e);
}

int table_add(struct table *t, const struct word *w, size_t n, struct err *e)
{
    for (size_t some; n; w += some, n -= some) {
        uint64_t key[AHEAD], hash[AHEAD], count[AHEAD];
        struct word other[AHEAD];
        size_t n_tiny = 0, n_other = 0;
        some = n < AHEAD ? n : AHEAD;
        for (size_t i = 0; i < some; i++) {
            if (add_total(t, w[i].count, e))
                return -1;
            other[n_other] = w[i];
            n_other += w[i].len > TINY_MAX;
            key[n_tiny] = tiny_key(w[i].p, w[i].len);
            hash[n_tiny] = tiny_hash(t->secret, key[n_tiny]);
            count[n_tiny] = w[i].count;
            n_tiny += w[i].len <= TINY_MAX;
        }
        if (add_batch(t, key, hash, count, n_tiny, other, n_other, e))
            return -1;
    }
    return 0;
}

int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e)
{
    if (add_total(t, n, e))
        return -1;
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        struct tiny_split split;
        struct word other[AHEAD];
        some = n < AHEAD ? n : AHEAD;
        t->split(&split, text, start, ends, some, t->secret);
        for (size_t i = 0; i < split.n_other; i++)
            other[i] = (struct word){text + split.at[i], split.len[i], 1};
        if (add_batch(t, split.key, split.hash, NULL, split.n_tiny, other, split.n_other, e))
            return -1;
    }
    return 0;
}

size_t table_n(const struct table *t)
{
    return t->n_tiny + t->n_short + t->n_long;
}

size_t table_bytes(const struct table *t)
{
    return table_slots(t->tiny_shift) * sizeof *t->tiny + table_slots(t->short_shift) * sizeof *t->shorts +
           table_slots(t->long_shift) * sizeof *t->longs + t->arena.cap;
}

/* A position is a slot's number, those of all tables counted through: tiny, short, long. */
bool table_next(const struct table *t, size_t *pos, struct word *w)
{
    size_t n_tiny = table_slots(t->tiny_shift), n_short = table_slots(t->short_shift);
    for (; *pos < n_tiny; ++*pos) {
        const struct tiny_slot *s = &t->tiny[*pos];
        if (s->count) {
            *w = (struct word){(const unsigned char *)&s->key, s->key >> TINY_LEN_SHIFT & 0xFF, s->count};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n_tiny < n_short; ++*pos) {
        const struct short_slot *s = &t->shorts[*pos - n_tiny];
        if (s->count) {
            *w = (struct word){(const unsigned char *)s->key, s->key[2] >> TINY_LEN_SHIFT & 0xFF, s->count};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n_tiny - n_short < table_slots(t->long_shift); ++*pos) {
        const struct long_slot *s = &t->longs[*pos - n_tiny - n_short];
        if (s->count) {
            *w = (struct word){t->arena.p + s->at, (size_t)s->len, s->count};
            ++*pos;
            return true;
        }
    }
    return false;
}
