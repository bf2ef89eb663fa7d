/* assign_ids.h - turns the result of the trainer into a model with ids.
 *
 * Symbols are numbered as in the trainer (trainer.h): 0 .. 255 are the bytes by value, 256 + k is the result of merge
 * k. Ids are those in the files: the 256 bytes in the order of the GPT-2 byte-to-unicode map ("!" first), then the
 * merges in order, with the special tokens before or after all of these.
 *
 * Hugging Face keeps the vocabulary as a map by string, as in vocab.json. A string that occurs twice (a special token
 * with the text of a byte or a merged token; a token that two merges make) is stored once: both have the same id, a
 * special token's if one is among them, and no id is unused. In tiktoken, special tokens are a separate map: a special
 * token with the text of another token has its own id, and special tokens come last.
 */
#ifndef BPE_MODEL_ASSIGN_IDS_H
#define BPE_MODEL_ASSIGN_IDS_H

#include "base/sys/err.h"
#include "model/formats.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The learned merges, and the special tokens and pattern to use with them. All borrowed. */
struct learned {
    const struct merge *merges; /* of symbols; left and right are smaller than the resulting symbol */
    size_t n_merges;
    const uint64_t *merge_count;         /* as in struct model; NULL: not known */
    const struct special_token *special; /* in the order of their ids */
    size_t n_special;
    bool special_first;
    const char *pattern;     /* as in struct model */
    const struct str *regex; /* as in struct model; also set for built-in patterns that have regexes */
    size_t n_regex;
    struct str prefix, split; /* as in struct rules */
    enum normalizer normalizer;
    bool merges_as_strings;
};

/* Sets the special tokens and the pattern, in the form that models use. -1 with EX_DATAERR: a pattern of another
 * version. */
int learned_set_rules(struct learned *l, const struct rules *r, struct err *e);

/* Makes the model to be written in a format (which determines how special tokens are stored); call model_free after
 * success. It borrows nothing. -1: out of memory, or (EX_USAGE) the format cannot express it, or there are 2^31 tokens
 * or more. */
int assign_ids(struct model *m, const struct learned *l, const struct model_format *format, struct err *e);

/* Refuses (EX_USAGE) a special token of that model that is spelled like a token of other bytes: one id would mean both.
 */
int assign_ids_check(const struct model *m, struct err *e);

#endif
