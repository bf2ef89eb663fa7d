/* model_convert.h - from merges to ranks and back, for the formats' `check`. */
#ifndef BPE_MODEL_MODEL_CONVERT_H
#define BPE_MODEL_MODEL_CONVERT_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

/* Gives a model that merges by rank a list of merges; any other stays unchanged. -1: out of memory, or (EX_USAGE) a
 * special token would have the key of another in a vocabulary whose keys are in byte-to-unicode form. */
int convert_to_merges(struct model *m, struct err *e);

/* Gives a model the list of merges, by id of the result, that is equal to merging two neighbours whenever their text is
 * a token of the vocabulary, that of the lowest rank first, of equal ranks the leftmost: for each token that by which
 * it is made. *missing: how many are not. rank: by id, or CONVERT_NO_RANK: not made; NULL: ids are ranks. Of
 * characters, left or right may be MODEL_NO_ID: the token is made of one that is no token. -1: out of memory. */
#define CONVERT_NO_RANK UINT32_MAX
int convert_by_ranks(struct model *m, const uint32_t *rank, size_t *missing, struct err *e);

/* Checks that a model gives the same ids when it merges by rank. Nothing is changed. -1: out of memory, or (EX_USAGE)
 * it does not; the message says where. */
int convert_to_ranks(struct model *m, struct err *e);

/* The number of vocabulary tokens that merging never makes, not even from their own bytes alone, and the first of them
 * (or MODEL_NO_ID). -1: out of memory. */
int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e);

#endif
