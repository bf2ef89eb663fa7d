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
    size_t n_merges, n_special;
};

struct model_size model_size(const struct model *m);

/* Removes all that model_extend has appended since the model had this size. */
void model_truncate(struct model *m, const struct model_size *size);

/* Appends merges, of ids, to the model's list (convert_to_merges). A result that is not an id of the model is a new
 * token; the ids of new tokens follow the last, in the order of the merges. Then appends the special tokens, which must
 * not be tokens of the model. All are *copied*. -1: out of memory; call model_free in any case. */
int model_extend(struct model *m, const struct merge *merges, size_t n, const struct special_token *special,
                 size_t n_special, struct err *e);

#endif
