/* encode_long.c - see encode_long.h.
 *
 * Each rank has a bucket of the positions where a pair of that rank was seen. A heap gives the lowest rank whose bucket
 * is not empty; its bucket is sorted once and processed from left to right. A position is checked again when it is
 * processed, because the pair may be gone by then.
 *
 * A merge makes two new pairs, which usually have a higher rank. If one has a lower rank (which some models allow), its
 * bucket interrupts the current one. If a position is added to the bucket that is being processed, the bucket becomes a
 * heap.
 *
 * The symbols are in one array with an item for each byte: the id of a symbol is where it begins and, marked, where it
 * ends. So the lengths of tokens give its neighbors, as in train/train_merge.c.
 */
#include "encode/encode_long.h"

#include "base/sys/buf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define END ((uint32_t)1 << 31) /* marks the last byte of a symbol of several bytes; alone: inside a symbol */

struct bucket {
    uint32_t *at; /* positions: at[from .. n) */
    size_t from, n, cap;
    bool unsorted; /* not being processed yet, not sorted */
    bool heap;     /* at[0 .. n) is a heap, and from is 0 */
    bool active;   /* its rank is in the heap of ranks */
    bool begun;    /* the bucket is being processed */
};

/* ---- Heaps of numbers, the smallest first ---- */

static void sift_up(uint32_t *heap, size_t i)
{
    uint32_t x = heap[i];
    for (; i > 0 && heap[(i - 1) / 2] > x; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static uint32_t heap_pop(uint32_t *heap, size_t *n)
{
    uint32_t min = heap[0], x = heap[--*n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < *n; i = child) {
        child += child + 1 < *n && heap[child + 1] < heap[child];
        if (heap[child] >= x)
            break;
        heap[i] = heap[child];
    }
    heap[i] = x;
    return min;
}

/* ---- Buckets ---- */

/* A radix sort by the lowest 11 bits, then the next 11, then the rest. */
static int sort(uint32_t *at, size_t n, struct err *e)
{
    if (n < 64) {
        for (size_t i = 1; i < n; i++) {
            uint32_t x = at[i];
            size_t k = i;
            for (; k > 0 && at[k - 1] > x; k--)
                at[k] = at[k - 1];
            at[k] = x;
        }
        return 0;
    }
    uint32_t *other = malloc(n * sizeof *other), *from = at, *to = other;
    if (!other)
        return err_mem(e, "a long pretoken", n * sizeof *other);
    for (unsigned shift = 0; shift < 32; shift += 11) {
        size_t first[(1 << 11) + 1] = {0};
        for (size_t i = 0; i < n; i++)
            first[(from[i] >> shift & 0x7FF) + 1]++;
        for (size_t d = 0; d < 1 << 11; d++)
            first[d + 1] += first[d];
        for (size_t i = 0; i < n; i++)
            to[first[from[i] >> shift & 0x7FF]++] = from[i];
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    memcpy(at, from, n * sizeof *at); /* after three rounds the result is in `other` */
    free(other);
    return 0;
}

static int activate(struct long_encoder *l, uint32_t rank, struct err *e)
{
    if (array_grow(&l->active, &l->cap_active, l->n_active + 1, sizeof *l->active, "a long pretoken", e))
        return -1;
    l->active[l->n_active++] = rank;
    sift_up(l->active, l->n_active - 1);
    l->bucket[rank].active = true;
    return 0;
}

static int bucket_put(struct long_encoder *l, uint32_t rank, uint32_t at, struct err *e)
{
    struct bucket *b = &l->bucket[rank];
    if (array_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at, "a long pretoken", e))
        return -1;
    bool in_order = b->n == b->from || b->at[b->n - 1] <= at;
    if (b->begun && !b->heap && !in_order) { /* the rest is sorted, so it is already a heap */
        b->n -= b->from;
        memmove(b->at, b->at + b->from, b->n * sizeof *b->at);
        b->from = 0;
        b->heap = true;
    }
    b->at[b->n++] = at;
    if (b->heap)
        sift_up(b->at, b->n - 1);
    else if (!in_order)
        b->unsorted = true;
    return b->active ? 0 : activate(l, rank, e);
}

static void bucket_clear(struct bucket *b)
{
    enum { KEEP = 64 }; /* maximum number of positions for which an empty bucket keeps memory */
    uint32_t *at = b->at;
    size_t cap = b->cap;
    if (cap > KEEP) {
        free(at);
        at = NULL;
        cap = 0;
    }
    *b = (struct bucket){.at = at, .cap = cap};
}

/* ---- Symbols ---- */

struct symbols {
    uint32_t *sym; /* see the top of this file */
    size_t n;
};

/* Allocates the tables for the first long pretoken. */
static int prepare(struct long_encoder *l, struct err *e)
{
    const struct model *m = l->merges->model;
    if (l->bucket)
        return 0;
    const size_t n_ranks = l->merges->n_ranks;
    l->len = malloc(((size_t)m->n_ids + 1) * sizeof *l->len);
    l->bucket = calloc(n_ranks + 1, sizeof *l->bucket);
    if (!l->len || !l->bucket) {
        free(l->len);
        free(l->bucket);
        l->len = NULL;
        l->bucket = NULL;
        return err_mem(e, "the ranks", (n_ranks + 1) * sizeof *l->bucket);
    }
    l->n_ranks = n_ranks;
    for (size_t i = 0; i < m->n_ids; i++)
        l->len[i] = m->token[i].len;
    return 0;
}

/* Adds `at` to the bucket of the pair at this position, if the pair merges. */
static int see_pair(struct long_encoder *l, uint32_t left, uint32_t right, size_t at, struct err *e)
{
    uint32_t rank = merge_lookup_rank_from(l->merges, l->first, left, right);
    return rank == NO_MERGE ? 0 : bucket_put(l, rank, (uint32_t)at, e);
}

/* Merges the pair of this rank at position `at`, if it is still there. */
static int merge_at(struct long_encoder *l, const struct symbols *s, uint32_t rank, size_t at, struct err *e)
{
    const struct merge_lookup *m = l->merges;
    uint32_t *sym = s->sym, left = sym[at], result = merge_lookup_result(m, rank);
    if (left & END)
        return 0;
    size_t middle = at + l->len[left];
    if (middle == s->n)
        return 0;
    uint32_t right = sym[middle];
    /* Without a list of merges, the lengths show whether it is the same pair, since the bytes from here on are
     * unchanged. */
    if (m->merge ? left != m->merge[rank].left || right != m->merge[rank].right
                 : l->len[left] + l->len[right] != l->len[result])
        return 0;
    size_t end = middle + l->len[right];
    sym[middle] = END;
    sym[at] = result;
    sym[end - 1] = result | END;
    if (at > 0) {
        uint32_t before = sym[at - 1] & ~END;
        if (see_pair(l, before, result, at - l->len[before], e))
            return -1;
    }
    return end < s->n ? see_pair(l, result, sym[end], at, e) : 0;
}

/* Processes the bucket of a rank, until it is empty or a lower rank becomes active. */
static int merge_rank(struct long_encoder *l, const struct symbols *s, uint32_t rank, struct err *e)
{
    struct bucket *b = &l->bucket[rank];
    b->active = false;
    if (b->unsorted && sort(b->at + b->from, b->n - b->from, e))
        return -1;
    b->unsorted = false;
    b->begun = true;
    while (b->from < b->n) {
        size_t at = b->heap ? heap_pop(b->at, &b->n) : b->at[b->from++];
        if (merge_at(l, s, rank, at, e))
            return -1;
        if (l->n_active && l->active[0] < rank && b->from < b->n)
            return b->active ? 0 : activate(l, rank, e);
    }
    bucket_clear(b);
    return 0;
}

void long_encoder_free(struct long_encoder *l)
{
    for (size_t i = 0; i < l->n_ranks; i++)
        free(l->bucket[i].at);
    free(l->bucket);
    free(l->len);
    free(l->active);
    *l = (struct long_encoder){0};
}

/* Merges the symbols as long as a pair merges, and appends them to `out`. */
static int merge_all(struct long_encoder *l, const struct symbols *s, struct id_list *out, struct err *e)
{
    for (size_t i = 0, next; (next = i + l->len[s->sym[i]]) < s->n; i = next)
        if (see_pair(l, s->sym[i], s->sym[next], i, e))
            return -1;
    while (l->n_active) {
        if (merge_rank(l, s, heap_pop(l->active, &l->n_active), e))
            return -1;
    }
    size_t n_ids = 0;
    for (size_t i = 0; i < s->n; i += l->len[s->sym[i]])
        n_ids++;
    if (id_list_reserve(out, n_ids, e))
        return -1;
    for (size_t i = 0; i < s->n; i += l->len[s->sym[i]])
        out->id[out->n++] = s->sym[i];
    return 0;
}

/* Begins with these merges. *s gets memory for symbols of n bytes. */
static int begin(struct long_encoder *l, struct merge_lookup *m, uint32_t first, size_t n, struct symbols *s,
                 struct err *e)
{
    l->merges = m;
    l->first = first;
    *s = (struct symbols){NULL, n};
    if (prepare(l, e))
        return -1;
    s->sym = malloc(n * sizeof *s->sym);
    return s->sym ? 0 : err_mem(e, "a long pretoken", n * sizeof *s->sym);
}

int long_encode(struct long_encoder *l, struct merge_lookup *m, const unsigned char *p, size_t n, struct id_list *out,
                struct err *e)
{
    struct symbols s;
    if (begin(l, m, 0, n, &s, e))
        return -1;
    for (size_t i = 0; i < n; i++)
        s.sym[i] = m->model->byte_id[p[i]];
    int rc = merge_all(l, &s, out, e);
    free(s.sym);
    return rc;
}

int long_merge(struct long_encoder *l, struct merge_lookup *m, uint32_t first, const uint32_t *id, size_t n,
               struct id_list *out, struct err *e)
{
    struct symbols s;
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += m->model->token[id[i]].len;
    if (begin(l, m, first, len, &s, e))
        return -1;
    for (size_t i = 0, at = 0; i < n; i++) {
        const size_t end = at + l->len[id[i]];
        if (end - at > 1)
            s.sym[end - 1] = id[i] | END;
        s.sym[at] = id[i];
        at = end;
    }
    int rc = merge_all(l, &s, out, e);
    free(s.sym);
    return rc;
}
