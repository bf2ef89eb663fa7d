/* model_grow.h - adds special tokens to a model. */
#ifndef BPE_MODEL_MODEL_GROW_H
#define BPE_MODEL_MODEL_GROW_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

/* Adds n special tokens (*copied*; valid UTF-8, not empty, not in the model), each with the next id after the largest.
 * (A text that is a key of the vocabulary, but that nothing becomes, gets the id of that key, as in Hugging Face
 * tokenizers.) Then adds <|reserved_0|>, <|reserved_1|> and so on, without those that exist, until n_ids is a multiple
 * of `multiple`. The tokens that end a text and pad stay the same, even if a new one has a more usual name. -1: out of
 * memory; EX_USAGE: the vocabulary spells another token like this, or there are too many. */
int model_add_special(struct model *m, const struct str *text, size_t n, uint64_t multiple, struct err *e);

#endif
