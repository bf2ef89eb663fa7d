/* token_counts.h - how often each token of a model occurs in a text, from the text's pretokens with their counts: each
 * distinct pretoken is encoded once.
 *
 * A model with superwords is encoded in two stages, whose first also shows how many tokens there were without
 * superwords. If these join whole pretokens (BoundlessBPE), tokens depend on the pretokens around, so all pretokens of
 * the text must come in order. For other models the caller may choose this, to see which tokens belong together.
 */
#ifndef BPE_ENCODE_TOKEN_COUNTS_H
#define BPE_ENCODE_TOKEN_COUNTS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/encode_pretoken.h"
#include "encode/ids.h"
#include "encode/superword_tokens.h"
#include "model/model.h"
#include "pretok/pretoken.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_counts {
    const struct model *model; /* borrowed */
    uint64_t *count;           /* owned; by id, valid after token_counts_end */
    uint64_t n_tokens;         /* the sum of all counts */
    uint64_t n_bytes;          /* of the text; not with in_order */
    /* For a model with superwords. */
    struct superword_tokens superwords;
    uint64_t n_superwords;           /* how many of the tokens are superwords */
    uint64_t n_first;                /* the number of tokens without them: those of the first stage */
    uint64_t first_before;           /* this number, when token_counts_begin was called */
    bool in_order;                   /* call token_counts_text and token_counts_break instead of token_counts_add */
    struct ordered_encoder *ordered; /* owned; NULL: not needed so far */
    /* Pretokens that will be encoded together. */
    struct pretoken_encoder encoder; /* if superwords.is is NULL, and not in_order */
    bool has_encoder;
    struct buf bytes;   /* one after the other */
    struct id_list ids; /* space for their ids */
    struct word word[WORDS_MAX];
    uint64_t weight[WORDS_MAX]; /* their counts */
    size_t n;
};

/* The model is borrowed until token_counts_free. Call token_counts_begin next. -1: out of memory; free it in any
 * case. */
int token_counts_init(struct token_counts *c, const struct model *m, struct err *e);
void token_counts_free(struct token_counts *c); /* a zeroed struct is fine */

/* Begins a text: all counts are 0. in_order: its pretokens will come in order, which some models need in any case. -1:
 * out of memory. */
int token_counts_begin(struct token_counts *c, bool in_order, struct err *e);

/* The encoder of a text whose pretokens come in order, after token_counts_begin. It may encode other text before the
 * first pretoken and after the last. */
struct encoder *token_counts_encoder(struct token_counts *c);

/* Adds a pretoken, *copied*, with its count. -1: out of memory; EX_DATAERR: a pretoken of 2^32 bytes or more, or 2^64
 * bytes of text or more; EX_USAGE: in_order. */
int token_counts_add(struct token_counts *c, const struct pretoken *w, struct err *e);

/* With in_order. The first: adds pretokens, as encoder_pretokens; the second: the next ones do not follow them, as
 * encoder_end. */
int token_counts_text(struct token_counts *c, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct err *e);
int token_counts_break(struct token_counts *c, struct err *e);
void token_counts_token(struct token_counts *c, uint32_t id); /* adds a token, after token_counts_break */

int token_counts_end(struct token_counts *c, struct err *e); /* after the last pretoken */

#endif
