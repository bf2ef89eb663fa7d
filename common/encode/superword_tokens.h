/* superword_tokens.h - which tokens of a model are superwords: those that the merges of its second stage make
 * (superwords.h). Most of them span several pretokens of the first stage, and many of them several words.
 */
#ifndef BPE_ENCODE_SUPERWORD_TOKENS_H
#define BPE_ENCODE_SUPERWORD_TOKENS_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>

struct superword_tokens {
    bool *is; /* owned; by id; NULL: the model has no superwords, or must be encoded in one stage. A model that does not
                 split text has none: words and superwords are learned in one stage */
    size_t n; /* how many tokens are superwords */
};

/* -1: out of memory; free it in any case. */
int superword_tokens_find(struct superword_tokens *s, const struct model *m, struct err *e);
void superword_tokens_free(struct superword_tokens *s); /* a zeroed struct is fine */

/* The number of words of a token: what lies between spaces (0x20), as for SuperBPE's trainer. */
size_t superword_tokens_words(const struct model_token *t);

#endif
