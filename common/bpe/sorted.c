/* sorted.c - see sorted.h.
 *
 * A radix sort by the first 8 bytes, the last digit first; then what begins alike is compared, by the next 8 bytes,
 * which are at hand, too, before the words themselves are looked at. (qsort(3) on the words took 10 times as long: each
 * comparison is two cache misses and a branch that is guessed wrong every other time.) */
#include "bpe/sorted.h"

#include "sys/huge.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT = 13, DIGITS = 5, VALUES = 1 << DIGIT, FEW = 24, PATIENCE = 40 };

struct sorted_item {
    uint64_t head[2]; /* the first 16 bytes, big-endian, filled up with zeros */
    uint64_t ref;     /* what table_ref gave */
};

int word_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return c ? c : (a_len > b_len) - (a_len < b_len);
}

struct word sorted_at(const struct sorted *s, size_t i)
{
    if (i + FEW < s->n)
        table_prefetch(s->table, s->item[i + FEW].ref);
    return table_at(s->table, s->item[i].ref);
}

static inline int compare(const void *x, const void *y, void *table)
{
    const struct sorted_item *a = x, *b = y;
    for (int i = 0; i < 2; i++) {
        if (a->head[i] != b->head[i])
            return a->head[i] < b->head[i] ? -1 : 1;
    }
    struct word v = table_at(table, a->ref), w = table_at(table, b->ref);
    return word_compare(v.p, v.len, w.p, w.len);
}

/* Sorts a few. */
static void sort_few(const struct table *t, struct sorted_item *item, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sorted_item one = item[i];
        size_t k = i;
        for (; k > 0 && compare(&one, &item[k - 1], (void *)(uintptr_t)t) < 0; k--)
            item[k] = item[k - 1];
        item[k] = one;
    }
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Sorts words that begin with the same 8 bytes: by parting them by the next 8 (quicksort, three ways), as long as that
 * halves them often enough. */
static void sort_alike(const struct table *t, struct sorted_item *item, size_t n, int patience)
{
    while (n > FEW && patience-- > 0) {
        uint64_t pivot = middle(item[0].head[1], item[n / 2].head[1], item[n - 1].head[1]);
        size_t less = 0, more = n;
        for (size_t i = 0; i < more;) {
            struct sorted_item one = item[i];
            if (one.head[1] < pivot) {
                item[i++] = item[less];
                item[less++] = one;
            } else if (one.head[1] > pivot) {
                item[i] = item[--more];
                item[more] = one;
            } else {
                i++;
            }
        }
        sort_alike(t, item, less, patience);
        if (more - less > 1)
            qsort_r(item + less, more - less, sizeof *item, compare, (void *)(uintptr_t)t);
        item += more;
        n -= more;
    }
    if (n > FEW)
        qsort_r(item, n, sizeof *item, compare, (void *)(uintptr_t)t);
    else
        sort_few(t, item, n);
}

static size_t digit_of(const struct sorted_item *item, int digit)
{
    return item->head[0] >> digit * DIGIT & (VALUES - 1);
}

/* Sorts by the first head, from one array to the other and back. Returns the one where they are in the end. */
static struct sorted_item *sort_heads(struct sorted_item *item, struct sorted_item *other, size_t n)
{
    static size_t count[DIGITS][VALUES];
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        for (int digit = 0; digit < DIGITS; digit++)
            count[digit][digit_of(&item[i], digit)]++;
    }
    for (int digit = 0; digit < DIGITS; digit++) {
        size_t *at = count[digit], sum = 0;
        if (at[digit_of(&item[0], digit)] == n)
            continue;
        for (size_t v = 0; v < VALUES; v++) {
            size_t here = at[v];
            at[v] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            other[at[digit_of(&item[i], digit)]++] = item[i];
        struct sorted_item *t = item;
        item = other;
        other = t;
    }
    return item;
}

/* Puts all words down as they come in the table. */
static size_t put_items(const struct table *t, struct sorted_item *item)
{
    const uint64_t last = (uint64_t)0xFF << TINY_LEN_SHIFT;
    size_t shorts = table_first_short(t), longs = table_first_long(t), n = 0, pos = longs;
    for (size_t i = 0; i < shorts; i++) {
        item[n] = (struct sorted_item){{be64toh(t->tiny[i].key & ~last), 0}, i};
        n += t->tiny[i].key != 0;
    }
    for (size_t i = shorts; i < longs; i++) {
        const struct short_slot *s = &t->shorts[i - shorts];
        item[n] = (struct sorted_item){{be64toh(s->key[0]), be64toh(s->key[1])}, i};
        n += s->count != 0;
    }
    struct word w;
    for (uint64_t ref; table_next(t, &pos, &w, &ref); n++) {
        uint64_t head[2];
        memcpy(head, w.p, sizeof head);
        item[n] = (struct sorted_item){{be64toh(head[0]), be64toh(head[1])}, ref};
    }
    return n;
}

int sorted_init(struct sorted *s, const struct table *t, struct err *e)
{
    size_t n = table_n(t), size = (n + 1) * sizeof(struct sorted_item);
    *s = (struct sorted){.table = t};
    struct sorted_item *item = huge_alloc(size), *other = huge_alloc(size);
    if (!item || !other) {
        free(item);
        free(other);
        return err_mem(e, "sorting the counts", 2 * (unsigned long long)size);
    }
    s->n = put_items(t, item);
    if (s->n) {
        s->item = sort_heads(item, other, n);
        free(s->item == item ? other : item);
    } else {
        s->item = item;
        free(other);
    }
    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i + 1; end < s->n && s->item[end].head[0] == s->item[i].head[0]; end++)
            ;
        if (end - i > 1)
            sort_alike(t, s->item + i, end - i, PATIENCE);
    }
    return 0;
}

void sorted_free(struct sorted *s)
{
    free(s->item);
    *s = (struct sorted){0};
}
