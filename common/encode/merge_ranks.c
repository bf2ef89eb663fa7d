/* merge_ranks.c - see merge_ranks.h. */
#include "encode/merge_ranks.h"

#include "base/sys/hash.h"
#include "encode/encode_word.h"
#include "encode/merge_order.h"
#include "encode/merge_triples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BITS = 17 }; /* 2^17 pairs are remembered, in 1.5 MB */

static int remember_pairs(struct merges *m, struct err *e)
{
    const size_t size = sizeof *m->pair << PAIR_BITS;
    m->odd[0] = hash_bytes("merges", 6, hash_secret()) | 1;
    m->odd[1] = hash_bytes("again", 5, hash_secret()) | 1;
    m->pair = malloc(size);
    if (!m->pair)
        return err_mem(e, "the merges that were found", size);
    memset(m->pair, 0xFF, size); /* no ids */
    return 0;
}

static int find_longest(struct merges *m, struct err *e)
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

static int make_room(struct merges *m, struct err *e)
{
    size_t size = word_encoder_best()->room;
    m->room = aligned_alloc(WORD_ROOM_ALIGN, size);
    return m->room ? 0 : err_mem(e, "words that are encoded together", size);
}

int merges_init(struct merges *m, const struct model *model, struct err *e)
{
    const bool whole = model->by_rank || model->ignore_merges;
    *m = (struct merges){.model = model};
    memset(m->whole, whole ? 0xFF : 0, sizeof m->whole);
    m->n_ranks = model->by_rank ? model->n_ids : model->n_merges;
    if (model->n_ids > MERGES_MOST_IDS)
        return err_set(e, EX_DATAERR, "%lu ids are more than the %d that can be encoded", (unsigned long)model->n_ids,
                       (int)MERGES_MOST_IDS);
    m->merge = model->by_rank ? NULL : model->merge;
    bool regular = false;
    if (make_room(m, e) ||
        (model->by_rank ? remember_pairs(m, e) : merge_order_listed(model, &m->table, &regular, e)) ||
        (whole && find_longest(m, e))) {
        merges_free(m);
        return -1;
    }
    m->regular = regular ? &m->table : NULL;
    return 0;
}

void merges_free(struct merges *m)
{
    merge_table_free(&m->table);
    merge_table_free(&m->derived);
    free(m->pair);
    free(m->both);
    free(m->room);
    *m = (struct merges){0};
}

enum { TOGETHER = 64 }; /* tokens that are encoded together */

static void look_up(struct merges *m, const struct model_token *t)
{
    const size_t i = merges_whole_bit(t->p, t->len);
    m->whole[i / 64] |= (uint64_t)1 << i % 64;
}

/* Whether the bytes of these tokens are encoded to each of them alone; looks up those that are not. ids: room for those
 * of TOGETHER words. */
static void look_up_others(struct merges *m, const uint32_t *id, size_t n, uint32_t (*ids)[WORD_MAX])
{
    struct word words[TOGETHER] = {0}, *word[TOGETHER];
    for (size_t i = 0; i < n; i++) {
        const struct model_token *t = &m->model->token[id[i]];
        words[i] = (struct word){.p = t->p, .id = ids[i], .n = t->len};
        word[i] = &words[i];
    }
    word_encoder_best()->some(&m->derived, m->room, word, n);
    for (size_t i = 0; i < n; i++)
        if (words[i].n_ids != 1 || ids[i][0] != id[i])
            look_up(m, &m->model->token[id[i]]);
}

/* Only tokens to which their own bytes are not encoded must be looked up as a whole, and these are few: those that R
 * does not make, and those that meet a trap. */
static int look_up_fewer(struct merges *m, struct err *e)
{
    uint32_t some[TOGETHER], (*ids)[WORD_MAX] = malloc(TOGETHER * sizeof *ids);
    size_t n = 0;
    if (!ids)
        return err_mem(e, "the ids of tokens", TOGETHER * sizeof *ids);
    memset(m->whole, 0, sizeof m->whole);
    for (uint32_t id = 0; id < m->model->n_ids; id++) {
        const struct model_token *t = &m->model->token[id];
        if (!t->p || !t->vocab || !t->len)
            continue;
        if (m->derived.symbol[id] == NO_SYMBOL || t->len > WORD_MAX)
            look_up(m, t);
        else if (m->derived.n_traps)
            some[n++] = id;
        if (n == TOGETHER) {
            look_up_others(m, some, n, ids);
            n = 0;
        }
    }
    look_up_others(m, some, n, ids);
    free(ids);
    for (size_t i = 0; i < m->model->n_special; i++) {
        if (m->model->special[i].whole)
            look_up(m, &m->model->token[m->model->special[i].id]);
    }
    return 0;
}

int merges_prepare(struct merges *m, struct err *e)
{
    bool regular = m->regular != NULL;
    if (!regular) {
        if (merge_order_derive(m, &m->derived, &regular, e))
            return -1;
        if (!regular)
            return 0;
        m->regular = &m->derived;
        if ((m->model->by_rank || m->model->ignore_merges) && look_up_fewer(m, e))
            return -1;
    }
    return merge_triples_find(m->regular, e);
}

int64_t merges_token(const struct merges *m, const unsigned char *p, size_t n)
{
    unsigned char padded[2 * MODEL_PAD] = {0};
    if (n > m->longest)
        return -1;
    if (n <= MODEL_PAD) { /* for longer ones no byte after the end is read */
        memcpy(padded, p, n);
        p = padded;
    }
    uint32_t id = model_find(m->model, p, n);
    if (id == MODEL_NO_ID && m->model->has_whole)
        id = model_find_whole(m->model, p, n);
    return id == MODEL_NO_ID ? -1 : (int64_t)id;
}

static uint32_t rank_of_both(struct merges *m, uint32_t left, uint32_t right)
{
    const struct model_token *a = &m->model->token[left], *b = &m->model->token[right];
    if ((size_t)a->len + b->len > m->longest)
        return NO_MERGE;
    memcpy(m->both, a->p, a->len);
    memcpy(m->both + a->len, b->p, b->len);
    int64_t id = merges_token(m, m->both, (size_t)a->len + b->len);
    return id < 0 ? NO_MERGE : (uint32_t)id;
}

uint32_t merges_rank_by_bytes(struct merges *m, uint32_t left, uint32_t right)
{
    struct remembered_pair *pair = &m->pair[(left * m->odd[0] + right * m->odd[1]) >> (64 - PAIR_BITS)];
    if (pair->left != left || pair->right != right)
        *pair = (struct remembered_pair){left, right, rank_of_both(m, left, right)};
    return pair->rank;
}
