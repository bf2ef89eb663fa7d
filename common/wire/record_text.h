/* record_text.h - records as readable text: counts as lines `count TAB pretoken`; every other record as a line that
 * begins with `#`, followed by its contents (man/bpe-view.1). */
#ifndef BPE_WIRE_RECORD_TEXT_H
#define BPE_WIRE_RECORD_TEXT_H

#include "base/sys/buf.h"
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

/* Appends bytes as part of a line: UTF-8 unchanged; control characters, backslashes and invalid UTF-8 escaped. */
int record_text_escape(struct buf *out, const unsigned char *p, size_t n, struct err *e);

#endif
