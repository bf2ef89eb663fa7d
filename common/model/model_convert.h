/* model_convert.h - from merges to ranks and back: what the formats' check is made of. */
#ifndef BPE_MODEL_MODEL_CONVERT_H
#define BPE_MODEL_MODEL_CONVERT_H

#include "core/model.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* Gives a model that merges by rank its list of merges; any other stays as it is. -1: out of memory, or (EX_USAGE) a
 * special token would have another's key in a vocabulary whose keys are in byte-to-unicode form. */
int convert_to_merges(struct model *m, struct err *e);

/* Whether a model says the same when it merges by rank. Nothing is changed. -1: out of memory, or (EX_USAGE) it does
 * not; the message says where. */
int convert_to_ranks(struct model *m, struct err *e);

/* How many tokens of the vocabulary merging never makes, not even of their own bytes alone, and the first of them (or
 * MODEL_NO_ID). -1: out of memory. */
int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e);

#endif
