/* table.c - see table.h.
 *
 * What pays here: no pointers, as keys that point into the text cost a cache miss more each; a batch of words whose
 * slots are all asked for before the first is looked at; huge pages; slots taken from the first bits of a hash, so that
 * a table that doubles is walked in order; small slots for the words that are most of a text; of words that meet, the
 * one counted more often is found first, as a second look is a branch nobody foresaw; tables up to 5/8 full rather than
 * 1/2 (half the memory, no slower). tests/bench/README has the figures, and what lost.
 */
#include "count/table.h"

#include "core/packed_key.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SHIFT = 64 - 12,
    AHEAD = TINY_BATCH, /* words whose slots are asked for before the first is looked at */
};

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
            size_t at = table_slot(hash, t->shift);                                                                    \
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
            size_t at = table_slot(hash, t->shift);                                                                    \
            while (slot[at].used)                                                                                      \
                at = table_next_slot(at, t->shift);                                                                    \
            slot[at] = *s;                                                                                             \
        }                                                                                                              \
        free(aside);                                                                                                   \
    } while (0)

/* Another spare slot, from `at` on. */
static void find_spare(struct table *t, size_t at)
{
    while (t->tiny[at].tail)
        at = table_next_slot(at, t->tiny_shift);
    t->spare = at;
}

static __attribute__((noinline)) int grow_tiny(struct table *t, struct err *e)
{
    GROW(t, tiny, tiny_shift, tail, tiny_hash(t->secret, s->head, s->tail));
    find_spare(t, 0);
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

/* Of words that meet, the one that was counted more often goes where both are looked for first. (The other stays
 * behind its own first slot, and no slot in between gets free.) */
#define SETTLE(slot, home)                                                                                             \
    do {                                                                                                               \
        if ((slot)->count > (home)->count) {                                                                           \
            __typeof__(*(slot)) other = *(home);                                                                       \
            *(home) = *(slot);                                                                                         \
            *(slot) = other;                                                                                           \
        }                                                                                                              \
    } while (0)

static inline bool same_key(const struct short_slot *s, const struct short_key *key)
{
    return ((s->key[0] ^ key->k[0]) | (s->key[1] ^ key->k[1]) | (s->key[2] ^ key->k[2])) == 0;
}

/* A short word that is not in the first slot it is looked for in. */
static __attribute__((noinline)) int find_short(struct table *t, const struct short_key *key, uint64_t hash,
                                                uint64_t count, struct err *e)
{
    size_t home = table_slot(hash, t->short_shift), at = home;
    for (; !same_key(&t->shorts[at], key); at = table_next_slot(at, t->short_shift)) {
        if (!t->shorts[at].key[2]) {
            t->shorts[at] = (struct short_slot){{key->k[0], key->k[1], key->k[2]}, count};
            return too_full(++t->n_short, t->short_shift) ? grow_shorts(t, e) : 0;
        }
    }
    t->shorts[at].count += count;
    SETTLE(&t->shorts[at], &t->shorts[home]);
    return 0;
}

static inline int add_short(struct table *t, const struct short_key *key, uint64_t hash, uint64_t count, struct err *e)
{
    struct short_slot *s = &t->shorts[table_slot(hash, t->short_shift)];
    if (!same_key(s, key))
        return find_short(t, key, hash, count, e);
    s->count += count;
    return 0;
}

/* The key by which a tiny word is among the short ones. */
static struct short_key carried_key(uint64_t head, uint32_t tail)
{
    unsigned char bytes[24] = {0};
    memcpy(bytes, &head, 8);
    memcpy(bytes + 8, &tail, TINY_MAX - 8);
    return short_key(bytes, tiny_len(tail));
}

/* Counts `high` times 2^32 more of a tiny word (or of none: then it is what was counted in the spare slot). */
static __attribute__((noinline)) int carry(struct table *t, uint64_t head, uint32_t tail, uint64_t high, struct err *e)
{
    if (tail == 0)
        return 0;
    struct short_key key = carried_key(head, tail);
    size_t n = t->n_short;
    if (add_short(t, &key, short_hash(t->secret, key.k), high << 32, e))
        return -1;
    t->n_carried += t->n_short - n;
    return 0;
}

/* What was carried of a tiny word. */
static uint64_t carried(const struct table *t, uint64_t head, uint32_t tail)
{
    struct short_key key = carried_key(head, tail);
    size_t at = table_slot(short_hash(t->secret, key.k), t->short_shift);
    for (; t->shorts[at].count; at = table_next_slot(at, t->short_shift)) {
        if (same_key(&t->shorts[at], &key))
            return t->shorts[at].count;
    }
    return 0;
}

static inline int count_tiny(struct table *t, struct tiny_slot *s, uint64_t count, struct err *e)
{
    if (__builtin_constant_p(count) && count == 1) /* what the hottest loop does: one instruction, and a branch */
        return __builtin_expect(++s->count == 0, 0) ? carry(t, s->head, s->tail, 1, e) : 0;
    uint64_t sum = s->count + count, high = sum >> 32; /* which is no more than the total, and does not overflow */
    s->count = (uint32_t)sum;
    return __builtin_expect(high != 0, 0) ? carry(t, s->head, s->tail, high, e) : 0;
}

/* A tiny word that is not in slot `home`, the first it is looked for in. (Or one that is not tiny, and the spare slot
 * is no longer spare.) */
static __attribute__((noinline)) int find_tiny(struct table *t, uint64_t head, uint32_t tail, size_t home,
                                               uint64_t count, struct err *e)
{
    size_t at = home;
    if (tail == 0)
        return 0;
    for (; t->tiny[at].head != head || t->tiny[at].tail != tail; at = table_next_slot(at, t->tiny_shift)) {
        if (!t->tiny[at].tail) {
            t->tiny[at] = (struct tiny_slot){head, tail, 0};
            if (at == t->spare)
                find_spare(t, at);
            if (count_tiny(t, &t->tiny[at], count, e))
                return -1;
            return too_full(++t->n_tiny, t->tiny_shift) ? grow_tiny(t, e) : 0;
        }
    }
    if (count_tiny(t, &t->tiny[at], count, e))
        return -1;
    SETTLE(&t->tiny[at], &t->tiny[home]);
    return 0;
}

static __attribute__((noinline)) int add_long(struct table *t, const struct pretoken *w, uint64_t hash, struct err *e)
{
    size_t at = table_slot(hash, t->long_shift);
    for (; t->longs[at].count; at = table_next_slot(at, t->long_shift)) {
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
    struct short_key key[AHEAD];
    uint64_t hash[AHEAD], count[AHEAD];
    struct pretoken long_word[AHEAD];
    uint64_t long_hash[AHEAD];
};

static int end_others(struct table *t, struct others *o, struct err *e)
{
    for (size_t i = 0; i < o->n_short; i++) {
        if (add_short(t, &o->key[i], o->hash[i], o->count[i], e))
            return -1;
    }
    for (size_t i = 0; i < o->n_long; i++) {
        if (add_long(t, &o->long_word[i], o->long_hash[i], e))
            return -1;
    }
    o->n_short = o->n_long = 0;
    return 0;
}

/* Asks for the slot of a word that is not tiny; its bytes are borrowed until end_others. */
static inline int begin_other(struct table *t, struct others *o, const unsigned char *p, size_t len, uint64_t count,
                              struct err *e)
{
    if ((o->n_short == AHEAD || o->n_long == AHEAD) && end_others(t, o, e))
        return -1;
    if (len > SHORT_MAX) {
        uint64_t hash = hash_bytes(p, len, t->secret[0]);
        o->long_word[o->n_long] = (struct pretoken){p, len, count};
        o->long_hash[o->n_long++] = hash;
        __builtin_prefetch(&t->longs[table_slot(hash, t->long_shift)], 1);
        return 0;
    }
    struct short_key key = short_key(p, len);
    uint64_t hash = short_hash(t->secret, key.k);
    o->key[o->n_short] = key;
    o->count[o->n_short] = count;
    o->hash[o->n_short++] = hash;
    __builtin_prefetch(&t->shorts[table_slot(hash, t->short_shift)], 1);
    return 0;
}

/* Adds the tiny words of a batch, each with its count (NULL: one each). */
static inline __attribute__((always_inline)) int add_tiny(struct table *t, struct tiny_split *s, const uint64_t *count,
                                                          struct err *e)
{
    struct tiny_slot *tiny = t->tiny; /* which the compiler would read again for each */
    unsigned shift = t->tiny_shift;
    for (size_t i = 0; i < s->n; i++) /* (in a function of its own, gcc 12 takes it for one without effect) */
        __builtin_prefetch(&tiny[s->slot[i]], 1);
    for (size_t i = 0; i < s->n; i++) {
        struct tiny_slot *slot = &tiny[s->slot[i]];
        if (__builtin_expect(slot->head == s->head[i] && slot->tail == s->tail[i], 1)) {
            if (count ? count_tiny(t, slot, count[i], e) : count_tiny(t, slot, 1, e))
                return -1;
            continue;
        }
        if (find_tiny(t, s->head[i], s->tail[i], s->slot[i], count ? count[i] : 1, e))
            return -1;
        if (t->tiny_shift != shift) { /* it has grown */
            tiny = t->tiny;
            shift = t->tiny_shift;
            for (size_t k = i + 1; k < s->n; k++)
                s->slot[k] = s->tail[k] ? table_slot(tiny_hash(t->secret, s->head[k], s->tail[k]), shift) : t->spare;
        }
    }
    return 0;
}

int table_add(struct table *t, const struct pretoken *w, size_t n, struct err *e)
{
    struct others others;
    struct tiny_split s;
    uint64_t count[AHEAD];
    others.n_short = others.n_long = 0;
    for (size_t some; n; w += some, n -= some) {
        size_t n_tiny = 0;
        some = n < AHEAD ? n : AHEAD;
        for (size_t i = 0; i < some; i++) {
            if (add_total(t, w[i].count, e))
                return -1;
            if (w[i].len > TINY_MAX) {
                if (begin_other(t, &others, w[i].p, w[i].len, w[i].count, e))
                    return -1;
                continue;
            }
            struct tiny_key key = tiny_key(w[i].p, w[i].len);
            s.head[n_tiny] = key.head;
            s.tail[n_tiny] = key.tail;
            s.slot[n_tiny] = table_slot(tiny_hash(t->secret, key.head, key.tail), t->tiny_shift);
            count[n_tiny++] = w[i].count;
        }
        s.n = n_tiny;
        if (add_tiny(t, &s, count, e))
            return -1;
    }
    return end_others(t, &others, e);
}

int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e)
{
    struct others others;
    struct tiny_split s;
    others.n_short = others.n_long = 0;
    if (add_total(t, n, e))
        return -1;
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        some = n < TINY_BATCH ? n : TINY_BATCH;
        t->split(&s, text, start, ends, some, &(struct tiny_place){t->secret, t->tiny_shift, t->spare});
        for (size_t base = 0; base < some; base += 64) {
            for (uint64_t left = s.other[base / 64]; left; left &= left - 1) {
                size_t i = base + (size_t)__builtin_ctzll(left), from = i ? ends[i - 1] : start;
                if (begin_other(t, &others, text + from, ends[i] - from, 1, e))
                    return -1;
            }
        }
        if (add_tiny(t, &s, NULL, e))
            return -1;
    }
    return end_others(t, &others, e);
}

size_t table_n(const struct table *t)
{
    return t->n_tiny + t->n_short + t->n_long - t->n_carried;
}

size_t table_bytes(const struct table *t)
{
    return table_slots(t->tiny_shift) * sizeof *t->tiny + table_slots(t->short_shift) * sizeof *t->shorts +
           table_slots(t->long_shift) * sizeof *t->longs + t->arena.cap;
}

/* A position is a slot's number, those of all tables counted through: tiny, short, long. */
bool table_next(const struct table *t, size_t *pos, struct pretoken *w)
{
    size_t n_tiny = table_slots(t->tiny_shift), n_short = table_slots(t->short_shift);
    for (; *pos < n_tiny; ++*pos) {
        const struct tiny_slot *s = &t->tiny[*pos];
        if (s->tail) {
            uint64_t more = t->n_carried ? carried(t, s->head, s->tail) : 0;
            *w = (struct pretoken){(const unsigned char *)s, tiny_len(s->tail), s->count + more};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n_tiny < n_short; ++*pos) {
        const struct short_slot *s = &t->shorts[*pos - n_tiny];
        size_t len = short_len(s);
        if (len > TINY_MAX) {
            *w = (struct pretoken){(const unsigned char *)s->key, len, s->count};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n_tiny - n_short < table_slots(t->long_shift); ++*pos) {
        const struct long_slot *s = &t->longs[*pos - n_tiny - n_short];
        if (s->count) {
            *w = (struct pretoken){t->arena.p + s->at, (size_t)s->len, s->count};
            ++*pos;
            return true;
        }
    }
    return false;
}
