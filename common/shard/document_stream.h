/* document_stream.h - pieces of token ids in corpus order become documents with their places in their sources. */
#ifndef BPE_SHARD_DOCUMENT_STREAM_H
#define BPE_SHARD_DOCUMENT_STREAM_H

#include "base/sys/buf.h"
#include "shard/format/token_doc.h"
#include "shard/store/token_store.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed but for the first two fields: at the beginning. */
struct document_stream {
    struct document_sink *sink;              /* borrowed */
    const struct token_store *store;         /* borrowed: names of sources */
    uint64_t source, text, lines, documents; /* in the current source so far: bytes of text, lines, documents begun */
    uint64_t all;                            /* bytes of text of all pieces so far */
    bool open;                               /* a document goes on */
    bool by_line;                            /* the source is JSON Lines: documents have the numbers of their lines */
    bool named;                              /* name and by_line are those of the source */
    struct buf name;                         /* of the source */
    uint64_t at, line; /* in the current piece: end of the last document, from its beginning; line of it, from 0 */
};

/* Passes on the documents of a part. */
int document_stream_part(struct document_stream *s, const struct token_part *p, struct err *e);

/* All has come: an open document ends. */
int document_stream_end(struct document_stream *s, struct err *e);

/* For the journal. */
int document_stream_put(const struct document_stream *s, struct buf *state, struct err *e);
int document_stream_get(struct document_stream *s, struct cursor *c, struct err *e);
void document_stream_free(struct document_stream *s);

#endif
