/* encode_word.c - see encode_word.h.
 *
 * Short words: the ranks of all pairs side by side, gone through for the lowest each time. It is quadratic, and the
 * fastest there is for the dozen bytes that words have.
 *
 * Long words: what is to be merged is kept in buckets, one a rank, of the places where such a pair stood when it was
 * seen. The lowest rank that has any comes from a heap; its bucket is sorted once, and gone through from left to right.
 * A merge makes two new pairs, which mostly have higher ranks. If not (a model may do that) the bucket is left for the
 * lower one. What comes to a bucket that is being gone through makes a heap of it. A place is looked at again when its
 * turn comes: the pair may be gone.
 * The word's symbols stand in one array of a word a byte: a symbol's id where it begins and, marked, where it ends; so
 * its neighbours are found by the lengths of tokens, as in learn_corpus.c.
 */
#include "encode/encode_word.h"

#include "sys/buf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_WORD = 64 };             /* bytes: longer ones by buckets */
static const uint32_t END = 1u << 31; /* marks a symbol's last byte, if it has several; alone: inside of one */

struct bucket {
    uint32_t *at; /* places: at[from .. n) */
    size_t from, n, cap;
    bool unsorted; /* not yet gone through, and not in order */
    bool heap;     /* at[0 .. n) is a heap, from is 0 */
    bool active;   /* its rank is in the heap of ranks */
    bool begun;
};

int word_encoder_init(struct word_encoder *w, const struct model *model, struct err *e)
{
    *w = (struct word_encoder){0};
    return array_grow(&w->id, &w->cap, BACKTRACK_MAX + 1, sizeof *w->id, "a pretoken", e) ||
                   merges_init(&w->merges, model, e)
               ? -1
               : 0;
}

void word_encoder_free(struct word_encoder *w)
{
    for (size_t i = 0; i < w->n_ranks; i++)
        free(w->bucket[i].at);
    free(w->bucket);
    free(w->len);
    free(w->active);
    free(w->id);
    borders_free(&w->borders);
    backtrack_free(&w->greedy);
    merges_free(&w->merges);
    *w = (struct word_encoder){0};
}

/* ---- Short words ---- */

/* Puts the tokens of p[0 .. n) into id; returns how many. */
static size_t encode_short(struct word_encoder *w, const unsigned char *p, size_t n, uint32_t *id)
{
    struct merges *m = &w->merges;
    uint32_t rank[SHORT_WORD];
    const uint32_t *byte_id = m->model->byte_id;
    for (size_t i = 0; i < n; i++)
        id[i] = byte_id[p[i]];
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = merges_rank(m, id[i], id[i + 1]);
    while (n > 1) {
        size_t best = 0;
        uint32_t least = rank[0];
        for (size_t i = 1; i + 1 < n; i++) {
            best = rank[i] < least ? i : best;
            least = rank[i] < least ? rank[i] : least;
        }
        if (least >= NO_MERGE)
            break;
        n--;
        id[best] = merges_result(m, least);
        for (size_t i = best + 1; i < n; i++)
            id[i] = id[i + 1];
        for (size_t i = best + 1; i + 1 < n; i++)
            rank[i] = rank[i + 1];
        if (best + 1 < n)
            rank[best] = merges_rank(m, id[best], id[best + 1]);
        if (best > 0)
            rank[best - 1] = merges_rank(m, id[best - 1], id[best]);
    }
    return n;
}

/* ---- Heaps of numbers, the least first ---- */

static void sift_up(uint32_t *heap, size_t i)
{
    uint32_t x = heap[i];
    for (; i > 0 && heap[(i - 1) / 2] > x; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

static uint32_t heap_pop(uint32_t *heap, size_t *n)
{
    uint32_t least = heap[0], x = heap[--*n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < *n; i = child) {
        child += child + 1 < *n && heap[child + 1] < heap[child];
        if (heap[child] >= x)
            break;
        heap[i] = heap[child];
    }
    heap[i] = x;
    return least;
}

/* ---- Buckets ---- */

/* Sorts by the last 11 bits, then the 11 before, and so on. */
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
    memcpy(at, from, n * sizeof *at); /* after three rounds it is in the other one */
    free(other);
    return 0;
}

static int activate(struct word_encoder *w, uint32_t rank, struct err *e)
{
    if (array_grow(&w->active, &w->cap_active, w->n_active + 1, sizeof *w->active, "a long pretoken", e))
        return -1;
    w->active[w->n_active++] = rank;
    sift_up(w->active, w->n_active - 1);
    w->bucket[rank].active = true;
    return 0;
}

static int bucket_put(struct word_encoder *w, uint32_t rank, uint32_t at, struct err *e)
{
    struct bucket *b = &w->bucket[rank];
    if (array_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at, "a long pretoken", e))
        return -1;
    bool behind = b->n == b->from || b->at[b->n - 1] <= at;
    if (b->begun && !b->heap && !behind) { /* what is left of it is in order, and so a heap */
        b->n -= b->from;
        memmove(b->at, b->at + b->from, b->n * sizeof *b->at);
        b->from = 0;
        b->heap = true;
    }
    b->at[b->n++] = at;
    if (b->heap)
        sift_up(b->at, b->n - 1);
    else if (!behind)
        b->unsorted = true;
    return b->active ? 0 : activate(w, rank, e);
}

static void bucket_clear(struct bucket *b)
{
    enum { KEEP = 64 }; /* places for which memory is kept */
    uint32_t *at = b->at;
    size_t cap = b->cap;
    if (cap > KEEP) {
        free(at);
        at = NULL;
        cap = 0;
    }
    *b = (struct bucket){.at = at, .cap = cap};
}

/* ---- Long words ---- */

struct word_symbols {
    uint32_t *sym; /* see the top of this file */
    size_t n;
};

static int prepare_long(struct word_encoder *w, struct err *e)
{
    const struct model *m = w->merges.model;
    if (w->bucket)
        return 0;
    size_t n_ranks = m->by_rank ? m->n_ids : m->n_merges;
    w->len = malloc(((size_t)m->n_ids + 1) * sizeof *w->len);
    w->bucket = calloc(n_ranks + 1, sizeof *w->bucket);
    if (!w->len || !w->bucket) {
        free(w->len);
        free(w->bucket);
        w->len = NULL;
        w->bucket = NULL;
        return err_mem(e, "the ranks", (n_ranks + 1) * sizeof *w->bucket);
    }
    w->n_ranks = n_ranks;
    for (size_t i = 0; i < m->n_ids; i++)
        w->len[i] = m->token[i].len;
    return 0;
}

static int see_pair(struct word_encoder *w, uint32_t left, uint32_t right, size_t at, struct err *e)
{
    uint32_t rank = merges_rank(&w->merges, left, right);
    return rank >= NO_MERGE ? 0 : bucket_put(w, rank, (uint32_t)at, e);
}

/* Merges the pair of this rank at `at`, if it stands there. */
static int merge_at(struct word_encoder *w, const struct word_symbols *s, uint32_t rank, size_t at, struct err *e)
{
    const struct model *m = w->merges.model;
    uint32_t *sym = s->sym, left = sym[at], result;
    if (left & END)
        return 0;
    size_t middle = at + w->len[left];
    if (middle == s->n)
        return 0;
    uint32_t right = sym[middle];
    if (m->by_rank) { /* the bytes from here on are the same still */
        result = rank;
        if (w->len[left] + w->len[right] != w->len[result])
            return 0;
    } else {
        const struct merge *g = &m->merge[rank];
        result = g->result;
        if (left != g->left || right != g->right)
            return 0;
    }
    size_t end = middle + w->len[right];
    sym[middle] = END;
    sym[at] = result;
    sym[end - 1] = result | END;
    if (at > 0) {
        uint32_t before = sym[at - 1] & ~END;
        if (see_pair(w, before, result, at - w->len[before], e))
            return -1;
    }
    return end < s->n ? see_pair(w, result, sym[end], at, e) : 0;
}

/* Goes through the bucket of a rank, until it is empty or there is a lower rank. */
static int merge_rank(struct word_encoder *w, const struct word_symbols *s, uint32_t rank, struct err *e)
{
    struct bucket *b = &w->bucket[rank];
    b->active = false;
    if (b->unsorted && sort(b->at + b->from, b->n - b->from, e))
        return -1;
    b->unsorted = false;
    b->begun = true;
    while (b->from < b->n) {
        size_t at = b->heap ? heap_pop(b->at, &b->n) : b->at[b->from++];
        if (merge_at(w, s, rank, at, e))
            return -1;
        if (w->n_active && w->active[0] < rank && b->from < b->n)
            return b->active ? 0 : activate(w, rank, e);
    }
    bucket_clear(b);
    return 0;
}

/* Appends the tokens of p[0 .. n). */
static int encode_long(struct word_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    struct word_symbols s = {malloc(n * sizeof *s.sym), n};
    int rc = -1;
    if (!s.sym)
        return err_mem(e, "a long pretoken", n * sizeof *s.sym);
    if (prepare_long(w, e))
        goto out;
    const uint32_t *byte_id = w->merges.model->byte_id;
    for (size_t i = 0; i < n; i++)
        s.sym[i] = byte_id[p[i]];
    for (size_t i = 0; i + 1 < n; i++)
        if (see_pair(w, s.sym[i], s.sym[i + 1], i, e))
            goto out;
    while (w->n_active) {
        if (merge_rank(w, &s, heap_pop(w->active, &w->n_active), e))
            goto out;
    }
    size_t n_ids = 0;
    for (size_t i = 0; i < n; i += w->len[s.sym[i]])
        n_ids++;
    if (array_grow(&w->id, &w->cap, w->n + n_ids, sizeof *w->id, "a long pretoken", e))
        goto out;
    for (size_t i = 0; i < n; i += w->len[s.sym[i]])
        w->id[w->n++] = s.sym[i];
    rc = 0;
out:
    free(s.sym);
    return rc;
}

/* ---- All words ---- */

/* Appends the tokens of p[0 .. n). */
static int encode_part(struct word_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    bool greedy = w->is_greedy && n <= BACKTRACK_MAX;
    if (n > SHORT_WORD && !greedy)
        return encode_long(w, p, n, e);
    if (array_grow(&w->id, &w->cap, w->n + n, sizeof *w->id, "a pretoken", e))
        return -1;
    uint32_t *id = w->id + w->n;
    w->n += greedy ? backtrack_encode(&w->greedy, &w->merges, p, n, id) : encode_short(w, p, n, id);
    return 0;
}

/* Appends the tokens of p[0 .. n), part by part. */
static int encode_parts(struct word_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    const uint32_t *byte_id = w->merges.model->byte_id;
    for (size_t some; n; p += some, n -= some) {
        some = borders_next(&w->borders, p, n);
        uint32_t known = some == 1 ? byte_id[p[0]] + 1 : some == 2 ? w->borders.pair[p[0] << 8 | p[1]] : BORDER_NONE;
        if (known == BORDER_NONE) {
            if (encode_part(w, p, some, e))
                return -1;
            continue;
        }
        if (w->n == w->cap && array_grow(&w->id, &w->cap, w->n + 1, sizeof *w->id, "a pretoken", e))
            return -1;
        w->id[w->n++] = known - 1;
    }
    return 0;
}

int word_encode(struct word_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    const struct model *model = w->merges.model;
    int64_t whole = model->ignore_merges ? merges_token(&w->merges, p, n) : -1;
    if (whole >= 0) {
        w->id[0] = (uint32_t)whole;
        w->n = 1;
        return 0;
    }
    if (++w->n_words == model->n_ids / 4 &&
        (borders_init(&w->borders, &w->merges, e) || backtrack_init(&w->greedy, &w->merges, &w->is_greedy, e)))
        return -1;
    w->n = 0;
    return w->borders.pair ? encode_parts(w, p, n, e) : encode_part(w, p, n, e);
}
