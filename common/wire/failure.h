/* failure.h - a record of an error, sent downstream, so that the program that checks completeness at the end of the
 * pipeline can report it. */
#ifndef BPE_WIRE_FAILURE_H
#define BPE_WIRE_FAILURE_H

#include "base/sys/str.h"
#include "wire/record.h"

#include <stdint.h>

#define FAILURE_NOWHERE UINT64_MAX /* a source or an offset that is not known */

struct failure {
    const unsigned char *run; /* ID_LEN bytes; all zero: unknown; then it is also unknown what was lost */
    uint64_t source, offset;  /* where it failed, or FAILURE_NOWHERE */
    uint64_t code;            /* exit status */
    struct str msg;
};

/* Appends the whole record, never longer than RECORD_ATOMIC (the message is truncated to fit). -1: out of memory. */
int failure_put_record(struct buf *out, const struct failure *f, struct err *e);

/* Reads one; pointers are borrowed from the record. -1 with EX_DATAERR. */
int failure_get(struct failure *f, const struct record *rec, struct err *e);

/* Appends a record of this program's error. run may be NULL: not known. -1: out of memory. */
int failure_put_error(struct buf *out, const unsigned char *run, uint64_t source, uint64_t offset,
                      const struct err *why, struct err *e);

/* Writes that record to a descriptor, by one write(2). A write error is ignored, because the caller reports the
 * original error. */
void failure_send(int fd, const unsigned char *run, uint64_t source, uint64_t offset, const struct err *why);

#endif
