/* superword_model.h - the model between two rounds of training on superwords (superwords/live_pairs.h). */
#ifndef BPE_SUPERWORDS_SUPERWORD_MODEL_H
#define BPE_SUPERWORDS_SUPERWORD_MODEL_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a model, and prepares it: it gets a list of merges, and loses ignore_merges, with which a whole pretoken
 * becomes a token in another way. -1: it cannot be read, or EX_USAGE: it cannot have superwords. Free it in any case.
 */
int superword_model_read(struct model *m, const char *path, struct err *e);

/* Makes text split by superbpe, or (lines) by superbpe-lines, instead of the model's own pattern, so that its merges
 * join words: the model of the first round. -1: EX_USAGE: a model that cannot learn superwords; or out of memory. */
int superword_model_make(struct model *m, bool lines, struct err *e);

/* A hash of all that determines which ids text has, apart from special tokens: the tokens, the merges, the pattern. */
uint64_t superword_model_hash(const struct model *m);

#endif
