/* super_encoder.h - encodes the pretokens of a model with superwords (superwords.h), which are long and seldom occur
 * again, in two stages.
 *
 * A pretoken is cut into pieces, which do occur again, between any two bytes that are adjacent in no token of the first
 * stage: no merge of that stage crosses such a place, so the pieces are encoded one by one. Fewer cuts than possible
 * are exact, too.
 */
#ifndef BPE_ENCODE_SUPER_ENCODER_H
#define BPE_ENCODE_SUPER_ENCODER_H

#include "base/sys/err.h"
#include "encode/cached_encoder.h"
#include "encode/ids.h"
#include "encode/superwords.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A batch of pieces. */
struct pieces {
    uint32_t end[ENCODER_BATCH];
    size_t n;
    size_t border[ENCODER_BATCH]; /* how many of them come before the end of each pretoken */
    size_t n_borders;
};

struct super_encoder {
    bool one_stage;             /* there are no merges of a second stage: what follows `pieces` is not used */
    struct model stage;         /* the first stage: the model, without the merges of the second; it owns nothing */
    unsigned char cut[1 << 16]; /* by two bytes in memory: whether to cut between them */
    struct pieces pieces;
    struct ids ids;            /* of the first stage; its width is set in any case */
    struct id_borders borders; /* of the pretokens in them */
    struct superwords second;
    struct id_borders *ends; /* set by the caller to borrowed borders, or NULL: gets the end of each pretoken in the ids
                                of the first stage, which go on from call to call */
    size_t n_passed;         /* how many of these ids have gone to the second stage */
};

/* The model is borrowed until super_encoder_free; first: as found by superwords_find, or the number of merges: one
 * stage. wide: as in the struct ids that will be passed. -1: out of memory. */
int super_encoder_init(struct super_encoder *s, const struct model *m, size_t first, bool wide, struct err *e);
void super_encoder_free(struct super_encoder *s); /* a zeroed struct is fine */

/* Like encoder_pretokens. pieces: encodes by the model s->stage, to ids of the width of s->ids. borders: see struct
 * encoder. */
int super_encoder_pretokens(struct super_encoder *s, struct cached_encoder *pieces, const unsigned char *text,
                            size_t start, const uint32_t *ends, size_t n, struct ids *ids, struct id_borders *borders,
                            struct err *e);

#endif
