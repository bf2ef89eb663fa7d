/* merge_lookup.c - see merge_lookup.h. */
#include "encode/merge_lookup.h"

#include "base/sys/hash.h"
#include "encode/encode_vector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BITS = 17 }; /* 2^17 pairs are remembered, in 1.5 MB */

static int remember_pairs(struct merge_lookup *m, struct err *e)
{
    const size_t size = sizeof *m->pair << PAIR_BITS;
    m->odd[0] = hash_bytes("merges", 6, hash_secret()) | 1;
    m->odd[1] = hash_bytes("again", 5, hash_secret()) | 1;
    m->pair = malloc(size);
    if (!m->pair)
        return err_mem(e, "the merges that were found", size);
    memset(m->pair, 0xFF, size); /* not a pair of ids */
    return 0;
}

static int find_longest(struct merge_lookup *m, struct err *e)
{
    const struct model *model = m->model;
    assert(model->index.slots.n);
    for (uint32_t id = 0; id < model->n_ids; id++) {
        if (model->token[id].vocab && model->token[id].len > m->longest)
            m->longest = model->token[id].len;
    }
    for (size_t i = 0; i < model->n_special; i++) {
        if (model->special[i].whole && model->special[i].len > m->longest)
            m->longest = model->special[i].len;
    }
    m->both = malloc(m->longest + MODEL_PAD);
    return m->both ? 0 : err_mem(e, "a token", m->longest);
}

static int make_room(struct merge_lookup *m, struct err *e)
{
    size_t size = word_encoder_best()->room;
    m->room = aligned_alloc(WORD_ROOM_ALIGN, size);
    return m->room ? 0 : err_mem(e, "words that are encoded together", size);
}

int merge_lookup_init(struct merge_lookup *m, const struct model *model, struct err *e)
{
    const bool whole = model->by_rank || model->ignore_merges;
    *m = (struct merge_lookup){.model = model};
    memset(m->whole, whole ? 0xFF : 0, sizeof m->whole);
    m->n_ranks = model->by_rank ? model->n_ids : model->n_merges;
    if (model->n_ids > MERGE_IDS_MAX)
        return err_set(e, EX_DATAERR, "the model has %lu ids; at most %d are supported", (unsigned long)model->n_ids,
                       (int)MERGE_IDS_MAX);
    m->merge = model->by_rank ? NULL : model->merge;
    bool regular = false;
    if (make_room(m, e) ||
        (model->by_rank ? remember_pairs(m, e) : merge_table_listed(model, &m->table, &regular, e)) ||
        (whole && find_longest(m, e))) {
        merge_lookup_free(m);
        return -1;
    }
    m->regular = regular ? &m->table : NULL;
    return 0;
}

void merge_lookup_free(struct merge_lookup *m)
{
    merge_table_free(&m->table);
    merge_table_free(&m->derived);
    free(m->pair);
    free(m->both);
    free(m->room);
    *m = (struct merge_lookup){0};
}

uint32_t merge_lookup_token(const struct merge_lookup *m, const unsigned char *p, size_t n)
{
    unsigned char padded[2 * MODEL_PAD] = {0};
    if (n > m->longest)
        return MODEL_NO_ID;
    if (n <= MODEL_PAD) { /* if it is longer, no byte past the end is read */
        memcpy(padded, p, n);
        p = padded;
    }
    uint32_t id = model_find(m->model, p, n);
    return id == MODEL_NO_ID && m->model->has_whole ? model_find_whole(m->model, p, n) : id;
}

static uint32_t rank_of_both(struct merge_lookup *m, uint32_t left, uint32_t right)
{
    const struct model_token *a = &m->model->token[left], *b = &m->model->token[right];
    if ((size_t)a->len + b->len > m->longest)
        return NO_MERGE;
    memcpy(m->both, a->p, a->len);
    memcpy(m->both + a->len, b->p, b->len);
    _Static_assert(NO_MERGE == MODEL_NO_ID, "the rank is the id");
    return merge_lookup_token(m, m->both, (size_t)a->len + b->len);
}

uint32_t merge_lookup_rank_by_bytes(struct merge_lookup *m, uint32_t left, uint32_t right)
{
    struct remembered_pair *pair = &m->pair[(left * m->odd[0] + right * m->odd[1]) >> (64 - PAIR_BITS)];
    if (pair->left != left || pair->right != right)
        *pair = (struct remembered_pair){left, right, rank_of_both(m, left, right)};
    return pair->rank;
}

/* The ranks of all adjacent pairs are in one array, which is searched for the lowest after each merge. */
size_t merge_short(struct merge_lookup *m, uint32_t first, uint32_t *id, size_t n)
{
    uint32_t rank[SHORT_MAX];
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = merge_lookup_rank_from(m, first, id[i], id[i + 1]);
    while (n > 1) {
        size_t best = 0;
        uint32_t min = rank[0];
        for (size_t i = 1; i + 1 < n; i++) {
            best = rank[i] < min ? i : best;
            min = rank[i] < min ? rank[i] : min;
        }
        if (min == NO_MERGE)
            break;
        n--;
        id[best] = merge_lookup_result(m, min);
        for (size_t i = best + 1; i < n; i++)
            id[i] = id[i + 1];
        for (size_t i = best + 1; i + 1 < n; i++)
            rank[i] = rank[i + 1];
        if (best + 1 < n)
            rank[best] = merge_lookup_rank_from(m, first, id[best], id[best + 1]);
        if (best > 0)
            rank[best - 1] = merge_lookup_rank_from(m, first, id[best - 1], id[best]);
    }
    return n;
}

size_t encode_short(struct merge_lookup *m, const unsigned char *p, size_t n, uint32_t *id)
{
    const uint32_t *byte_id = m->model->byte_id;
    for (size_t i = 0; i < n; i++)
        id[i] = byte_id[p[i]];
    return merge_short(m, 0, id, n);
}
