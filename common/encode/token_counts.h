/* token_counts.h - how often each token of a model occurs in a text, from the text's pretokens with their counts: each
 * distinct pretoken is encoded once. */
#ifndef BPE_ENCODE_TOKEN_COUNTS_H
#define BPE_ENCODE_TOKEN_COUNTS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/encode_pretoken.h"
#include "encode/ids.h"
#include "model/model.h"
#include "pretok/pretoken.h"

#include <stddef.h>
#include <stdint.h>

struct token_counts {
    uint64_t *count;   /* owned; by id, valid after token_counts_end */
    uint64_t n_tokens; /* the sum of all counts */
    uint64_t n_bytes;  /* of the text */
    /* Pretokens that will be encoded together. */
    struct pretoken_encoder encoder;
    struct buf bytes;   /* one after the other */
    struct id_list ids; /* space for their ids */
    struct word word[WORDS_MAX];
    uint64_t weight[WORDS_MAX]; /* their counts */
    size_t n;
};

/* The model is borrowed until token_counts_free. -1: out of memory; free it in any case. */
int token_counts_init(struct token_counts *c, const struct model *m, struct err *e);
void token_counts_free(struct token_counts *c); /* a zeroed struct is fine */

/* Adds a pretoken, *copied*, with its count. -1: out of memory, or (EX_DATAERR) a pretoken of 2^32 bytes or more, or
 * 2^64 bytes of text or more. */
int token_counts_add(struct token_counts *c, const struct pretoken *w, struct err *e);

int token_counts_end(struct token_counts *c, struct err *e); /* after the last pretoken */

#endif
