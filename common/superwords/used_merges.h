/* used_merges.h - which merges of a model apply in a text, for SuperBPE's authors, whose trainer drops the others: it
 * replays the merges in order, and keeps those whose pair was a neighbor at the end of some step before, even if it is
 * not any more when its turn comes. (do_train_extend in tokenizers-superbpe.)
 */
#ifndef BPE_SUPERWORDS_USED_MERGES_H
#define BPE_SUPERWORDS_USED_MERGES_H

#include "base/sys/err.h"
#include "encode/merge_lookup.h"
#include "model/model.h"
#include "pretok/pretoken.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen_piece;

struct used_merges {
    const struct model *model; /* borrowed */
    bool *used;                /* owned; by rank */
    struct merge_lookup merges;
    uint64_t pair[1 << 10];  /* a bit for each pair of bytes that is inside a token */
    struct seen_piece *seen; /* hash table of pieces, owned */
    uint32_t *id;            /* working memory: the tokens of a piece */
    size_t cap;
};

/* The model must have a list of merges, and be one of bytes. -1: out of memory. Free it in any case. */
int used_merges_init(struct used_merges *u, const struct model *model, struct err *e);
void used_merges_free(struct used_merges *u);

/* Adds the merges of a pretoken. -1: out of memory. */
int used_merges_add(struct used_merges *u, const struct pretoken *w, struct err *e);

#endif
