/* parts.h - content that may be longer than RECORD_ATOMIC (a promise, a commit, a summary) is split into parts, one per
 * record. Parts may come in any order, and repeated. */
#ifndef BPE_WIRE_PARTS_H
#define BPE_WIRE_PARTS_H

#include "wire/payload.h"
#include "wire/record.h"

#include <stdint.h>

#define PARTS_MAX (1u << 20) /* about 4 GB of content; a record that claims more is damaged */

struct part {
    const unsigned char *id; /* of the run (promise) or the batch (commit, summary) */
    uint64_t seq;            /* number of the record in its batch; 0 for a promise */
    uint64_t part, n_parts;
    struct str bytes; /* the parts' bytes, concatenated by increasing `part`, are the content */
};

/* Reads a record that is a part; pointers are borrowed from it. -1 with EX_DATAERR. */
int part_get(struct part *p, const struct record *rec, struct err *e);

/* Appends the records (whole, not payloads) that carry the content. seq counts up from first_seq; a promise has none.
 * -1: out of memory, or EX_DATAERR for more than PARTS_MAX. */
int parts_put(struct buf *out, enum record_type type, const unsigned char *id, uint64_t first_seq,
              const struct buf *content, struct err *e);

/* Content that is put together from its parts. Zeroed: no part has come. */
struct parts {
    struct buf *part; /* owned array of owned buffers */
    uint64_t n, have;
    struct buf whole; /* owned; empty until have == n */
};

/* Adds a part, copied. 1: it was the last missing one, and p->whole is the content; 0: some are missing, or it was
 * complete before; -1: out of memory, or (EX_DATAERR) the part contradicts the others. */
int parts_add(struct parts *p, const struct part *in, struct err *e);
void parts_free(struct parts *p);

#endif
