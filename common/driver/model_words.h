/* model_words.h - options for bpe-chunk that come with a model: those of a command that encodes, which are divided
 * between bpe-chunk, which splits the text by the model's rules, and bpe-encode, which encodes the chunks; and those of
 * one that extends a model. */
#ifndef BPE_DRIVER_MODEL_WORDS_H
#define BPE_DRIVER_MODEL_WORDS_H

#include "base/cli/options.h"
#include "usage/chunk_usage.h"
#include "usage/merge_usage.h"

#include <stdbool.h>

/* Appends the words (--NAME or --NAME=VALUE) that are for bpe-chunk, with special tokens stripped of their ids.
 * as_text: special tokens are read as text. */
int model_words_chunk(struct option_words *to, const struct option_words *from, bool as_text, struct err *e);

/* Appends the words for bpe-encode, without input options: the records have these. */
int model_words_encode(struct option_words *to, const struct option_words *from, struct err *e);

/* With bpe-merge --init: sets the model in the options of bpe-chunk and appends the word. Call it before these are
 * checked. */
int model_words_init(const struct merge_options *merge, struct chunk_options *chunk, struct option_words *to,
                     struct err *e);

/* The first word that is only for bpe-encode; NULL: none. */
const char *model_words_first_of_encode(const struct option_words *from);

#endif
