/* join_encoder.h - encodes with superwords that join whole pretokens (struct model: n_super), in two stages.
 *
 * Each pretoken is encoded by the merges of words. The second stage (superwords.h) then merges adjacent pretokens that
 * are one id each. Around every id of other pretokens there is a border, and one wherever the caller ends a sequence of
 * pretokens, as at a special token.
 */
#ifndef BPE_ENCODE_JOIN_ENCODER_H
#define BPE_ENCODE_JOIN_ENCODER_H

#include "base/sys/err.h"
#include "encode/cached_encoder.h"
#include "encode/ids.h"
#include "encode/superwords.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join_encoder {
    struct model words;        /* the first stage: the model, without the merges of superwords; it owns nothing */
    struct ids ids;            /* of the first stage, that may still be joined */
    struct id_borders borders; /* in them */
    struct superwords second;
    uint64_t n_words; /* how many ids the first stage has made so far */
};

/* The model is borrowed until join_encoder_free. wide: as in the struct ids that will be passed. -1: out of memory, or
 * EX_USAGE: its merges of superwords are not a second stage (superwords_check). */
int join_encoder_init(struct join_encoder *j, const struct model *m, bool wide, struct err *e);
void join_encoder_free(struct join_encoder *j);

/* Like encoder_pretokens, but the last ids may be appended by a later call. words: encodes by the model j->words, to
 * ids of the width of j->ids. borders: see struct encoder. */
int join_encoder_pretokens(struct join_encoder *j, struct cached_encoder *words, const unsigned char *text,
                           size_t start, const uint32_t *ends, size_t n, struct ids *ids, struct id_borders *borders,
                           struct err *e);

/* Appends all ids: no merge joins the pretokens so far and later ones. -1: out of memory. */
int join_encoder_end(struct join_encoder *j, struct ids *ids, struct id_borders *borders, struct err *e);

#endif
