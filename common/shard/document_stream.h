/* document_stream.h - turns pieces of token ids, in corpus order, into documents with their positions in the sources.
 */
#ifndef BPE_SHARD_DOCUMENT_STREAM_H
#define BPE_SHARD_DOCUMENT_STREAM_H

#include "base/sys/buf.h"
#include "shard/format/token_doc.h"
#include "shard/store/token_store.h"

#include <stdbool.h>
#include <stdint.h>

/* All fields but the first two start as zero. */
struct document_stream {
    struct document_sink *sink;              /* borrowed */
    const struct token_store *store;         /* borrowed: names of sources */
    uint64_t source, text, lines, documents; /* current source; in it so far: bytes of text, lines, documents begun */
    uint64_t all;                            /* bytes of text in all pieces so far */
    bool open;                               /* a document is open */
    bool by_line;                            /* JSON Lines: a document's number is that of its line */
    bool named;                              /* name and by_line are set for the current source */
    struct buf name;                         /* of the source */
    uint64_t at, line;                       /* in the current piece: end of the last document; its line, from 0 */
};

/* Passes on the documents of a part. */
int document_stream_part(struct document_stream *s, const struct token_part *p, struct err *e);

/* Ends an open document, after the last part. */
int document_stream_end(struct document_stream *s, struct err *e);

/* Append the state for the journal, and restore it. */
int document_stream_put(const struct document_stream *s, struct buf *state, struct err *e);
int document_stream_get(struct document_stream *s, struct cursor *c, struct err *e);
void document_stream_free(struct document_stream *s);

#endif
