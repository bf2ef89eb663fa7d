/* extension.h - the vocabulary of a model that is extended: which token a merge makes, and whether it may be made. For
 * trainer.c.
 *
 * A merge may make a string that is a token already; then it makes that token. Otherwise it makes a new token, unless
 *   - the string is that of a special token, which has an id of its own, or
 *   - the model would never make it. That is possible, because merges of the model may apply again once a new merge has
 *     made one of its tokens in another way. Such a token would only waste an id.
 *
 * Superwords that join whole pretokens (struct model: joins) are made apart from words, so the model does make them;
 * but their strings must be new.
 */
#ifndef BPE_TRAIN_EXTENSION_H
#define BPE_TRAIN_EXTENSION_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/hash_index.h"
#include "base/sys/str.h"
#include "model/model.h"
#include "model/token_index.h"

#include <stddef.h>
#include <stdint.h>

struct extension {
    const struct model *base;            /* borrowed */
    const struct special_token *special; /* borrowed: new special tokens; set by the caller */
    size_t n_special;
    bool joins; /* set by the caller: merges join whole pretokens */
    /* Set by the caller: the pairs are of tokens that the model made of whole pretokens. Merges inside a string depend
     * on it alone, and new tokens are in no merge of the model: so it makes what a pair merges to. No longer, if that
     * was a token of the model. */
    bool encoded;
    struct model_token *token; /* by id: those of the model, then the new ones, as they are spelled (spell_tokens) */
    size_t n, n_base, cap;     /* n_base: the number of those of the model, to which tokens may be appended meanwhile */
    struct token_index index;  /* of the tokens that are not special */
    struct merge *merge;       /* by rank, of ids: those of the model, then the new ones */
    size_t n_merges, merges_cap;
    struct hash_index rank; /* finds merges by their pair */
    bool *inert;        /* by id, for the model's tokens: no merge may take it, because it stands for a byte or for an
                               unknown character */
    struct str spelled; /* owned: the bytes of the model's tokens, if they are spelled with U+2581 */
    struct buf text;    /* working memory: a token's bytes */
    uint32_t *unit;     /* the same: a string as tokens */
    size_t units_cap;
};

/* The model must have a list of merges (convert_to_merges); it is borrowed until extension_free, which is needed in any
 * case. -1: out of memory. */
int extension_init(struct extension *x, const struct model *base, struct err *e);
void extension_free(struct extension *x);

enum { EXTENSION_BARRED, EXTENSION_KNOWN, EXTENSION_ADDED, EXTENSION_NEW };

/* Decides on the merge of two tokens and adds it and its token to x, unless they exist:
 *   EXTENSION_BARRED  it may not be made
 *   EXTENSION_KNOWN   the merge exists
 *   EXTENSION_ADDED   the merge is new, the token exists
 *   EXTENSION_NEW     both are new; the token's id is one above the last
 * *result is set unless it is barred. -1: out of memory, or, if it joins pretokens, EX_DATAERR: the token exists. */
int extension_merge(struct extension *x, uint32_t left, uint32_t right, uint32_t *result, struct err *e);

#endif
