/* encoder.h - encodes pretokens to ids, with a cache: most pretokens of a text have occurred before, and most are one
 * token. A model with superwords is encoded in two stages (super_encoder.h, join_encoder.h).
 */
#ifndef BPE_ENCODE_ENCODER_H
#define BPE_ENCODE_ENCODER_H

#include "base/sys/err.h"
#include "encode/cached_encoder.h"
#include "encode/encode_pretoken.h"
#include "encode/ids.h"
#include "encode/join_encoder.h"
#include "encode/super_encoder.h"
#include "encode/token_pairs.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct encoder {
    struct char_pairs pairs; /* for pretoken_sink.pairs, if the model may use it: has_pairs */
    bool has_pairs;
    struct pretoken_encoder pretoken; /* encodes pretokens, or their pieces, that are not in the cache */
    struct cached_encoder cached;
    struct super_encoder *super; /* owned; NULL: the model has no superwords, or must be encoded in one stage */
    struct join_encoder *join;   /* owned; NULL: it has no superwords that join whole pretokens */
    struct id_borders *borders;  /* set by the caller to borrowed borders, or NULL: gets the end of each pretoken in the
                                    ids; with `join`, of each sequence that superwords may join */
};

/* The model is borrowed until encoder_free, and the encoder must not be moved. wide: as in the struct ids that will be
 * passed; if false, every id must fit into 16 bits. -1: out of memory. */
int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e);

/* The same, to train superwords, which the model may not have yet: pretokens hold many words, and are encoded in
 * pieces; or, if model->joins, there is a `join`. */
int encoder_init_long(struct encoder *en, const struct model *model, bool wide, bool long_pretokens, struct err *e);
void encoder_free(struct encoder *en); /* a zeroed encoder is fine */

/* Appends the ids of the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on. It may read 64 bytes
 * past the last. -1: out of memory. */
int encoder_pretokens(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct ids *ids, struct err *e);

/* Call this where a text ends, or is cut, and before a special token: superwords may join pretokens (join_encoder.h),
 * so encoder_pretokens may have kept the last ids, and this appends them. -1: out of memory. */
static inline int encoder_end(struct encoder *en, struct ids *ids, struct err *e)
{
    return en->join ? join_encoder_end(en->join, ids, en->borders, e) : 0;
}

#endif
