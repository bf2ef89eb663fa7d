/* model_extend.h - appends merges and their tokens to a model. */
#ifndef BPE_MODEL_MODEL_EXTEND_H
#define BPE_MODEL_MODEL_EXTEND_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

/* How much a model holds. */
struct model_size {
    uint32_t n_ids;
    uint32_t n_vocab; /* the special tokens at the end begin here */
    size_t n_merges, n_special;
};

struct model_size model_size(const struct model *m);

/* Appends merges, of ids, to the model's list (convert_to_merges). A result that is not an id of the model is a new
 * token; the ids of new tokens follow the last, in the order of the merges. Then appends the special tokens, which must
 * not be tokens of the model. All are *copied*. special_last: the special tokens at the end of the model then move up,
 * so that the new tokens come before them. -1: out of memory; call model_free in any case. */
int model_extend(struct model *m, const struct merge *merges, size_t n, const struct special_token *special,
                 size_t n_special, bool special_last, struct err *e);

/* Takes back model_extend (with the same special_last), if it was called since the model had this size. -1 as there. */
int model_truncate(struct model *m, const struct model_size *size, bool special_last, struct err *e);

#endif
