/* word_sequence.h - iterates over the pretokens in the words records of one batch, which must come in order; long
 * pretokens are assembled. */
#ifndef BPE_WIRE_WORD_SEQUENCE_H
#define BPE_WIRE_WORD_SEQUENCE_H

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "pretok/pretoken.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct word_sequence { /* zeroed: before the first record */
    uint64_t n_records;
    uint64_t denominator; /* of all counts, from the first record on */
    struct cursor in;     /* the remaining pretokens of the record put last; borrowed from it */
    struct buf long_one;
    uint64_t long_len, long_count; /* of the long pretoken being assembled; long_len 0: none */
};

void word_sequence_free(struct word_sequence *s);

/* Continues with the next record, which is borrowed until the one after it. -1: out of memory, or EX_DATAERR: damaged
 * fields, not the next number (from 0), or not the next part of a long pretoken. */
int word_sequence_put(struct word_sequence *s, const struct record *rec, struct err *e);

/* Gets the next pretoken, borrowed until the next record. 1: got it; 0: another record is needed; -1: EX_DATAERR. */
int word_sequence_next(struct word_sequence *s, struct pretoken *w, struct err *e);

/* Whether the sequence is inside a long pretoken. */
static inline bool word_sequence_is_open(const struct word_sequence *s)
{
    return s->long_len > 0;
}

#endif
