/* merge_ranks.h - which pairs of tokens a model merges, and at which rank; for encode_pretoken.c and what it uses.
 *
 * In most models each merge is a pair in a list, and its rank is its index there. In others (.tiktoken: by_rank) two
 * tokens merge if their bytes together are a token, and the id of that token is the rank: such pairs are found by their
 * bytes and remembered.
 */
#ifndef BPE_ENCODE_MERGE_RANKS_H
#define BPE_ENCODE_MERGE_RANKS_H

#include "base/sys/err.h"
#include "encode/merge_table.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_MERGE UINT32_MAX /* no rank: the pair does not merge */

enum {
    MERGES_MOST_IDS = 1 << 24,
    WHOLE_BITS = 15,
};

/* A pair that was looked up by its bytes, and its rank or NO_MERGE. */
struct remembered_pair {
    uint32_t left, right, rank;
};

struct merges {
    const struct model *model; /* borrowed */
    const struct merge *merge; /* by rank, borrowed; NULL: by bytes, and the rank is the id of the result */
    size_t n_ranks;            /* all ranks are smaller */
    struct merge_table table;  /* of them, unless by bytes */
    struct merge_table derived;
    struct merge_table *regular;            /* one of the two; NULL: the model is not regular, or it is not known yet */
    uint64_t whole[(1 << WHOLE_BITS) / 64]; /* see merges_may_be_whole */
    /* For looking up tokens by their bytes (by_rank, ignore_merges). */
    struct remembered_pair *pair; /* by hash; NULL unless by bytes */
    uint64_t odd[2];              /* secrets of the hash */
    size_t longest;               /* length of the longest that may be found, in bytes */
    unsigned char *both;          /* room for the bytes of two tokens that may together be a third */
    void *room;                   /* that word_encoder_best works in */
};

/* The model is borrowed until merges_free; it must have its index (model_index) if it is by_rank or ignore_merges. -1:
 * out of memory, or (EX_DATAERR) more than MERGES_MOST_IDS. */
int merges_init(struct merges *m, const struct model *model, struct err *e);
void merges_free(struct merges *m); /* a zeroed one is fine */

/* Finds out whether a model whose list is not regular encodes all text as a regular list of merges does
 * (merge_order.h), and which characters certainly merge (merge_triples.h). It takes about 0.1 us for each token, and a
 * tenth of it if the list is regular: so it pays only if there is much to encode. -1: out of memory. */
int merges_prepare(struct merges *m, struct err *e);

/* The bit of m->whole for a pretoken; few share one. */
static inline size_t merges_whole_bit(const unsigned char *p, size_t n)
{
    const uint32_t x = p[0] | (uint32_t)p[n / 2] << 8 | (uint32_t)p[n - 1] << 16 | (uint32_t)n << 24;
    return x * 0x9E3779B1U >> (32 - WHOLE_BITS);
}

/* Whether a pretoken must be looked up first, as it may be a token as a whole that merges do not make. */
static inline bool merges_may_be_whole(const struct merges *m, const unsigned char *p, size_t n)
{
    const size_t i = merges_whole_bit(p, n);
    return m->whole[i / 64] >> i % 64 & 1;
}

/* The id of the vocabulary token p[0 .. n), or -1. Only if the model is by_rank or ignore_merges. */
int64_t merges_token(const struct merges *m, const unsigned char *p, size_t n);

/* merges_rank by bytes. */
uint32_t merges_rank_by_bytes(struct merges *m, uint32_t left, uint32_t right);

/* The id of the token that the merge of this rank makes. */
static inline uint32_t merges_result(const struct merges *m, uint32_t rank)
{
    return m->merge ? m->merge[rank].result : rank;
}

/* The rank of the merge of two adjacent tokens, or NO_MERGE. */
static inline uint32_t merges_rank(struct merges *m, uint32_t left, uint32_t right)
{
    if (!m->merge)
        return merges_rank_by_bytes(m, left, right);
    const struct merge_table *t = &m->table;
    left = t->symbol[left];
    right = t->symbol[right];
    uint32_t rank = merge_table_rank(t, left, right);
    if (rank != t->none && !merge_table_is_pair(t, rank, left, right))
        rank = merge_table_hidden(t, left, right);
    return rank == t->none ? NO_MERGE : rank;
}

#endif
