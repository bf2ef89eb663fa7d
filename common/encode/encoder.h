/* encoder.h - pretokens to ids, remembering what came before: most pretokens of a text have come already, and most are
 * one token.
 */
#ifndef BPE_ENCODE_ENCODER_H
#define BPE_ENCODE_ENCODER_H

#include "core/model.h"
#include "core/packed_key.h"
#include "encode/encode_word.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids, of 2 or 4 bytes each, in the order of this machine's bytes. */
struct ids {
    bool wide;        /* uint32_t; else uint16_t */
    unsigned char *p; /* owned */
    size_t n, cap;    /* in ids */
};

int ids_reserve(struct ids *ids, size_t more, struct err *e); /* makes room for `more` ids past n */
int ids_put(struct ids *ids, uint32_t id, struct err *e);
void ids_free(struct ids *ids);

/* What is remembered of a word is a value: its id; or LIST, how many ids it has, and where they are in `lists`. */
struct encoder_tiny {
    uint64_t head; /* see struct tiny_key */
    uint32_t tail; /* 0: free */
    uint32_t value;
};

struct encoder_short {
    uint64_t key[3]; /* see struct short_key; the last 0: free */
    uint64_t value;
};

struct encoder_long {
    uint64_t hash;
    uint32_t at, len; /* of the bytes in `bytes`; len 0: free */
    uint32_t value;
};

struct encoder {
    struct word_encoder word;
    /* Three tables by the length of words, open addressing, at most 5/8 full. When one of them, or the lists, would
     * exceed its limit all are emptied: what is frequent comes back soon. */
    struct encoder_tiny *tiny;
    struct encoder_short *shorts;
    struct encoder_long *longs;
    size_t n_tiny, n_short, n_long;
    unsigned tiny_shift, short_shift, long_shift; /* there are 2^(64 - shift) slots */
    size_t spare;                                 /* a tiny slot that is free */
    struct ids lists;
    struct buf bytes; /* of long words */
    uint64_t secret[3];
    tiny_split_fn *split;
};

/* The model is borrowed until encoder_free. wide: of the ids asked for; all must fit if they are not. -1: out of
 * memory.
 */
int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e);
void encoder_free(struct encoder *en); /* a zeroed encoder is fine */

/* Appends the ids of the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; 64 bytes past the last
 * may be read. -1: out of memory. */
int encoder_words(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  struct ids *ids, struct err *e);

#endif
