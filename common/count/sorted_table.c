/* sorted_table.c - see sorted_table.h.
 *
 * The slots in use are moved together, and their keys turned into numbers that compare as the bytes do. Then each of
 * the three tables is sorted where it is, by a radix sort from the first byte on (McIlroy, Bostic and McIlroy,
 * "Engineering radix sort", 1993: the American flag, and where the slots that got free suffice, by way of these), and
 * the three are merged as they are read. */
#include "count/sorted_table.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 32,
    WORTH_A_THREAD = 1 << 12, /* words */
};

int pretoken_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return c ? c : (a_len > b_len) - (a_len < b_len);
}

static uint64_t first_bytes(const unsigned char *p)
{
    uint64_t head;
    memcpy(&head, p, sizeof head);
    return be64toh(head);
}

/* What differs between the tables: whether a slot is in use, which makes its key a number; the n-th byte of a key; and
 * the order of two slots. arena: the bytes of long words. */

static inline bool tiny_begin(struct tiny_slot *s, const void *arena)
{
    (void)arena;
    *s = (struct tiny_slot){be64toh(s->head), be32toh(s->tail), s->count};
    return s->tail != 0;
}

static inline unsigned tiny_digit(const struct tiny_slot *s, unsigned n)
{
    return (unsigned)(n < 8 ? s->head >> (56 - 8 * n) & 255 : s->tail >> (88 - 8 * n) & 255);
}

static inline bool tiny_less(const struct tiny_slot *a, const struct tiny_slot *b, const void *arena)
{
    (void)arena;
    return a->head != b->head ? a->head < b->head : a->tail < b->tail;
}

static inline bool short_begin(struct short_slot *s, const void *arena)
{
    (void)arena;
    *s = (struct short_slot){{be64toh(s->key[0]), be64toh(s->key[1]), be64toh(s->key[2])}, s->count};
    return s->count != 0;
}

static inline unsigned short_digit(const struct short_slot *s, unsigned n)
{
    return s->key[n / 8] >> (56 - 8 * (n % 8)) & 255;
}

static inline bool short_less(const struct short_slot *a, const struct short_slot *b, const void *arena)
{
    (void)arena;
    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0];
    return a->key[1] != b->key[1] ? a->key[1] < b->key[1] : a->key[2] < b->key[2];
}

/* Of long words, the hash gives way to the first 8 bytes. */
static inline bool long_begin(struct long_slot *s, const void *arena)
{
    if (!s->count)
        return false;
    s->hash = first_bytes((const unsigned char *)arena + s->at);
    return true;
}

static inline unsigned long_digit(const struct long_slot *s, unsigned n)
{
    return s->hash >> (56 - 8 * n) & 255;
}

static int long_compare(const void *x, const void *y, void *arena)
{
    const struct long_slot *a = x, *b = y;
    const unsigned char *p = arena;
    return pretoken_compare(p + a->at, (size_t)a->len, p + b->at, (size_t)b->len);
}

static inline bool long_less(const struct long_slot *a, const struct long_slot *b, const void *arena)
{
    return a->hash != b->hash ? a->hash < b->hash : long_compare(a, b, (void *)(uintptr_t)arena) < 0;
}

/* The digits that occur among some slots, as bits, and how often each does. */
struct histogram {
    uint64_t used[4];
    size_t count[256];
};

/* The least digit from d on that occurs; 256 if none does. */
static inline unsigned next_digit(const struct histogram *h, unsigned d)
{
    for (unsigned i = d / 64; i < 4; i++) {
        uint64_t left = h->used[i] & ~(uint64_t)0 << (i == d / 64 ? d % 64 : 0);
        if (left)
            return 64 * i + (unsigned)__builtin_ctzll(left);
    }
    return 256;
}

/* Sorts a[0 .. n), whose keys are equal up to digit `depth`; of `digits` equal ones only long words can be. By way of
 * other[0 .. room) where that is enough, as then no move waits for the one before; what is more, in place. */
#define SORT(kind, slot, digits)                                                                                       \
    static void sort_##kind(struct slot *a, size_t n, unsigned depth, struct slot *other, size_t room,                 \
                            const void *arena)                                                                         \
    {                                                                                                                  \
        for (; n > FEW && depth < (digits); depth++) {                                                                 \
            struct histogram h = {0};                                                                                  \
            size_t next[256], end = 0;                                                                                 \
            for (size_t i = 0; i < n; i++) {                                                                           \
                unsigned d = kind##_digit(&a[i], depth);                                                               \
                if (h.count[d]++ == 0)                                                                                 \
                    h.used[d / 64] |= (uint64_t)1 << d % 64;                                                           \
            }                                                                                                          \
            if (h.count[kind##_digit(&a[0], depth)] == n)                                                              \
                continue;                                                                                              \
            for (unsigned d = next_digit(&h, 0); d < 256; d = next_digit(&h, d + 1)) {                                 \
                next[d] = end;                                                                                         \
                end += h.count[d];                                                                                     \
            }                                                                                                          \
            if (n <= room) {                                                                                           \
                for (size_t i = 0; i < n; i++)                                                                         \
                    other[next[kind##_digit(&a[i], depth)]++] = a[i];                                                  \
                memcpy(a, other, n * sizeof *a);                                                                       \
            }                                                                                                          \
            end = 0;                                                                                                   \
            for (unsigned d = next_digit(&h, 0); d < 256; d = next_digit(&h, d + 1)) {                                 \
                end += h.count[d];                                                                                     \
                while (next[d] < end) {                                                                                \
                    struct slot one = a[next[d]];                                                                      \
                    for (unsigned to; (to = kind##_digit(&one, depth)) != d;) {                                        \
                        struct slot old = a[next[to]];                                                                 \
                        a[next[to]++] = one;                                                                           \
                        one = old;                                                                                     \
                    }                                                                                                  \
                    a[next[d]++] = one;                                                                                \
                }                                                                                                      \
            }                                                                                                          \
            end = 0;                                                                                                   \
            for (unsigned d = next_digit(&h, 0); d < 256; d = next_digit(&h, d + 1)) {                                 \
                end += h.count[d];                                                                                     \
                if (h.count[d] > 1)                                                                                    \
                    sort_##kind(a + end - h.count[d], h.count[d], depth + 1, other, room, arena);                      \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        if (n > FEW) {                                                                                                 \
            qsort_r(a, n, sizeof *a, long_compare, (void *)(uintptr_t)arena);                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t i = 1; i < n; i++) {                                                                               \
            struct slot one = a[i];                                                                                    \
            size_t k = i;                                                                                              \
            for (; k > 0 && kind##_less(&one, &a[k - 1], arena); k--)                                                  \
                a[k] = a[k - 1];                                                                                       \
            a[k] = one;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Moves the slots in use together, and sorts them; what gets free is the room. Returns how many there are. */     \
    static size_t order_##kind(struct slot *a, size_t n_slots, const void *arena)                                      \
    {                                                                                                                  \
        size_t n = 0;                                                                                                  \
        for (size_t i = 0; i < n_slots; i++) {                                                                         \
            struct slot one = a[i];                                                                                    \
            bool used = kind##_begin(&one, arena);                                                                     \
            a[n] = one;                                                                                                \
            n += used;                                                                                                 \
        }                                                                                                              \
        sort_##kind(a, n, 0, a + n, n_slots - n, arena);                                                               \
        return n;                                                                                                      \
    }

SORT(tiny, tiny_slot, 12)
SORT(short, short_slot, 24)
SORT(long, long_slot, 8)

static void *order_in_thread(void *arg)
{
    struct sorted_table *s = arg;
    s->end_tiny = order_tiny(s->table->tiny, table_slots(s->table->tiny_shift), NULL);
    return NULL;
}

/* Nobody counts any more when a sum is done and put in order, so a second core is idle then: half the words go to a
 * thread, if they take longer than to start one. */
void sorted_table_init(struct sorted_table *s, struct table *t)
{
    pthread_t thread;
    *s = (struct sorted_table){.table = t};
    bool apart = t->n_tiny >= WORTH_A_THREAD && pthread_create(&thread, NULL, order_in_thread, s) == 0;
    if (!apart)
        order_in_thread(s);
    s->end_short = order_short(t->shorts, table_slots(t->short_shift), NULL);
    s->end_long = order_long(t->longs, table_slots(t->long_shift), t->arena.p);
    if (apart)
        pthread_join(thread, NULL);
}

/* Each gives the next word of one table. */

static void give_tiny(struct sorted_table *s, struct pretoken *w)
{
    const struct tiny_slot *slot = &s->table->tiny[s->n_tiny++];
    struct tiny_key *key = &s->tiny;
    *key = (struct tiny_key){htobe64(slot->head), htobe32(slot->tail)};
    *w = (struct pretoken){(const unsigned char *)key, slot->tail & 255, slot->count};
}

static void give_short(struct sorted_table *s, struct pretoken *w)
{
    const struct short_slot *slot = &s->table->shorts[s->n_short++];
    for (int i = 0; i < 3; i++)
        s->shorts[i] = htobe64(slot->key[i]);
    *w = (struct pretoken){(const unsigned char *)s->shorts, slot->key[2] & 255, slot->count};
}

static void give_long(struct sorted_table *s, struct pretoken *w)
{
    const struct long_slot *slot = &s->table->longs[s->n_long++];
    *w = (struct pretoken){s->table->arena.p + slot->at, (size_t)slot->len, slot->count};
}

/* Whether a key, of a word that is not short or of more than that, comes before the next short one (-1), is the same
 * (0), or comes behind it (1). */
static int compare_to_short(const struct sorted_table *s, uint64_t first, uint64_t second, uint64_t third)
{
    const uint64_t *key = s->table->shorts[s->n_short].key;
    if (first != key[0])
        return first < key[0] ? -1 : 1;
    if (second != key[1])
        return second < key[1] ? -1 : 1;
    return third == key[2] ? 0 : third < key[2] ? -1 : 1;
}

bool sorted_table_next(struct sorted_table *s, struct pretoken *w)
{
    const struct table *t = s->table;
    bool is_tiny = s->n_tiny < s->end_tiny, is_short = s->n_short < s->end_short, is_long = s->n_long < s->end_long;
    if (is_short && is_long) { /* a short one that is equal as far as it goes is first */
        const struct long_slot *l = &t->longs[s->n_long];
        const unsigned char *p = t->arena.p + l->at;
        is_short = compare_to_short(s, l->hash, first_bytes(p + 8), first_bytes(p + 16) | 255) > 0;
        is_long = !is_short;
    }
    if (is_tiny && is_short) {
        const struct tiny_slot *slot = &t->tiny[s->n_tiny];
        int c = compare_to_short(s, slot->head, (uint64_t)(slot->tail >> 8) << 40, slot->tail & 255);
        if (c == 0) { /* the same word: the rest of its count */
            give_short(s, w);
            uint64_t more = w->count;
            give_tiny(s, w);
            w->count += more;
            return true;
        }
        is_tiny = c < 0;
    } else if (is_tiny && is_long) { /* the same of a tiny one */
        const struct tiny_slot *slot = &t->tiny[s->n_tiny];
        const struct long_slot *l = &t->longs[s->n_long];
        is_tiny =
            slot->head != l->hash ? slot->head < l->hash : slot->tail >> 8 <= first_bytes(t->arena.p + l->at + 8) >> 40;
    }
    if (is_tiny)
        give_tiny(s, w);
    else if (is_short)
        give_short(s, w);
    else if (is_long)
        give_long(s, w);
    return is_tiny || is_short || is_long;
}
