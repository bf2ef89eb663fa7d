/* model_words.h - divides the options of a command that encodes between bpe-chunk, which splits the text by the model's
 * rules, and bpe-encode, which encodes the chunks. */
#ifndef BPE_DRIVER_MODEL_WORDS_H
#define BPE_DRIVER_MODEL_WORDS_H

#include "base/cli/options.h"

#include <stdbool.h>

/* Appends the words (--NAME or --NAME=VALUE) that are for bpe-chunk, with special tokens stripped of their ids.
 * as_text: special tokens are read as text. */
int model_words_chunk(struct option_words *to, const struct option_words *from, bool as_text, struct err *e);

/* Appends the words for bpe-encode, without input options: the records have these. */
int model_words_encode(struct option_words *to, const struct option_words *from, struct err *e);

/* The first word that is only for bpe-encode; NULL: none. */
const char *model_words_first_of_encode(const struct option_words *from);

#endif
