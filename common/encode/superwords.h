/* superwords.h - the second stage of encoding with superwords, tokens that join words: ids in, ids out.
 *
 * The first stage is any encoding by the first merges of the model, those of ranks below `first`; the ids may come from
 * anywhere. Each pretoken of the model (its ids are between two borders) is then encoded on by the other merges:
 *
 *   1. It is cut between two ids wherever no merge can join them: a token of the second stage has a first and a last id
 *      of the first stage, so the first merge across a place joins two tokens A and B there, which lie on the pair
 *      (last id of A, first id of B). Such pairs are bridges; between any other two ids there is a cut.
 *   2. Each run of two or more ids between cuts is looked up in a cache or, if it is new, merged.
 *
 * Why this is exact. Merges happen in the order of ranks, so all that happens before the first merge of rank `first` or
 * higher is the first stage, if no such merge makes a part of a lower one (condition 1): then no lower merge becomes
 * possible again. As long as no merge has crossed the ends of a part of the text, what happened inside is what happens
 * to that part alone. So a token that only one merge makes (condition 2) lies on the same ids of the first stage
 * wherever it occurs, and these follow from the list of merges, if each part is made before it is used (condition 3).
 * superwords_find checks the conditions. Fewer cuts than possible are exact, too: so the set of bridges may have other
 * pairs.
 */
#ifndef BPE_ENCODE_SUPERWORDS_H
#define BPE_ENCODE_SUPERWORDS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/cached_encoder.h"
#include "encode/encode_long.h"
#include "encode/id_pairs.h"
#include "encode/ids.h"
#include "encode/merge_lookup.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borders in a sequence of ids: how many ids there are before each, ascending. Zeroed: none. */
struct id_borders {
    size_t *at; /* owned */
    size_t n, cap;
};

/* -1: out of memory. */
static inline int id_borders_put(struct id_borders *b, size_t at, struct err *e)
{
    if (b->n == b->cap && array_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at, "the ends of pretokens", e))
        return -1;
    b->at[b->n++] = at;
    return 0;
}

void id_borders_free(struct id_borders *b);

/* Sets *first to the rank of the first merge whose token has 0x20 after another character than white space, if merges
 * from there on may be a second stage (see above) that is worth it. *found: whether that is so; else the model must be
 * encoded in one stage. The model's tokens and merges are checked, not how it splits text. -1: out of memory. */
int superwords_find(const struct model *m, size_t *first, bool *found, struct err *e);

/* Whether the merges from rank `first` on may be a second stage (conditions 1 to 3). -1: out of memory. */
int superwords_check(const struct model *m, size_t first, bool *good, struct err *e);

/* By id: the first and the last of the ids that a token consists of before the merges from rank `first` on, for
 * which superwords_check must hold. Owned by the caller. NULL: out of memory. */
struct id_pair *superwords_ends(const struct model *m, size_t first, struct err *e);

/* Puts the bridges of the merges from rank `first` on into a new set. -1: out of memory. */
int superwords_bridges(const struct model *m, size_t first, struct id_pairs *bridges, struct err *e);

struct superwords {
    uint32_t first; /* the rank of the first merge of the second stage */
    bool wide;      /* ids of the first stage have 4 bytes */
    bool ends;      /* set it if the ids that go in may have ids of all ones, which stay and which no merge crosses */
    struct id_pairs bridges;
    struct merge_lookup merges;
    struct long_encoder heap;
    struct id_list run, out;        /* a run, before and after its merges */
    struct cached_encoder *runs;    /* owned */
    struct superwords_batch *batch; /* owned */
    unsigned char *keys;            /* owned: the runs of the batch, one after the other */
    size_t tested;                  /* pairs of the run that stayed (superwords_encode): bridges */
};

/* The model, for which superwords_check must hold, is borrowed until superwords_free. wide, wide_out: whether the ids
 * that go in, and those that come out, have 4 bytes. -1: out of memory. */
int superwords_init(struct superwords *s, const struct model *m, size_t first, bool wide, bool wide_out, struct err *e);
void superwords_free(struct superwords *s); /* a zeroed struct is fine */

/* Moves ids of the first stage, encoded, to the end of `out`. borders: of `in`; no merge crosses them; emptied. All ids
 * up to the last border move, and more up to the last cut; the rest is a run that may continue, and stays for the next
 * call, which needs more ids after it, and the borders among those. out_borders, if not NULL, gets the number of
 * ids in `out` at each border. -1: out of memory. */
int superwords_encode(struct superwords *s, struct ids *in, struct id_borders *borders, struct ids *out,
                      struct id_borders *out_borders, struct err *e);

#endif
