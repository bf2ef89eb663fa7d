/* word_sequence.h - the pretokens in the words records of one batch, which come in order: long ones put together. */
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
    struct cursor in; /* the pretokens of the record put last that are still to come; borrowed from it */
    struct buf long_one;
    uint64_t long_len, long_count; /* of the long pretoken whose parts come; long_len 0: none */
};

void word_sequence_free(struct word_sequence *s);

/* Goes on with the next record, which is borrowed until the one after it. -1: EX_DATAERR, it has damaged fields,
 * another number than must follow (from 0), or not the part of a long pretoken that must follow; or out of memory. */
int word_sequence_put(struct word_sequence *s, const struct record *rec, struct err *e);

/* The next pretoken, borrowed until the next record. 1; 0: that takes another record; -1: EX_DATAERR. */
int word_sequence_next(struct word_sequence *s, struct pretoken *w, struct err *e);

/* Whether the sequence is inside a long pretoken. */
static inline bool word_sequence_is_open(const struct word_sequence *s)
{
    return s->long_len > 0;
}

#endif
