/* document_filter.h - what a format has no place for is left out before the documents become shards.
 *
 * - Documents without ids, if the format has no empty arrays (mds).
 * - A separator after nothing: a document that has no other id than the separator which was put after its (empty) text.
 *   It then has no ids, as in what Megatron's preprocess_data writes.
 */
#ifndef BPE_SHARD_FORMAT_DOCUMENT_FILTER_H
#define BPE_SHARD_FORMAT_DOCUMENT_FILTER_H

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/err.h"
#include "shard/format/manifest.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stdint.h>

struct document_filter {
    struct document_sink *to;   /* borrowed */
    bool no_empty, no_lone;     /* what is left out */
    unsigned width;             /* bytes of an id */
    unsigned char separator[4]; /* the id */
    bool waiting;               /* a document has begun, has no ids yet, and was not passed on */
    bool held;                  /* the separator came first in it, and was not passed on */
    bool any;                   /* ids of it were passed on */
    struct document document;   /* the one that waits: its strings are in `strings` */
    struct buf strings;
};

/* Begins a filter for the format of the manifest's plan, which may have nothing to leave out. width: bytes of an id. */
void document_filter_init(struct document_filter *f, const struct manifest *m, unsigned width,
                          struct document_sink *to);
void document_filter_free(struct document_filter *f);
struct document_sink document_filter_sink(struct document_filter *f);

/* For the journal. */
int document_filter_put(const struct document_filter *f, struct buf *state, struct err *e);
int document_filter_get(struct document_filter *f, struct cursor *c, struct err *e);

#endif
