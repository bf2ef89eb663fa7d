/* used_merges.h - which merges of a model apply in a text, for SuperBPE's authors, whose trainer drops the others: it
 * replays the merges in order, and keeps those whose pair was a neighbor at the end of some step before, even if it is
 * not any more when its turn comes. (do_train_extend in tokenizers-superbpe.)
 */
#ifndef BPE_SUPERWORDS_USED_MERGES_H
#define BPE_SUPERWORDS_USED_MERGES_H

#include "base/sys/err.h"
#include "count/table.h"
#include "encode/merge_lookup.h"
#include "model/model.h"
#include "pretok/pretoken.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct used_merges {
    const struct model *model; /* borrowed */
    bool *used;                /* owned; by rank */
    struct merge_lookup merges;
    uint64_t pair[1 << 10]; /* a bit for each pair of bytes that is inside a token */
    struct table pieces;    /* the distinct ones */
    uint32_t *end;          /* working memory: where the pieces of a pretoken end; owned */
    size_t cap_end;
    uint32_t *id, *rank; /* the tokens of a piece, and the merge of each with the next one; owned */
    size_t cap_id, cap_rank;
};

/* The model must have a list of merges, and be one of bytes. -1: out of memory. Free it in any case. */
int used_merges_init(struct used_merges *u, const struct model *model, struct err *e);
void used_merges_free(struct used_merges *u);

/* Adds a padded pretoken (PRETOKEN_PAD) of less than 4 GB. -1: out of memory. */
int used_merges_add(struct used_merges *u, const struct pretoken *w, struct err *e);

/* Sets `used`, after all pretokens. -1: out of memory, or EX_DATAERR: a byte that is no token. */
int used_merges_find(struct used_merges *u, struct err *e);

#endif
