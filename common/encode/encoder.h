/* encoder.h - encodes pretokens to ids, with a cache: most pretokens of a text have occurred before, and most are one
 * token. */
#ifndef BPE_ENCODE_ENCODER_H
#define BPE_ENCODE_ENCODER_H

#include "base/sys/err.h"
#include "encode/encode_pretoken.h"
#include "encode/id_cache.h"
#include "encode/ids.h"
#include "encode/token_pairs.h"
#include "model/model.h"
#include "pretok/packed_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ENCODER_BATCH = 2048, /* pretokens whose ids are written together */
    NEW_ENOUGH = 256,     /* new pretokens that are encoded together; up to one batch of keys more */
    NEW_MAX = NEW_ENOUGH + KEY_BATCH,
};

/* A pretoken that is not in the cache yet. Until it is encoded, its value in the cache is value_pending(its index). */
struct new_pretoken {
    uint64_t where; /* its line in the cache, or its hash if it is longer than KEY12_MAX */
    uint64_t value;
};

struct encoder {
    struct char_pairs pairs; /* for pretoken_sink.pairs, if the model may use it: has_pairs */
    bool has_pairs;
    struct pretoken_encoder pretoken; /* encodes pretokens that are not in the cache */
    struct id_cache cache;
    pack_keys_fn *pack_keys;
    uint64_t value[ENCODER_BATCH];
    struct new_pretoken new[NEW_MAX];
    struct word word[NEW_MAX]; /* of each new pretoken */
    size_t n_new;
    struct id_list new_ids; /* of the new pretokens */
};

/* The model is borrowed until encoder_free. wide: as in the struct ids that will be passed; if false, every id must
 * fit into 16 bits. -1: out of memory. */
int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e);
void encoder_free(struct encoder *en); /* a zeroed encoder is fine */

/* Appends the ids of the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on. It may read 64 bytes
 * past the last. -1: out of memory. */
int encoder_pretokens(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct ids *ids, struct err *e);

#endif
