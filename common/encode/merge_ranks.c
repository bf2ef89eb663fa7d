/* merge_ranks.c - see merge_ranks.h. */
#include "encode/merge_ranks.h"

#include "sys/hash.h"
#include "sys/huge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BITS = 10,
    BY_RANK_BITS = 15, /* by_rank: 2 MB; when the table of remembered pairs would get larger, it is emptied */
};

static size_t n_bytes(const struct merges *m)
{
    return (((size_t)1 << m->bits) + 1) * sizeof *m->bucket;
}

/* On average a bucket may be half full. */
static bool is_full(const struct merges *m)
{
    return m->n_used >= ((size_t)BUCKET_SLOTS / 2 << m->bits);
}

/* Puts a pair that is not there. False if neither its bucket nor the next one has room. */
static bool put_new(struct merges *m, uint64_t x, uint32_t rank)
{
    unsigned rest = 2 * m->id_bits - m->bits;
    struct merge_bucket *b = &m->bucket[x >> rest];
    uint32_t tag = (uint32_t)(x & (((uint64_t)1 << rest) - 1)) + 1;
    for (int moved = 0; moved < 2; moved++, b++, tag |= MERGE_MOVED) {
        for (size_t i = 0; i < BUCKET_SLOTS; i++) {
            if (b->tag[i])
                continue;
            b->tag[i] = tag;
            b->flipped[i] = ~rank;
            m->n_used++;
            return true;
        }
    }
    return false;
}

/* Empties the table, which gets this size. */
static int set_bits(struct merges *m, unsigned bits, struct err *e)
{
    huge_free(m->bucket, m->bucket ? n_bytes(m) : 0);
    m->bits = bits;
    m->n_used = 0;
    m->bucket = huge_zeroed(n_bytes(m));
    return m->bucket ? 0 : err_mem(e, "the table of merges", n_bytes(m));
}

/* Buckets are prefetched some merges ahead, which halves the time. */
static bool put_list(struct merges *m)
{
    enum { AHEAD = 16 };
    const struct merge *merge = m->model->merge;
    size_t n = m->model->n_merges;
    unsigned rest = 2 * m->id_bits - m->bits;
    uint64_t x[AHEAD];
    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD && !put_new(m, x[i % AHEAD], (uint32_t)(i - AHEAD)))
            return false;
        if (i < n) {
            x[i % AHEAD] = merges_scramble(m, merge[i].left, merge[i].right);
            __builtin_prefetch(&m->bucket[x[i % AHEAD] >> rest], 1);
        }
    }
    return true;
}

static int fill(struct merges *m, struct err *e)
{
    unsigned bits = FIRST_BITS;
    m->id_bits = 1;
    while (m->model->n_ids > (uint32_t)1 << m->id_bits)
        m->id_bits++;
    while (bits < 2 * m->id_bits &&
           (2 * m->id_bits - bits > 30 || ((size_t)BUCKET_SLOTS * 2 / 5 << bits) < m->model->n_merges))
        bits++;
    if (bits > 2 * m->id_bits)
        bits = 2 * m->id_bits;
    if (m->model->by_rank)
        return set_bits(m, bits > BY_RANK_BITS ? bits : BY_RANK_BITS, e);
    do {
        if (set_bits(m, bits++, e))
            return -1;
    } while (!put_list(m));
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
    m->both = malloc(m->longest + MODEL_PAD);
    return m->both ? 0 : err_mem(e, "a token", m->longest);
}

int merges_init(struct merges *m, const struct model *model, struct err *e)
{
    *m = (struct merges){.model = model};
    m->odd[0] = hash_bytes("merges", 6, hash_secret()) | 1;
    m->odd[1] = hash_bytes("again", 5, hash_secret()) | 1;
    if (model->n_ids > MERGES_MOST_IDS)
        return err_set(e, EX_DATAERR, "%lu ids are more than the %d that can be encoded", (unsigned long)model->n_ids,
                       (int)MERGES_MOST_IDS);
    if (fill(m, e) || ((model->by_rank || model->ignore_merges) && find_longest(m, e))) {
        merges_free(m);
        return -1;
    }
    return 0;
}

void merges_free(struct merges *m)
{
    huge_free(m->bucket, m->bucket ? n_bytes(m) : 0);
    free(m->both);
    *m = (struct merges){0};
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
    return id == MODEL_NO_ID ? -1 : (int64_t)id;
}

uint32_t merges_rank_new(struct merges *m, uint32_t left, uint32_t right)
{
    const struct model_token *a = &m->model->token[left], *b = &m->model->token[right];
    if ((size_t)a->len + b->len > m->longest)
        return NO_MERGE;
    memcpy(m->both, a->p, a->len);
    memcpy(m->both + a->len, b->p, b->len);
    int64_t id = merges_token(m, m->both, (size_t)a->len + b->len);
    uint32_t rank = id < 0 ? NO_MERGE : (uint32_t)id;
    uint64_t x = merges_scramble(m, left, right);
    if (is_full(m) || !put_new(m, x, rank)) {
        memset(m->bucket, 0, n_bytes(m));
        m->n_used = 0;
        put_new(m, x, rank);
    }
    return rank;
}
