/* table.c - see table.h.
 *
 * What makes it fast: no pointers (a key that points into the text costs another cache miss); batches of pretokens,
 * whose slots are all prefetched before the first is read; huge pages; small slots for most of a text; the more
 * frequent of two colliding pretokens is found first, because a second comparison is an unpredictable branch; tables up
 * to 5/8 full rather than 1/2, which take half the memory and are no slower. tests/bench/README has the figures, and
 * what was tried and did not help.
 */
#include "count/table.h"

#include "base/sys/hash.h"
#include "base/sys/huge.h"
#include "pretok/packed_key.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SHIFT = 64 - 12,
    AHEAD = KEY_BATCH, /* pretokens whose slots are prefetched before the first is read */
};

/* ---- Growing ---- */

/* Whether a table with n slots in use has to grow. */
static inline bool too_full(size_t n, unsigned shift)
{
    return n > table_slots(shift) / 8 * 5;
}

/* Finds another spare slot, at `at` or after it. */
static inline void find_spare(struct table *t, size_t at)
{
    while (t->slots12[at].tail)
        at = table_next_slot(at, t->shift12);
    t->spare = at;
}

/* A table is doubled in place, so it is never in memory twice. The search for a pretoken that was in slot i now begins
 * at slot 2i or 2i + 1, or a little before for the few that were displaced by a collision. So the slots are emptied
 * from the last to the first; each pretoken goes to the slot where its search begins, and moves the one that it finds
 * there one slot further. So the first of colliding pretokens remains the first; it is the one that occurs most. The
 * few whose slot would be one that is not emptied yet are set aside, and inserted at the end. */

/* Doubles a table: kind is its array of slots, `used` the field that is 0 in a free slot, hash that of the slot *s. */
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

__attribute__((noinline)) static int grow12(struct table *t, struct err *e)
{
    GROW(t, slots12, shift12, tail, key12_hash(t->secret, s->head, s->tail));
    find_spare(t, 0);
    return 0;
}

__attribute__((noinline)) static int grow24(struct table *t, struct err *e)
{
    GROW(t, slots24, shift24, count, key24_hash(t->secret, s->key));
    return 0;
}

__attribute__((noinline)) static int grow_long(struct table *t, struct err *e)
{
    GROW(t, slots_long, shift_long, count, s->hash);
    return 0;
}

/* ---- One table ---- */

int table_init(struct table *t, struct err *e)
{
    *t = (struct table){.shift12 = FIRST_SHIFT, .shift24 = FIRST_SHIFT, .shift_long = FIRST_SHIFT};
    t->slots12 = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->slots12);
    t->slots24 = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->slots24);
    t->slots_long = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *t->slots_long);
    if (!t->slots12 || !t->slots24 || !t->slots_long) {
        table_free(t);
        return err_mem(e, "the count table", table_slots(FIRST_SHIFT) * sizeof *t->slots24);
    }
    /* Each table has its own secrets. With shared secrets, pretokens that come in the order of another table's slots,
     * such as those of counts records, would fill one part of this table first, and collide until it has grown. */
    static uint64_t n_tables;
    uint64_t seed = hash_bytes(&n_tables, sizeof n_tables, hash_secret());
    n_tables++;
    t->pack_keys = pack_keys_best();
    t->secret[0] = hash_bytes("first", 5, seed);
    t->secret[1] = hash_bytes("second", 6, seed) | 1;
    t->secret[2] = hash_bytes("third", 5, seed) | 1;
    return 0;
}

void table_free(struct table *t)
{
    huge_free(t->slots12, table_slots(t->shift12) * sizeof *t->slots12);
    huge_free(t->slots24, table_slots(t->shift24) * sizeof *t->slots24);
    huge_free(t->slots_long, table_slots(t->shift_long) * sizeof *t->slots_long);
    buf_free(&t->arena);
    *t = (struct table){0};
}

int table_clear(struct table *t, struct err *e)
{
    table_free(t);
    return table_init(t, e);
}

/* Moves the more frequent of two colliding pretokens to `home`, where the search for it begins. (The other one moves to
 * a slot after its own home, and no slot in between becomes free, so it is still found.) */
#define PROMOTE(slot, home)                                                                                            \
    do {                                                                                                               \
        if ((slot)->count > (home)->count) {                                                                           \
            __typeof__(*(slot)) other = *(home);                                                                       \
            *(home) = *(slot);                                                                                         \
            *(slot) = other;                                                                                           \
        }                                                                                                              \
    } while (0)

/* Adds to a pretoken that is not in the first slot of its search. */
static __attribute__((noinline)) int find24(struct table *t, const struct key24 *key, uint64_t hash, uint64_t count,
                                            struct err *e)
{
    size_t home = table_slot(hash, t->shift24), at = home;
    for (; !key24_equal(t->slots24[at].key, key->k); at = table_next_slot(at, t->shift24)) {
        if (!t->slots24[at].key[2]) {
            t->slots24[at] = (struct slot24){{key->k[0], key->k[1], key->k[2]}, count};
            return too_full(++t->n24, t->shift24) ? grow24(t, e) : 0;
        }
    }
    t->slots24[at].count += count;
    PROMOTE(&t->slots24[at], &t->slots24[home]);
    return 0;
}

static inline int add24(struct table *t, const struct key24 *key, uint64_t hash, uint64_t count, struct err *e)
{
    struct slot24 *s = &t->slots24[table_slot(hash, t->shift24)];
    if (!key24_equal(s->key, key->k))
        return find24(t, key, hash, count, e);
    s->count += count;
    return 0;
}

/* The key in slots24 of a pretoken of up to 11 bytes, for the carried part of its count. */
static struct key24 carried_key(uint64_t head, uint32_t tail)
{
    unsigned char bytes[24] = {0};
    memcpy(bytes, &head, 8);
    memcpy(bytes + 8, &tail, KEY12_MAX - 8);
    return key24_of(bytes, key12_len(tail));
}

/* Adds `high` times 2^32 to the count of a pretoken of slots12. (A tail of 0 is the spare slot, whose count means
 * nothing.) */
static __attribute__((noinline)) int carry(struct table *t, uint64_t head, uint32_t tail, uint64_t high, struct err *e)
{
    if (tail == 0)
        return 0;
    struct key24 key = carried_key(head, tail);
    size_t n = t->n24;
    if (add24(t, &key, key24_hash(t->secret, key.k), high << 32, e))
        return -1;
    t->n_carried += t->n24 - n;
    return 0;
}

/* The carried part of the count of a pretoken of slots12. */
static uint64_t carried(const struct table *t, uint64_t head, uint32_t tail)
{
    struct key24 key = carried_key(head, tail);
    size_t at = table_slot(key24_hash(t->secret, key.k), t->shift24);
    for (; t->slots24[at].count; at = table_next_slot(at, t->shift24)) {
        if (key24_equal(t->slots24[at].key, key.k))
            return t->slots24[at].count;
    }
    return 0;
}

static inline int add_to12(struct table *t, struct slot12 *s, uint64_t count, struct err *e)
{
    uint64_t sum = s->count + count, high = sum >> 32; /* not above the total, so it does not overflow */
    s->count = (uint32_t)sum;
    return __builtin_expect(high != 0, 0) ? carry(t, s->head, s->tail, high, e) : 0;
}

/* Adds to a pretoken that is not in slot `home`, where its search begins. (A tail of 0 belongs to a longer pretoken,
 * for which nothing is done here: this is called for it if the spare slot has been taken in the meantime.) */
static __attribute__((noinline)) int find12(struct table *t, uint64_t head, uint32_t tail, size_t home, uint64_t count,
                                            struct err *e)
{
    size_t at = home;
    if (tail == 0)
        return 0;
    for (; t->slots12[at].head != head || t->slots12[at].tail != tail; at = table_next_slot(at, t->shift12)) {
        if (!t->slots12[at].tail) {
            t->slots12[at] = (struct slot12){head, tail, 0};
            if (at == t->spare)
                find_spare(t, at);
            if (add_to12(t, &t->slots12[at], count, e))
                return -1;
            return too_full(++t->n12, t->shift12) ? grow12(t, e) : 0;
        }
    }
    if (add_to12(t, &t->slots12[at], count, e))
        return -1;
    PROMOTE(&t->slots12[at], &t->slots12[home]);
    return 0;
}

static __attribute__((noinline)) int add_long(struct table *t, const struct pretoken *w, uint64_t hash, struct err *e)
{
    size_t at = table_slot(hash, t->shift_long);
    for (; t->slots_long[at].count; at = table_next_slot(at, t->shift_long)) {
        struct slot_long *s = &t->slots_long[at];
        if (s->hash == hash && s->len == w->len && memcmp(t->arena.p + s->at, w->p, w->len) == 0) {
            s->count += w->count;
            return 0;
        }
    }
    size_t start = t->arena.len;
    if (buf_put(&t->arena, w->p, w->len, e))
        return -1;
    t->slots_long[at] = (struct slot_long){hash, w->count, start, w->len};
    return too_full(++t->n_long, t->shift_long) ? grow_long(t, e) : 0;
}

/* If the total does not overflow, no single count does. */
static inline int add_total(struct table *t, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(t->total, count, &t->total))
        return err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
    return 0;
}

/* Pretokens of more than 11 bytes whose slots have been prefetched, but which have not been added yet. */
struct longer {
    size_t n24, n_long;
    struct key24 key[AHEAD];
    uint64_t hash[AHEAD], count[AHEAD];
    struct pretoken long_one[AHEAD];
    uint64_t long_hash[AHEAD];
};

static int add_longer(struct table *t, struct longer *l, struct err *e)
{
    for (size_t i = 0; i < l->n24; i++) {
        if (add24(t, &l->key[i], l->hash[i], l->count[i], e))
            return -1;
    }
    for (size_t i = 0; i < l->n_long; i++) {
        if (add_long(t, &l->long_one[i], l->long_hash[i], e))
            return -1;
    }
    l->n24 = l->n_long = 0;
    return 0;
}

/* Prefetches the slot of a pretoken of more than 11 bytes. It is added by the next add_longer, and borrowed until
 * then.
 */
static inline int begin_longer(struct table *t, struct longer *l, const unsigned char *p, size_t len, uint64_t count,
                               struct err *e)
{
    if ((l->n24 == AHEAD || l->n_long == AHEAD) && add_longer(t, l, e))
        return -1;
    if (len > KEY24_MAX) {
        uint64_t hash = hash_bytes(p, len, t->secret[0]);
        l->long_one[l->n_long] = (struct pretoken){p, len, count};
        l->long_hash[l->n_long++] = hash;
        __builtin_prefetch(&t->slots_long[table_slot(hash, t->shift_long)], 1);
        return 0;
    }
    struct key24 key = key24_of(p, len);
    uint64_t hash = key24_hash(t->secret, key.k);
    l->key[l->n24] = key;
    l->count[l->n24] = count;
    l->hash[l->n24++] = hash;
    __builtin_prefetch(&t->slots24[table_slot(hash, t->shift24)], 1);
    return 0;
}

/* Prefetches the slots of a batch where its searches begin. */
static inline void prefetch12(const struct table *t, const struct key_batch *b)
{
    const struct slot12 *slots = t->slots12;
#pragma GCC unroll 8
    for (size_t i = 0; i < b->n; i++)
        __builtin_prefetch(&slots[b->slot[i]], 1);
}

/* Finds the slots of the items of a batch from `from` on, after the table has grown. */
static void find_slots(const struct table *t, struct key_batch *b, size_t from)
{
    for (size_t i = from; i < b->n; i++)
        b->slot[i] = b->tail[i] ? table_slot(key12_hash(t->secret, b->head[i], b->tail[i]), t->shift12) : t->spare;
}

/* Counts items of a batch, from `from` on, once each, up to the first that is not in the first slot of its search, or
 * whose count would overflow. Returns its index. This is the hottest loop: it is a function of its own that calls no
 * other, so that it needs no stack. */
static __attribute__((noinline)) size_t count_found(struct slot12 *restrict slots, const struct key_batch *restrict b,
                                                    size_t from)
{
    size_t n = b->n, i = from;
    for (; i < n; i++) {
        struct slot12 *slot = &slots[b->slot[i]];
        if (__builtin_expect(slot->head != b->head[i], 0) || __builtin_expect(slot->tail != b->tail[i], 0))
            break;
        if (__builtin_expect(++slot->count == 0, 0)) {
            slot->count--;
            break;
        }
    }
    return i;
}

/* Counts the pretokens of up to 11 bytes of a batch, once each. */
static int count12(struct table *t, struct key_batch *b, struct err *e)
{
    prefetch12(t, b);
    for (size_t i = 0; (i = count_found(t->slots12, b, i)) < b->n; i++) {
        unsigned shift = t->shift12;
        if (find12(t, b->head[i], b->tail[i], b->slot[i], 1, e))
            return -1;
        if (t->shift12 != shift)
            find_slots(t, b, i + 1);
    }
    return 0;
}

/* Adds the pretokens of up to 11 bytes of a batch, each with its count. */
static int add12(struct table *t, struct key_batch *b, const uint64_t *count, struct err *e)
{
    prefetch12(t, b);
    for (size_t i = 0; i < b->n; i++) {
        struct slot12 *slot = &t->slots12[b->slot[i]];
        unsigned shift = t->shift12;
        if (slot->head == b->head[i] && slot->tail == b->tail[i]
                ? add_to12(t, slot, count[i], e)
                : find12(t, b->head[i], b->tail[i], b->slot[i], count[i], e))
            return -1;
        if (t->shift12 != shift)
            find_slots(t, b, i + 1);
    }
    return 0;
}

int table_add(struct table *t, const struct pretoken *w, size_t n, struct err *e)
{
    struct longer longer;
    struct key_batch batch;
    uint64_t count[AHEAD];
    longer.n24 = longer.n_long = 0;
    for (size_t some; n; w += some, n -= some) {
        size_t n12 = 0;
        some = n < AHEAD ? n : AHEAD;
        for (size_t i = 0; i < some; i++) {
            if (add_total(t, w[i].count, e))
                return -1;
            if (w[i].len > KEY12_MAX) {
                if (begin_longer(t, &longer, w[i].p, w[i].len, w[i].count, e))
                    return -1;
                continue;
            }
            struct key12 key = key12_of(w[i].p, w[i].len);
            batch.head[n12] = key.head;
            batch.tail[n12] = key.tail;
            batch.slot[n12] = table_slot(key12_hash(t->secret, key.head, key.tail), t->shift12);
            count[n12++] = w[i].count;
        }
        batch.n = n12;
        if (add12(t, &batch, count, e))
            return -1;
    }
    return add_longer(t, &longer, e);
}

int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e)
{
    struct longer longer;
    struct key_batch batch;
    longer.n24 = longer.n_long = 0;
    if (add_total(t, n, e))
        return -1;
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        some = n < KEY_BATCH ? n : KEY_BATCH;
        t->pack_keys(&batch, text, start, ends, some, &(struct key12_slots){t->secret, t->shift12, t->spare});
        for (size_t base = 0; base < some; base += 64) {
            for (uint64_t left = batch.longer[base / 64]; left; left &= left - 1) {
                size_t i = base + (size_t)__builtin_ctzll(left), from = i ? ends[i - 1] : start;
                if (begin_longer(t, &longer, text + from, ends[i] - from, 1, e))
                    return -1;
            }
        }
        if (count12(t, &batch, e))
            return -1;
    }
    return add_longer(t, &longer, e);
}

size_t table_n(const struct table *t)
{
    return t->n12 + t->n24 + t->n_long - t->n_carried;
}

size_t table_bytes(const struct table *t)
{
    return table_slots(t->shift12) * sizeof *t->slots12 + table_slots(t->shift24) * sizeof *t->slots24 +
           table_slots(t->shift_long) * sizeof *t->slots_long + t->arena.cap;
}

/* A position is the number of a slot, counting those of slots12 first, then slots24, then slots_long. */
bool table_next(const struct table *t, size_t *pos, struct pretoken *w)
{
    size_t n12 = table_slots(t->shift12), n24 = table_slots(t->shift24);
    for (; *pos < n12; ++*pos) {
        const struct slot12 *s = &t->slots12[*pos];
        if (s->tail) {
            uint64_t more = t->n_carried ? carried(t, s->head, s->tail) : 0;
            *w = (struct pretoken){(const unsigned char *)s, key12_len(s->tail), s->count + more};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n12 < n24; ++*pos) {
        const struct slot24 *s = &t->slots24[*pos - n12];
        size_t len = slot24_len(s);
        if (len > KEY12_MAX) {
            *w = (struct pretoken){(const unsigned char *)s->key, len, s->count};
            ++*pos;
            return true;
        }
    }
    for (; *pos - n12 - n24 < table_slots(t->shift_long); ++*pos) {
        const struct slot_long *s = &t->slots_long[*pos - n12 - n24];
        if (s->count) {
            *w = (struct pretoken){t->arena.p + s->at, (size_t)s->len, s->count};
            ++*pos;
            return true;
        }
    }
    return false;
}
