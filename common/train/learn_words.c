/* learn_words.c - see learn_words.h. A word is stored as two varints, its count and its length, then its bytes. */
#include "train/learn_words.h"

#include "sys/buf.h"
#include "sys/bytes.h"
#include "sys/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_MIN = 1 << 16, /* bytes of the first chunk; each further one has twice as many, up to */
    CHUNK_MAX = 1 << 21,
    SMALL = 1 << 12,   /* counts below have their class looked up in a table, the few others by search */
    MOST_ATTEMPTS = 4, /* see learn_words_bound */
};

struct learn_words_chunk {
    struct learn_words_chunk *next;
    size_t len, cap; /* cap: of bytes[] */
    unsigned char bytes[];
};

/* Room for one more word of this many bytes, in the last chunk. */
static int reserve(struct learn_words *ws, size_t len, struct err *e)
{
    size_t need = len + 2 * VARINT_MAX, header = sizeof(struct learn_words_chunk), size = CHUNK_MIN;
    if (ws->last) {
        if (ws->last->cap - ws->last->len >= need)
            return 0;
        size = 2 * (ws->last->cap + header);
    }
    size = size < CHUNK_MAX ? size : CHUNK_MAX;
    if (size - header < need)
        size = header + need;
    struct learn_words_chunk *new = malloc(size);
    if (!new)
        return err_mem(e, "the pretokens", size);
    new->next = NULL;
    new->len = 0;
    new->cap = size - header;
    if (ws->last)
        ws->last->next = new;
    else
        ws->first = new;
    ws->last = new;
    return 0;
}

/* Counts a word in its class. Large counts have a class for every word until learn_words_classify. */
static int put_class(struct learn_words *ws, uint64_t count, size_t len, struct err *e)
{
    if (!ws->small && !(ws->small = calloc(SMALL, sizeof *ws->small)))
        return err_mem(e, "the counts of pretokens", SMALL * sizeof *ws->small);
    size_t i = count < SMALL ? ws->small[count] : 0;
    if (i == 0) {
        if (array_grow(&ws->class, &ws->class_cap, ws->n_class + 1, sizeof *ws->class, "the counts of pretokens", e))
            return -1;
        ws->class[ws->n_class++] = (struct learn_words_class){.count = count};
        i = ws->n_class;
        if (count < SMALL)
            ws->small[count] = i;
    }
    ws->class[i - 1].n++;
    ws->class[i - 1].slots += len + 1;
    return 0;
}

int learn_words_add(struct learn_words *ws, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(ws->total, count, &ws->total))
        return err_set(e, EX_DATAERR, "the counts of all pretokens add up to more than 2^64-1");
    if (len < 2)
        return 0;
    uint64_t slots = ws->n ? ws->slots : 1;
    if (len >= LEARN_WORDS_MAX_SLOTS - slots)
        return err_set(e, EX_DATAERR,
                       "the distinct pretokens have more than %lu bytes (and one for each), the most that can be "
                       "merged: leave out "
                       "rare ones, or count with a pattern that splits long ones",
                       (unsigned long)LEARN_WORDS_MAX_SLOTS);
    if (reserve(ws, len, e) || put_class(ws, count, len, e))
        return -1;
    unsigned char *to = ws->last->bytes + ws->last->len;
    to += varint_put(to, count);
    to += varint_put(to, len);
    memcpy(to, p, len);
    ws->last->len = (size_t)(to + len - ws->last->bytes);
    ws->n++;
    ws->slots = slots + len + 1;
    ws->pairs += len - 1;
    return 0;
}

/* A varint that was put here, so it is well formed. */
static uint64_t take_varint(const unsigned char **p)
{
    uint64_t v = *(*p)++;
    if (v < 0x80)
        return v;
    v &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        unsigned char b = *(*p)++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
}

bool learn_words_next(const struct learn_words *ws, struct learn_words_cursor *c, struct pretoken *w)
{
    if (!c->chunk)
        c->chunk = ws->first;
    else if (c->at == c->chunk->len) {
        c->chunk = c->chunk->next;
        c->at = 0;
    }
    if (!c->chunk)
        return false;
    const unsigned char *p = c->chunk->bytes + c->at;
    w->count = take_varint(&p);
    w->len = (size_t)take_varint(&p);
    w->p = p;
    c->at = (size_t)(p + w->len - c->chunk->bytes);
    return true;
}

static int greater_first(const void *x, const void *y)
{
    const struct learn_words_class *a = x, *b = y;
    return (a->count < b->count) - (a->count > b->count);
}

void learn_words_classify(struct learn_words *ws)
{
    size_t n = 0;
    if (ws->n_class)
        qsort(ws->class, ws->n_class, sizeof *ws->class, greater_first);
    for (size_t i = 0; i < ws->n_class; i++) {
        struct learn_words_class *c = &ws->class[i];
        if (n && ws->class[n - 1].count == c->count) {
            ws->class[n - 1].n += c->n;
            ws->class[n - 1].slots += c->slots;
        } else {
            ws->class[n++] = *c;
        }
        if (c->count < SMALL)
            ws->small[c->count] = n;
    }
    ws->n_class = n;
}

struct learn_words_class *learn_words_class_of(const struct learn_words *ws, uint64_t count)
{
    if (count < SMALL)
        return &ws->class[ws->small[count] - 1];
    size_t low = 0, high = ws->n_class;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (ws->class[mid].count >= count)
            low = mid;
        else
            high = mid;
    }
    return &ws->class[low];
}

static bool qualifies(const struct pretoken *w, uint64_t max_len)
{
    return !max_len || w->len <= 2 || w->len < max_len;
}

/* How many words of each class qualify. NULL: memory is short. */
static uint64_t *count_qualified(const struct learn_words *ws, uint64_t max_len)
{
    uint64_t *n = calloc(ws->n_class, sizeof *n);
    struct learn_words_cursor c = {0};
    struct pretoken w;
    for (size_t i = 0; n && i < ws->n_class; i++)
        n[i] = max_len ? 0 : ws->class[i].n;
    while (n && max_len && learn_words_next(ws, &c, &w))
        n[learn_words_class_of(ws, w.count) - ws->class] += qualifies(&w, max_len);
    return n;
}

/* How many distinct words qualify and count at least `least`; not more than `most` are counted. table has cap slots, a
 * power of two above most. */
static uint64_t count_distinct(const struct learn_words *ws, uint64_t least, uint64_t max_len, uint64_t most,
                               uint64_t *table, size_t cap)
{
    struct learn_words_cursor c = {0};
    struct pretoken w;
    uint64_t n = 0;
    memset(table, 0, cap * sizeof *table);
    while (n < most && learn_words_next(ws, &c, &w)) {
        if (w.count < least || !qualifies(&w, max_len))
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

/* The bound: let T be the count of the n-th most frequent distinct word that qualifies. A word is complete when it is
 * one token; its string is then that of a token, and a merge makes one string. So before the k-th merge, k <= n, at
 * most n - 1 of the n words are complete. Another one is still two tokens or more, hence holds a pair; the pair occurs
 * at least as often as the word, T times or more, and it may be merged, as it lies inside a word that qualifies. This
 * holds whatever breaks ties, and for any T that n distinct words reach.
 *
 * It needs distinct words (the same one added twice completes twice with one merge): their hashes are counted; should
 * two hashes collide, T is lower, and still a bound. As a rule the words are distinct and the first attempt succeeds;
 * after some, 1 is as good a bound as any. */
int learn_words_bound(const struct learn_words *ws, uint64_t n, uint64_t max_len, uint64_t *bound, struct err *e)
{
    *bound = 1;
    if (n == 0 || n > ws->n)
        return 0;
    size_t cap = 16;
    while (cap < 2 * n)
        cap *= 2;
    uint64_t *qualified = count_qualified(ws, max_len), *table = malloc(cap * sizeof *table);
    if (!qualified || !table) {
        free(qualified);
        free(table);
        return err_mem(e, "the most frequent pretokens", cap * sizeof *table);
    }
    uint64_t want = n, have = 0;
    for (size_t attempt = 0, i = 0; attempt < MOST_ATTEMPTS; attempt++) {
        while (i < ws->n_class && have < want)
            have += qualified[i++];
        if (have < want)
            break;
        uint64_t distinct = count_distinct(ws, ws->class[i - 1].count, max_len, n, table, cap);
        if (distinct == n) {
            *bound = ws->class[i - 1].count;
            break;
        }
        want = have + n - distinct;
    }
    free(qualified);
    free(table);
    return 0;
}

void *learn_words_take(struct learn_words *ws, size_t *size)
{
    struct learn_words_chunk *c = ws->first;
    if (c) {
        *size = sizeof *c + c->cap;
        ws->first = c->next;
    }
    return c;
}

void learn_words_free(struct learn_words *ws)
{
    void *p;
    for (size_t size; (p = learn_words_take(ws, &size));)
        free(p);
    free(ws->class);
    free(ws->small);
    *ws = (struct learn_words){0};
}
