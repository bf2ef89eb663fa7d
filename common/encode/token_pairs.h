/* token_pairs.h - where text may be cut if no regex splits it, for models of characters. */
#ifndef BPE_ENCODE_TOKEN_PAIRS_H
#define BPE_ENCODE_TOKEN_PAIRS_H

#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/char_pairs.h"

/* Whether text that the model takes as one pretoken may be cut at all. */
bool token_pairs_apply(const struct model *m);

/* Makes the set of pairs of adjacent characters in the model's tokens, for pretoken_sink.pairs. -1: out of memory; free
 * it in any case. */
int token_pairs_init(struct char_pairs *s, const struct model *m, struct err *e);

#endif
