/* merge_lookup.h - which pairs of tokens a model merges, and at which rank; for encode_pretoken.c and the files it
 * uses.
 *
 * In most models each merge is a pair in a list, and its rank is its index there. In others (.tiktoken: by_rank) two
 * tokens merge if their bytes together are a token, and the id of that token is the rank. Such pairs are looked up by
 * their bytes and remembered.
 */
#ifndef BPE_ENCODE_MERGE_LOOKUP_H
#define BPE_ENCODE_MERGE_LOOKUP_H

#include "base/sys/err.h"
#include "encode/merge_table.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_MERGE UINT32_MAX /* no rank: the pair does not merge */

enum {
    MERGE_IDS_MAX = 1 << 24,
    WHOLE_BITS = 15,
};

/* A pair that was looked up by its bytes, and its rank or NO_MERGE. */
struct remembered_pair {
    uint32_t left, right, rank;
};

struct merge_lookup {
    const struct model *model; /* borrowed */
    const struct merge *merge; /* by rank, borrowed; NULL: by bytes, and the rank is the id of the result */
    size_t n_ranks;            /* all ranks are smaller */
    struct merge_table table;  /* of the merges, unless by bytes */
    struct merge_table derived;
    struct merge_table *regular;            /* one of the two; NULL: the model is not regular, or not known to be yet */
    uint64_t whole[(1 << WHOLE_BITS) / 64]; /* see merge_lookup_may_be_whole */
    /* For looking up tokens by their bytes (by_rank, ignore_merges). */
    struct remembered_pair *pair; /* by hash; NULL unless by bytes */
    uint64_t odd[2];              /* secrets of the hash */
    size_t longest;               /* length of the longest token that may be found, in bytes */
    unsigned char *both;          /* buffer for the bytes of two tokens that may together be a third */
    void *room;                   /* working memory for word_encoder_best */
};

/* The model is borrowed until merge_lookup_free; it must have its index (model_index) if it is by_rank or
 * ignore_merges. -1: out of memory, or (EX_DATAERR) more than MERGE_IDS_MAX ids. */
int merge_lookup_init(struct merge_lookup *m, const struct model *model, struct err *e);
void merge_lookup_free(struct merge_lookup *m); /* a zeroed struct is fine */

/* The bit of m->whole for a pretoken; few pretokens share a bit. */
static inline size_t merge_lookup_whole_bit(const unsigned char *p, size_t n)
{
    const uint32_t x = p[0] | (uint32_t)p[n / 2] << 8 | (uint32_t)p[n - 1] << 16 | (uint32_t)n << 24;
    return x * 0x9E3779B1U >> (32 - WHOLE_BITS);
}

/* Whether a whole pretoken must be looked up first, as it may be a token that merges do not make. */
static inline bool merge_lookup_may_be_whole(const struct merge_lookup *m, const unsigned char *p, size_t n)
{
    const size_t i = merge_lookup_whole_bit(p, n);
    return m->whole[i / 64] >> i % 64 & 1;
}

/* The id of the vocabulary token p[0 .. n), or MODEL_NO_ID. Only if the model is by_rank or ignore_merges. */
uint32_t merge_lookup_token(const struct merge_lookup *m, const unsigned char *p, size_t n);

/* merge_lookup_rank by bytes. */
uint32_t merge_lookup_rank_by_bytes(struct merge_lookup *m, uint32_t left, uint32_t right);

/* The id of the token that the merge of this rank makes. */
static inline uint32_t merge_lookup_result(const struct merge_lookup *m, uint32_t rank)
{
    return m->merge ? m->merge[rank].result : rank;
}

/* The rank of the merge of two adjacent tokens, or NO_MERGE. */
static inline uint32_t merge_lookup_rank(struct merge_lookup *m, uint32_t left, uint32_t right)
{
    if (!m->merge)
        return merge_lookup_rank_by_bytes(m, left, right);
    const struct merge_table *t = &m->table;
    left = t->symbol[left];
    right = t->symbol[right];
    uint32_t rank = merge_table_rank(t, left, right);
    if (rank != t->none && !merge_table_is_pair(t, rank, left, right))
        rank = merge_table_shadowed(t, left, right);
    return rank == t->none ? NO_MERGE : rank;
}

/* The same, without the merges of lower ranks than `first`. */
static inline uint32_t merge_lookup_rank_from(struct merge_lookup *m, uint32_t first, uint32_t left, uint32_t right)
{
    const uint32_t rank = merge_lookup_rank(m, left, right);
    return rank < first ? NO_MERGE : rank;
}

/* Encodes a short pretoken with any model, by the definition itself. For encode_pretoken.c, if the model is not regular
 * or encode_vector.h gives up. Writes the tokens of p[0 .. n), 0 < n <= SHORT_MAX, to id[0 .. n); returns how many. The
 * time is quadratic: from 64 bytes on, encode_long.h is faster. */
enum { SHORT_MAX = 255 };
size_t encode_short(struct merge_lookup *m, const unsigned char *p, size_t n, uint32_t *id);

/* The same for n <= SHORT_MAX tokens, in place, with the merges from rank `first` on. */
size_t merge_short(struct merge_lookup *m, uint32_t first, uint32_t *id, size_t n);

#endif
