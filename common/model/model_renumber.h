/* model_renumber.h - gives the tokens of a model other ids. */
#ifndef BPE_MODEL_MODEL_RENUMBER_H
#define BPE_MODEL_MODEL_RENUMBER_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdint.h>

/* Token id becomes new_id[id], below n; all new ids are different, and those of special tokens are in the same order.
 * MODEL_NO_ID: the token is removed, which is not special, and no part or result of a merge. If the model had an index,
 * it has none afterwards, unless encoding needs it. -1 with EX_USAGE: the post_processor contains a token that is
 * removed; or out of memory. */
int model_renumber(struct model *m, const uint32_t *new_id, uint32_t n, struct err *e);

#endif
