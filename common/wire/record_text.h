/* record_text.h - records as readable text: counts as lines `count TAB pretoken`; every other record as a line that
 * begins with `#`, followed by its contents (man/bpe-view.1). */
#ifndef BPE_WIRE_RECORD_TEXT_H
#define BPE_WIRE_RECORD_TEXT_H

#include "base/sys/buf.h"
#include "base/sys/str.h"
#include "wire/record.h"

#include <stdint.h>

/* State kept between records: a long pretoken, whose parts make one line. Zeroed: the start of a stream. */
struct record_text {
    uint64_t long_left; /* bytes of it still to come */
    uint64_t long_seq;  /* number of the record with the next part */
    unsigned char long_batch[ID_LEN];
};

/* Appends a record as text. -1: out of memory, or EX_DATAERR: damaged fields, or parts of a long pretoken that do not
 * follow each other. */
int record_text_put(struct record_text *t, struct buf *out, const struct record *rec, struct err *e);

/* Appends encoded rules, as in the line of a promise, commit or summary: " pattern=gpt2 special=<|endoftext|>". */
int record_text_rules(struct buf *out, struct str rules, struct err *e);

/* Appends bytes as part of a line: UTF-8 unchanged; control characters, backslashes and invalid UTF-8 escaped. */
int record_text_escape(struct buf *out, const unsigned char *p, size_t n, struct err *e);

/* The same in double quotes; of more than `most` bytes only the first characters, shorter than that, and "..." after
 * the quotes. Only the first `most` bytes are read. */
int record_text_quote(struct buf *out, const unsigned char *p, size_t n, size_t most, struct err *e);

/* Appends a count: an integer or, with a denominator, a fraction that is not reduced, so that sort -n compares the
 * counts of a sum. */
int record_text_count(struct buf *out, uint64_t count, uint64_t denominator, struct err *e);

#endif
