/* model_words.h - the options of a command that encodes, divided between bpe-chunk, which splits text as the model
 * says, and bpe-encode of what that writes. */
#ifndef BPE_DRIVER_MODEL_WORDS_H
#define BPE_DRIVER_MODEL_WORDS_H

#include "base/cli/options.h"

#include <stdbool.h>

/* Appends those of the words (--NAME or --NAME=VALUE) that are for bpe-chunk: special tokens without their ids.
 * as_text: special tokens are read as text. */
int model_words_chunk(struct option_words *to, const struct option_words *from, bool as_text, struct err *e);

/* Appends those that are for bpe-encode: how text is read is in its records. */
int model_words_encode(struct option_words *to, const struct option_words *from, struct err *e);

/* The first word that is for bpe-encode alone; NULL: there is none. */
const char *model_words_first_of_encode(const struct option_words *from);

#endif
