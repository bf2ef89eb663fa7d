/* document_filter.h - drops what a format cannot represent, before the documents become shards.
 *
 * - Documents without ids, if the format has no empty arrays (mds).
 * - The separator of an empty document: if the separator written after the (empty) text is the document's only id, it
 *   is dropped. The document then has no ids, as in the output of Megatron's preprocess_data.
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
    bool no_empty, no_lone;     /* what is dropped */
    unsigned width;             /* bytes of an id */
    unsigned char separator[4]; /* the separator's id */
    bool waiting;               /* a document without ids so far is held back */
    bool held;                  /* its first id, the separator, is held back */
    bool any;                   /* some of its ids were passed on */
    struct document document;   /* the one held back; its strings are in `strings` */
    struct buf strings;
};

/* Sets up the filter for the format of the manifest's plan; the format may need none. width: bytes of an id. */
void document_filter_init(struct document_filter *f, const struct manifest *m, unsigned width,
                          struct document_sink *to);
void document_filter_free(struct document_filter *f);
struct document_sink document_filter_sink(struct document_filter *f);

/* For the journal. */
int document_filter_put(const struct document_filter *f, struct buf *state, struct err *e);
int document_filter_get(struct document_filter *f, struct cursor *c, struct err *e);

#endif
