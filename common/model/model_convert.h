/* model_convert.h - from merges to ranks and back, for the formats' `check`. */
#ifndef BPE_MODEL_MODEL_CONVERT_H
#define BPE_MODEL_MODEL_CONVERT_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

/* Gives a model that merges by rank a list of merges, and makes special tokens that were a separate map (special_apart)
 * keys of the vocabulary; other models remain unchanged. -1: out of memory, or (EX_USAGE) a special token would have
 * the key of another token in a vocabulary whose keys are in byte-to-unicode form. */
int convert_to_merges(struct model *m, struct err *e);

/* Makes all added tokens keys of the vocabulary (`keyed`), unless the ids of those that are not keys are the ones that
 * Hugging Face assigns, from the number of keys on. */
void convert_keys(struct model *m);

/* Gives a model the list of merges, by id of the result, that is equivalent to merging two neighbors whenever their
 * text is a token of the vocabulary, the lowest rank first, the leftmost of equal ranks. Each token gets the merge that
 * makes it; *missing is the number of tokens that no merge makes. rank is indexed by id (CONVERT_NO_RANK: not made);
 * NULL: ids are ranks. In a model of characters, left or right is MODEL_NO_ID if it is a character that is not a token.
 * -1: out of memory. */
#define CONVERT_NO_RANK UINT32_MAX
int convert_by_ranks(struct model *m, const uint32_t *rank, size_t *missing, struct err *e);

/* Checks that a model gives the same ids when it merges by rank. It changes nothing. -1: out of memory, or (EX_USAGE)
 * ids would differ; the message names a token. */
int convert_to_ranks(struct model *m, struct err *e);

/* Sets *split to a new array of the merge that makes each token, by id: the last one when its own bytes (or
 * characters) are encoded. In any text the token is made by this merge, see model_convert.c. left MODEL_NO_ID: none,
 * because it is a byte or character, or is never made. ignore_merges has no influence. -1: out of memory, and *split is
 * NULL. */
int model_splits(const struct model *m, struct merge **split, struct err *e);

/* Sets *n to the number of vocabulary tokens that merging never makes, not even from only their own bytes, and *first
 * to the first of them (or MODEL_NO_ID). -1: out of memory. */
int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e);

#endif
