/* token_doc.h - documents of token ids, as the modules of this layer pass them on: the origin of each, and its ids in
 * parts.
 */
#ifndef BPE_SHARD_FORMAT_TOKEN_DOC_H
#define BPE_SHARD_FORMAT_TOKEN_DOC_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stddef.h>
#include <stdint.h>

/* An unknown offset: that of documents read from shards. */
#define DOCUMENT_UNKNOWN UINT64_MAX

/* Where a document comes from. Strings are *borrowed*. */
struct document {
    struct str source; /* name of its source, as in the promise */
    uint64_t number;   /* number of the source in its run */
    uint64_t offset;   /* of its first byte in the source's text, decompressed */
    uint64_t line; /* from 1; JSON Lines: line number in the source; otherwise number of the document in the source */
    struct str id; /* see struct document_mark; empty: none */
};

/* Receives documents one after another. All functions return -1 on error. Ids are little-endian, of a width agreed on
 * before; p[0 .. n) are bytes. They are *borrowed* until the next call of `flush`, which comes before their memory is
 * reused: so a sink can write many documents with one write(2). */
struct document_sink {
    int (*begin)(void *ctx, const struct document *d, struct err *e);
    int (*ids)(void *ctx, const unsigned char *p, size_t n, struct err *e);
    int (*end)(void *ctx, uint64_t end, struct err *e); /* end: offset in the source after the document's last byte */
    int (*flush)(void *ctx, struct err *e);
    void *ctx;
};

#endif
