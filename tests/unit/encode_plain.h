/* encode_plain.h - the definition of encoding, for tests: repeatedly merge the pair of lowest rank, the leftmost if
 * ranks are equal, until no pair merges. Tokens and merges are found by binary search in sorted lists. Shares no code
 * with common/encode. */
#ifndef BPE_TESTS_ENCODE_PLAIN_H
#define BPE_TESTS_ENCODE_PLAIN_H

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_NONE UINT32_MAX

enum { PLAIN_LONGEST = 4096 }; /* bytes of a pretoken */

struct plain {
    const struct model *model; /* borrowed */
    uint32_t *token;           /* ids of vocabulary tokens, sorted by bytes */
    size_t n_tokens;
    uint32_t *merge; /* ranks of merges, sorted by left and right */
};

static const struct model *plain_sorting; /* qsort(3) passes no context */

static int plain_compare_bytes(const unsigned char *a, size_t n_a, const unsigned char *b, size_t n_b)
{
    int d = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return d ? d : (n_a > n_b) - (n_a < n_b);
}

static int plain_compare_tokens(const void *a, const void *b)
{
    const struct model_token *t = plain_sorting->token, *x = &t[*(const uint32_t *)a], *y = &t[*(const uint32_t *)b];
    return plain_compare_bytes(x->p, x->len, y->p, y->len);
}

static uint64_t plain_pair(const struct merge *m)
{
    return (uint64_t)m->left << 32 | m->right;
}

static int plain_compare_merges(const void *a, const void *b)
{
    const struct merge *m = plain_sorting->merge;
    uint64_t x = plain_pair(&m[*(const uint32_t *)a]), y = plain_pair(&m[*(const uint32_t *)b]);
    return (x > y) - (x < y);
}

/* The model is *borrowed* until plain_free, and not changed. */
static void plain_init(struct plain *x, const struct model *model)
{
    *x = (struct plain){model, malloc((model->n_ids + 1) * sizeof(uint32_t)), 0,
                        malloc((model->n_merges + 1) * sizeof(uint32_t))};
    if (!x->token || !x->merge)
        abort();
    for (uint32_t id = 0; id < model->n_ids; id++)
        if (model->token[id].p && model->token[id].vocab)
            x->token[x->n_tokens++] = id;
    for (size_t i = 0; i < model->n_merges; i++)
        x->merge[i] = (uint32_t)i;
    plain_sorting = model;
    qsort(x->token, x->n_tokens, sizeof *x->token, plain_compare_tokens);
    qsort(x->merge, model->n_merges, sizeof *x->merge, plain_compare_merges);
}

static void plain_free(struct plain *x)
{
    free(x->token);
    free(x->merge);
    *x = (struct plain){0};
}

/* The id of a vocabulary token, or PLAIN_NONE. */
static uint32_t plain_find(const struct plain *x, const unsigned char *p, size_t n)
{
    size_t low = 0, high = x->n_tokens;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct model_token *t = &x->model->token[x->token[mid]];
        int d = plain_compare_bytes(t->p, t->len, p, n);
        if (d == 0)
            return x->token[mid];
        if (d < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return PLAIN_NONE;
}

/* The rank at which two tokens merge, or PLAIN_NONE; p[0 .. n) are the bytes of both. */
static uint32_t plain_rank(const struct plain *x, uint32_t left, uint32_t right, const unsigned char *p, size_t n)
{
    if (x->model->by_rank)
        return plain_find(x, p, n);
    uint64_t pair = (uint64_t)left << 32 | right;
    size_t low = 0, high = x->model->n_merges;
    while (low < high) {
        size_t mid = (low + high) / 2;
        uint64_t at = plain_pair(&x->model->merge[x->merge[mid]]);
        if (at == pair)
            return x->merge[mid];
        if (at < pair)
            low = mid + 1;
        else
            high = mid;
    }
    return PLAIN_NONE;
}

/* Writes the ids of a pretoken of up to PLAIN_LONGEST bytes; returns how many. */
static size_t plain_encode(const struct plain *x, const unsigned char *p, size_t n, uint32_t *id)
{
    static uint32_t begin[PLAIN_LONGEST + 1], rank[PLAIN_LONGEST]; /* of each token; begin[n] is the end */
    const struct model *m = x->model;
    if (n > PLAIN_LONGEST)
        abort();
    if (m->ignore_merges && (id[0] = plain_find(x, p, n)) != PLAIN_NONE)
        return 1;
    for (size_t i = 0; i < n; i++)
        id[i] = m->byte_id[p[i]];
    for (size_t i = 0; i <= n; i++)
        begin[i] = (uint32_t)i;
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = plain_rank(x, id[i], id[i + 1], p + i, 2);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == PLAIN_NONE)
            break;
        id[best] = m->by_rank ? rank[best] : m->merge[rank[best]].result;
        n--;
        memmove(id + best + 1, id + best + 2, (n - best - 1) * sizeof *id);
        memmove(begin + best + 1, begin + best + 2, (n - best) * sizeof *begin);
        if (best + 1 < n)
            memmove(rank + best + 1, rank + best + 2, (n - best - 2) * sizeof *rank);
        for (size_t i = best ? best - 1 : 0; i <= best && i + 1 < n; i++)
            rank[i] = plain_rank(x, id[i], id[i + 1], p + begin[i], begin[i + 2] - begin[i]);
    }
    return n;
}

#endif
