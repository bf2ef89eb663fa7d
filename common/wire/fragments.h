/* fragments.h - splits content that may be longer than RECORD_ATOMIC (a promise, a commit, a summary) into fragments,
 * one per record. Fragments may come in any order, and repeatedly. */
#ifndef BPE_WIRE_FRAGMENTS_H
#define BPE_WIRE_FRAGMENTS_H

#include "wire/payload.h"
#include "wire/record.h"

#include <stdint.h>

#define FRAGMENTS_MAX (1u << 20) /* about 4 GB of content; a record that claims more is damaged */

struct fragment {
    const unsigned char *id; /* of the run (promise) or the batch (commit, summary) */
    uint64_t seq;            /* number of the record in its batch; 0 for a promise */
    uint64_t part, n_parts;
    struct str bytes; /* concatenated by increasing `part`, these are the content */
};

/* Reads a record that is a fragment; pointers are borrowed from it. -1 with EX_DATAERR. */
int fragment_get(struct fragment *p, const struct record *rec, struct err *e);

/* Appends the records (whole, not payloads) that carry the content. seq counts up from first_seq; a promise has no seq.
 * -1: out of memory, or EX_DATAERR for more than FRAGMENTS_MAX. */
int fragments_put(struct buf *out, enum record_type type, const unsigned char *id, uint64_t first_seq,
                  const struct buf *content, struct err *e);

/* Content assembled from its fragments. Zeroed: no fragment has come. */
struct fragments {
    struct buf *part; /* owned array of owned buffers */
    uint64_t n, have;
    struct buf whole; /* owned; empty until have == n */
};

/* Adds a fragment, copied. 1: it was the last missing one, and p->whole is the content; 0: some are still missing, or
 * the content was complete before; -1: out of memory, or (EX_DATAERR) the fragment contradicts the others. */
int fragments_add(struct fragments *p, const struct fragment *in, struct err *e);
void fragments_free(struct fragments *p);

#endif
