/* joined_model.h - a model while it learns superwords that join whole pretokens (struct model: joins). */
#ifndef BPE_SUPERWORDS_JOINED_MODEL_H
#define BPE_SUPERWORDS_JOINED_MODEL_H

#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/special.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends n merges of superwords, of ids, each of which makes a new token: the ids follow the last in order; and how
 * often each occurred. Then appends special tokens (model_extend.h). All are *copied*. Ids change so that the model can
 * be written (format_boundless.c). -1: out of memory; call model_free in any case. */
int joined_model_extend(struct model *m, const struct merge *merges, const uint64_t *count, size_t n,
                        const struct special_token *special, size_t n_special, struct err *e);

/* Gives the model such ids. -1: out of memory, or an error of model_renumber. */
int joined_model_renumber(struct model *m, struct err *e);

/* Ends the competition of words and superwords (JOINS_COMPETE): only the merges stay that had their turn, where of the
 * next word and the next superword, in their order, the more frequent one is next, of equal ones the word. The ids of
 * their tokens are in the order of the turns. full: as many merges stay as the model had of words; else those up to the
 * last superword, or all words if there is none. -1: out of memory. */
int joined_model_settle(struct model *m, bool full, struct err *e);

#endif
