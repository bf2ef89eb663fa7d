/* token_pairs.h - where the text of a model of characters that is not split by a regex may be cut. */
#ifndef BPE_ENCODE_TOKEN_PAIRS_H
#define BPE_ENCODE_TOKEN_PAIRS_H

#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/char_pairs.h"

/* Whether a text that the model takes as one pretoken may be cut at all. */
bool token_pairs_apply(const struct model *m);

/* Makes the set of the pairs of characters that the model's tokens have: for pretoken_sink.pairs. -1: out of memory; to
 * be freed in any case. */
int token_pairs_init(struct char_pairs *s, const struct model *m, struct err *e);

#endif
