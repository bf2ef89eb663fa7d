/* sorted_table.c - see sorted_table.h.
 *
 * The slots in use are moved together, and their keys are converted to numbers that compare as the bytes do. Then each
 * of the three tables is sorted by a radix sort, first byte first (McIlroy, Bostic and McIlroy, "Engineering radix
 * sort", 1993): the unused slots serve as the second array if there are enough; otherwise it is sorted in place by
 * their "American flag" sort. The three sorted tables are merged as they are read. */
#include "count/sorted_table.h"

#include "base/sys/bytes.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 32,                 /* up to this many slots are sorted by insertion */
    WORTH_A_THREAD = 1 << 12, /* pretokens for which sorting takes longer than starting a thread */
    THREAD_STACK = 256 << 10, /* of which sort_key12 takes 50 KiB */
};

/* The differences between the tables: `begin` converts the key of a slot to a number and returns whether the slot is in
 * use; `digit` is the n-th byte of a key; `less` is the order of two slots. arena: the bytes of long pretokens. */

static inline bool key12_begin(struct slot12 *s, const void *arena)
{
    (void)arena;
    *s = (struct slot12){be64toh(s->head), be32toh(s->tail), s->count};
    return s->tail != 0;
}

static inline unsigned key12_digit(const struct slot12 *s, unsigned n)
{
    return (unsigned)(n < 8 ? s->head >> (56 - 8 * n) & 255 : s->tail >> (88 - 8 * n) & 255);
}

static inline bool key12_less(const struct slot12 *a, const struct slot12 *b, const void *arena)
{
    (void)arena;
    return a->head != b->head ? a->head < b->head : a->tail < b->tail;
}

static inline bool key24_begin(struct slot24 *s, const void *arena)
{
    (void)arena;
    *s = (struct slot24){{be64toh(s->key[0]), be64toh(s->key[1]), be64toh(s->key[2])}, s->count};
    return s->count != 0;
}

static inline unsigned key24_digit(const struct slot24 *s, unsigned n)
{
    return s->key[n / 8] >> (56 - 8 * (n % 8)) & 255;
}

static inline bool key24_less(const struct slot24 *a, const struct slot24 *b, const void *arena)
{
    (void)arena;
    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0];
    return a->key[1] != b->key[1] ? a->key[1] < b->key[1] : a->key[2] < b->key[2];
}

/* In the slot of a long pretoken, its first 8 bytes replace the hash. */
static inline bool long_begin(struct slot_long *s, const void *arena)
{
    if (!s->count)
        return false;
    s->hash = load_u64be((const unsigned char *)arena + s->at);
    return true;
}

static inline unsigned long_digit(const struct slot_long *s, unsigned n)
{
    return s->hash >> (56 - 8 * n) & 255;
}

static int long_compare(const void *x, const void *y, void *arena)
{
    const struct slot_long *a = x, *b = y;
    const unsigned char *p = arena;
    return str_compare((struct str){p + a->at, (size_t)a->len}, (struct str){p + b->at, (size_t)b->len});
}

static inline bool long_less(const struct slot_long *a, const struct slot_long *b, const void *arena)
{
    return a->hash != b->hash ? a->hash < b->hash : long_compare(a, b, (void *)(uintptr_t)arena) < 0;
}

/* Which digits occur among some slots, as bits, and how often each does. */
struct histogram {
    uint64_t used[4];
    size_t count[256];
};

/* The smallest digit from d on that occurs; 256 if none does. */
static inline unsigned next_digit(const struct histogram *h, unsigned d)
{
    for (unsigned i = d / 64; i < 4; i++) {
        uint64_t left = h->used[i] & ~(uint64_t)0 << (i == d / 64 ? d % 64 : 0);
        if (left)
            return 64 * i + (unsigned)__builtin_ctzll(left);
    }
    return 256;
}

/* Sorts a[0 .. n), whose keys are equal up to digit `depth`. Only long pretokens can be equal in all `digits`. If
 * other[0 .. room) is large enough, the items are moved there and back, so that no move has to wait for the one
 * before. */
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
    /* Moves the slots in use to the front and sorts them, with the unused ones as room. Returns the number in use. */ \
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

SORT(key12, slot12, 12)
SORT(key24, slot24, 24)
SORT(long, slot_long, 8)

static void *order_in_thread(void *arg)
{
    struct sorted_table *s = arg;
    s->end12 = order_key12(s->table->slots12, table_slots(s->table->shift12), NULL);
    return NULL;
}

/* The size of its stack is fixed, whatever the stack limit of the process. */
static bool start_thread(pthread_t *thread, struct sorted_table *s)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return false;
    bool started =
        pthread_attr_setstacksize(&attr, THREAD_STACK) == 0 && pthread_create(thread, &attr, order_in_thread, s) == 0;
    pthread_attr_destroy(&attr);
    return started;
}

/* A sum is sorted after counting, when a second core is idle, so a thread sorts slots12, which is about half of the
 * work. */
void sorted_table_init(struct sorted_table *s, struct table *t)
{
    pthread_t thread;
    *s = (struct sorted_table){.table = t};
    bool apart = t->n12 >= WORTH_A_THREAD && start_thread(&thread, s);
    if (!apart)
        order_in_thread(s);
    s->end24 = order_key24(t->slots24, table_slots(t->shift24), NULL);
    s->end_long = order_long(t->slots_long, table_slots(t->shift_long), t->arena.p);
    if (apart)
        pthread_join(thread, NULL);
}

/* Each returns the next pretoken of one table. */

static void give12(struct sorted_table *s, struct pretoken *w)
{
    const struct slot12 *slot = &s->table->slots12[s->n12++];
    struct key12 *key = &s->bytes12;
    *key = (struct key12){htobe64(slot->head), htobe32(slot->tail)};
    *w = (struct pretoken){(const unsigned char *)key, slot->tail & 255, slot->count};
}

static void give24(struct sorted_table *s, struct pretoken *w)
{
    const struct slot24 *slot = &s->table->slots24[s->n24++];
    for (int i = 0; i < 3; i++)
        s->bytes24[i] = htobe64(slot->key[i]);
    *w = (struct pretoken){(const unsigned char *)s->bytes24, slot->key[2] & 255, slot->count};
}

static void give_long(struct sorted_table *s, struct pretoken *w)
{
    const struct slot_long *slot = &s->table->slots_long[s->n_long++];
    *w = (struct pretoken){s->table->arena.p + slot->at, (size_t)slot->len, slot->count};
}

/* Compares 24 bytes, as three numbers, with the next key of slots24: -1 if they come before it, 0 if they are the same,
 * 1 if they come after it. */
static int compare_to_key24(const struct sorted_table *s, uint64_t first, uint64_t second, uint64_t third)
{
    const uint64_t *key = s->table->slots24[s->n24].key;
    if (first != key[0])
        return first < key[0] ? -1 : 1;
    if (second != key[1])
        return second < key[1] ? -1 : 1;
    return third == key[2] ? 0 : third < key[2] ? -1 : 1;
}

bool sorted_table_next(struct sorted_table *s, struct pretoken *w)
{
    const struct table *t = s->table;
    bool is12 = s->n12 < s->end12, is24 = s->n24 < s->end24, is_long = s->n_long < s->end_long;
    if (is24 && is_long) { /* if one is a prefix of the other, the shorter one comes first */
        const struct slot_long *l = &t->slots_long[s->n_long];
        const unsigned char *p = t->arena.p + l->at;
        is24 = compare_to_key24(s, l->hash, load_u64be(p + 8), load_u64be(p + 16) | 255) > 0;
        is_long = !is24;
    }
    if (is12 && is24) {
        const struct slot12 *slot = &t->slots12[s->n12];
        int c = compare_to_key24(s, slot->head, (uint64_t)(slot->tail >> 8) << 40, slot->tail & 255);
        if (c == 0) { /* the same pretoken: adds the carried part of its count */
            give24(s, w);
            uint64_t more = w->count;
            give12(s, w);
            w->count += more;
            return true;
        }
        is12 = c < 0;
    } else if (is12 && is_long) {
        const struct slot12 *slot = &t->slots12[s->n12];
        const struct slot_long *l = &t->slots_long[s->n_long];
        is12 =
            slot->head != l->hash ? slot->head < l->hash : slot->tail >> 8 <= load_u64be(t->arena.p + l->at + 8) >> 40;
    }
    if (is12)
        give12(s, w);
    else if (is24)
        give24(s, w);
    else if (is_long)
        give_long(s, w);
    return is12 || is24 || is_long;
}
