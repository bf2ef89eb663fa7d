/* superword_round.h - counts of ids instead of pretokens: what they are, and by which model. A round of training on
 * superwords counts with them (superwords/id_counter.h), and they are in the rules of such counts, so that those of
 * different rounds are never added up (struct rules: superwords).
 *
 * The "pretokens" of these counts are ids, each of `width` bytes, little-endian. A single id is followed by one byte 0,
 * so only its length is odd. The single id SUPERWORDS_SLACK, all ones in any width, is none: its count is how often any
 * pair may have occurred without being counted.
 */
#ifndef BPE_WIRE_SUPERWORD_ROUND_H
#define BPE_WIRE_SUPERWORD_ROUND_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUPERWORDS_SLACK UINT32_MAX

enum superword_words {
    SUPERWORDS_PAIRS, /* pairs of adjacent tokens, and single tokens */
    SUPERWORDS_RUNS,  /* runs of tokens between pairs that are not live, and single tokens */
    SUPERWORDS_LIVE,  /* the most frequent pairs, first of all the live ones, and single tokens, with their counts */
    SUPERWORDS_N,
};

struct superword_round {
    enum superword_words words;
    uint64_t width;    /* 2 or 4 */
    uint64_t n_merges; /* of the model, */
    uint64_t model;    /* and its superword_model_hash */
    uint64_t floor;    /* of runs and of live pairs: all pairs that may occur as often are live, > 0; else 0 */
    uint64_t least; /* of pairs and of live pairs: all that may occur as often are there; of live pairs, > 0; else 0 */
    uint64_t live;  /* of runs: the hash of the live pairs; of pairs: that of the pairs of an earlier round; else 0 */
    uint64_t text;  /* of live pairs: bytes of the text; of runs, and of pairs with `live`: what those had; else 0 */
};

/* Whether a word of these counts is SUPERWORDS_SLACK. */
bool superword_is_slack(const unsigned char *p, size_t len);

/* The names of the words in records and messages. */
extern const char *const superword_words_names[SUPERWORDS_N];

/* Appends the encoded value. */
int superword_round_put(struct buf *out, const struct superword_round *r, struct err *e);

/* Reads it. -1 with EX_DATAERR: it is damaged. */
int superword_round_get(struct superword_round *r, struct str encoded, struct err *e);

/* Checks that counts are of as many bytes of text as the live pairs by which they were counted. -1: EX_DATAERR. */
int superword_round_check_text(const struct superword_round *r, uint64_t text, struct err *e);

#endif
