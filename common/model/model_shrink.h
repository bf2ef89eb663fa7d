/* model_shrink.h - smaller vocabularies: removes tokens from a model, and the merges of which they are a part or the
 * result.
 *
 * Bytes (in models of characters: characters, and the tokens for unknown ones) and added tokens are never removed. If
 * any token is removed, ids become consecutive; the order of the tokens stays the same.
 *
 * A token that merging makes is made by the merge of its split (model_splits), after its parts by the merges of theirs,
 * and so on. These tokens stay as long as it does, and a merge that its own bytes do not need has no influence on it.
 * So of the tokens that stay, each one that merging makes is still made.
 */
#ifndef BPE_MODEL_MODEL_SHRINK_H
#define BPE_MODEL_MODEL_SHRINK_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* Cuts the vocabulary to n tokens: removes the tokens that the last merges make, and drops all merges after the last
 * one that makes a token that stays, as if training had stopped there. A model that merges by rank, or whose merges are
 * in the order of ids, loses the largest ids; in others, tokens that no merge makes stay. -1 with EX_USAGE: n is more
 * tokens than there are, or fewer than must stay; or out of memory. */
int model_cut(struct model *m, uint64_t n, struct err *e);

/* Removes n tokens by leaf pruning (Purason et al., "Teaching Old Tokenizers New Words", arXiv 2512.03989): repeatedly
 * the token with the lowest count, the largest id of equal ones, among those that are part of no other token's split.
 * Its count is then added to those of its two parts. count: how often each token occurs, by id; it is changed. The sum
 * of count * length over all tokens must be below 2^64. The model must be one of bytes. -1 with EX_USAGE: there are not
 * as many; or out of memory. */
int model_prune(struct model *m, uint64_t n, uint64_t *count, struct err *e);

/* Keeps only the merges that are used, by rank, and removes the tokens that only others make. The model must be one of
 * bytes with a list of merges. -1: out of memory. */
int model_keep_used(struct model *m, const bool *used, struct err *e);

#endif
