/* train_pretokens.c - see train_pretokens.h. Pretokens are stored as pretoken.h encodes them. */
#include "train/train_pretokens.h"

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_MIN = 1 << 16, /* bytes of the first chunk; each further one is twice as large, up to CHUNK_MAX */
    CHUNK_MAX = 1 << 21,
    SMALL = 1 << 12,  /* classes of smaller counts are looked up in a table, the few others by search */
    ATTEMPTS_MAX = 4, /* see train_pretokens_bound */
};

struct train_pretokens_chunk {
    struct train_pretokens_chunk *next;
    size_t len, cap; /* cap: of bytes[] */
    unsigned char bytes[];
};

/* Ensures that the last chunk has room for one more pretoken of this many bytes. */
static int reserve(struct train_pretokens *all, size_t len, struct err *e)
{
    size_t need = len + 2 * VARINT_MAX, header = sizeof(struct train_pretokens_chunk), size = CHUNK_MIN;
    if (all->last) {
        if (all->last->cap - all->last->len >= need)
            return 0;
        size = 2 * (all->last->cap + header);
    }
    size = size < CHUNK_MAX ? size : CHUNK_MAX;
    if (size - header < need)
        size = header + need;
    struct train_pretokens_chunk *new = malloc(size);
    if (!new)
        return err_mem(e, "the pretokens", size);
    new->next = NULL;
    new->len = 0;
    new->cap = size - header;
    if (all->last)
        all->last->next = new;
    else
        all->first = new;
    all->last = new;
    return 0;
}

/* Counts a pretoken in its class. Until train_pretokens_classify, each pretoken with a large count has its own class.
 */
static int put_class(struct train_pretokens *all, uint64_t count, uint64_t slots, struct err *e)
{
    if (!all->small && !(all->small = calloc(SMALL, sizeof *all->small)))
        return err_mem(e, "the counts of pretokens", SMALL * sizeof *all->small);
    size_t i = count < SMALL ? all->small[count] : 0;
    if (i == 0) {
        if (array_grow(&all->class, &all->class_cap, all->n_class + 1, sizeof *all->class, "the counts of pretokens",
                       e))
            return -1;
        all->class[all->n_class++] = (struct train_pretokens_class){.count = count};
        i = all->n_class;
        if (count < SMALL)
            all->small[count] = i;
    }
    all->class[i - 1].n++;
    all->class[i - 1].slots += slots + 1;
    return 0;
}

static int sum_too_large(struct err *e)
{
    return err_set(e, EX_DATAERR, "the counts of all pretokens add up to more than 2^64-1");
}

int train_pretokens_add_symbols(struct train_pretokens *all, const unsigned char *p, size_t len, size_t n,
                                uint64_t slots, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(all->total, count, &all->total))
        return sum_too_large(e);
    if (n < 2)
        return 0;
    if (slots > TRAIN_LEN_MAX)
        return err_set(e, EX_DATAERR,
                       "a pretoken has %llu bytes, and at most %lu can be merged: count with a pattern that splits it",
                       (unsigned long long)slots, (unsigned long)TRAIN_LEN_MAX);
    if (reserve(all, len, e) || put_class(all, count, slots, e))
        return -1;
    unsigned char *to = all->last->bytes + all->last->len;
    all->last->len = (size_t)(pretoken_put(to, &(struct pretoken){p, len, count}) - all->last->bytes);
    all->n++;
    all->slots = (all->n > 1 ? all->slots : 1) + slots + 1;
    all->pairs += n - 1;
    return 0;
}

int train_pretokens_add(struct train_pretokens *all, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    return train_pretokens_add_symbols(all, p, len, len, len, count, e);
}

bool train_pretokens_next(const struct train_pretokens *all, struct train_pretokens_cursor *c, struct pretoken *w)
{
    if (cursor_left(&c->in) == 0) {
        c->chunk = c->chunk ? c->chunk->next : all->first;
        if (!c->chunk)
            return false;
        c->in = cursor_over(c->chunk->bytes, c->chunk->len);
    }
    *w = pretoken_get(&c->in);
    return true;
}

int train_pretokens_scale(struct train_pretokens *all, uint64_t by, struct err *e)
{
    struct train_pretokens scaled = {0};
    struct train_pretokens_cursor c = {0};
    struct pretoken w;
    uint64_t total;
    if (__builtin_mul_overflow(all->total, by, &total))
        return sum_too_large(e);
    int rc = 0;
    while (rc == 0 && train_pretokens_next(all, &c, &w))
        rc = train_pretokens_add(&scaled, w.p, w.len, w.count * by, e);
    scaled.total = total; /* with the pretokens that have no pair */
    if (rc == 0) {
        const struct train_pretokens old = *all;
        *all = scaled;
        scaled = old;
    }
    train_pretokens_free(&scaled);
    return rc;
}

static int greater_first(const void *x, const void *y)
{
    const struct train_pretokens_class *a = x, *b = y;
    return (a->count < b->count) - (a->count > b->count);
}

void train_pretokens_classify(struct train_pretokens *all)
{
    size_t n = 0;
    if (all->n_class)
        qsort(all->class, all->n_class, sizeof *all->class, greater_first);
    for (size_t i = 0; i < all->n_class; i++) {
        struct train_pretokens_class *c = &all->class[i];
        if (n && all->class[n - 1].count == c->count) {
            all->class[n - 1].n += c->n;
            all->class[n - 1].slots += c->slots;
        } else {
            all->class[n++] = *c;
        }
        if (c->count < SMALL)
            all->small[c->count] = n;
    }
    all->n_class = n;
}

struct train_pretokens_class *train_pretokens_class_of(const struct train_pretokens *all, uint64_t count)
{
    if (count < SMALL)
        return &all->class[all->small[count] - 1];
    size_t low = 0, high = all->n_class;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (all->class[mid].count >= count)
            low = mid;
        else
            high = mid;
    }
    return &all->class[low];
}

/* Which tokens may be made. */
struct allowed {
    uint64_t max_len;
    const struct train_limits *limits;
};

/* Whether two neighbors of a pretoken's tokens may be merged, as long as it has several. */
static bool qualifies(const struct pretoken *w, const struct allowed *a)
{
    return (!a->max_len || w->len <= 2 || w->len < a->max_len) &&
           (!a->limits || train_limits_text(a->limits, (struct str){w->p, w->len}));
}

/* The number of pretokens of each class that qualify. NULL: out of memory. */
static uint64_t *count_qualified(const struct train_pretokens *all, const struct allowed *a)
{
    const bool some = a->max_len || a->limits;
    uint64_t *n = calloc(all->n_class, sizeof *n);
    struct train_pretokens_cursor c = {0};
    struct pretoken w;
    for (size_t i = 0; n && i < all->n_class; i++)
        n[i] = some ? 0 : all->class[i].n;
    while (n && some && train_pretokens_next(all, &c, &w))
        n[train_pretokens_class_of(all, w.count) - all->class] += qualifies(&w, a);
    return n;
}

/* The number of distinct pretokens that qualify and have a count of at least `min`; counting stops at `max`. table has
 * cap slots, a power of two above `max`. */
static uint64_t count_distinct(const struct train_pretokens *all, uint64_t min, const struct allowed *a, uint64_t max,
                               uint64_t *table, size_t cap)
{
    struct train_pretokens_cursor c = {0};
    struct pretoken w;
    uint64_t n = 0;
    memset(table, 0, cap * sizeof *table);
    while (n < max && train_pretokens_next(all, &c, &w)) {
        if (w.count < min || !qualifies(&w, a))
            continue;
        uint64_t h = hash_bytes(w.p, w.len, hash_secret()) | 1;
        size_t at = (size_t)(h >> 1) & (cap - 1);
        while (table[at] && table[at] != h)
            at = (at + 1) & (cap - 1);
        n += table[at] == 0;
        table[at] = h;
    }
    return n;
}

/* The bound: let T be the count of the n-th most frequent distinct pretoken that qualifies. A pretoken is complete when
 * it is one token; its string is then that of a token, and each merge makes one string. So before the k-th merge, k <=
 * n, at most n - 1 of the n pretokens are complete. One that is not complete has two tokens or more, and since it
 * qualifies, it contains a pair that may be merged. (With max_len: any pair, since together they are not longer than
 * the pretoken. With limits: one that is found as in train_limits_text. With both: the latter, for the reason of the
 * former.) The pair occurs at least as often as the pretoken, T times or more. This holds for every tie rule, and for
 * any T that n distinct pretokens reach.
 *
 * The proof needs distinct pretokens (one merge would complete both copies of a pretoken that was added twice). So
 * distinct hashes are counted; if two hashes collide, T is lower and still a bound. Usually all pretokens are distinct
 * and the first attempt succeeds; after ATTEMPTS_MAX attempts the bound is 1. */
int train_pretokens_bound(const struct train_pretokens *all, uint64_t n, uint64_t max_len,
                          const struct train_limits *limits, uint64_t *bound, struct err *e)
{
    const struct allowed allowed = {max_len, limits};
    *bound = 1;
    if (n == 0 || n > all->n)
        return 0;
    size_t cap = 16;
    while (cap < 2 * n)
        cap *= 2;
    uint64_t *qualified = count_qualified(all, &allowed), *table = malloc(cap * sizeof *table);
    if (!qualified || !table) {
        free(qualified);
        free(table);
        return err_mem(e, "the most frequent pretokens", cap * sizeof *table);
    }
    uint64_t want = n, have = 0;
    for (size_t attempt = 0, i = 0; attempt < ATTEMPTS_MAX; attempt++) {
        while (i < all->n_class && have < want)
            have += qualified[i++];
        if (have < want)
            break;
        uint64_t distinct = count_distinct(all, all->class[i - 1].count, &allowed, n, table, cap);
        if (distinct == n) {
            *bound = all->class[i - 1].count;
            break;
        }
        want = have + n - distinct;
    }
    free(qualified);
    free(table);
    return 0;
}

void *train_pretokens_take(struct train_pretokens *all, size_t *size)
{
    struct train_pretokens_chunk *c = all->first;
    if (c) {
        *size = sizeof *c + c->cap;
        all->first = c->next;
    }
    return c;
}

void train_pretokens_free(struct train_pretokens *all)
{
    void *p;
    for (size_t size; (p = train_pretokens_take(all, &size));)
        free(p);
    free(all->class);
    free(all->small);
    *all = (struct train_pretokens){0};
}
