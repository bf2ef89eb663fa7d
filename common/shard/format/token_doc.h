/* token_doc.h - documents of token ids, as they pass from one part of this room to the next: where each comes from, and
 * its ids in parts.
 */
#ifndef BPE_SHARD_FORMAT_TOKEN_DOC_H
#define BPE_SHARD_FORMAT_TOKEN_DOC_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stddef.h>
#include <stdint.h>

/* In place of an offset that is not known: of documents that were read from shards. */
#define DOCUMENT_UNKNOWN UINT64_MAX

/* Where a document comes from. Strings are borrowed. */
struct document {
    struct str source; /* the name of its source, as in the promise */
    uint64_t number;   /* of that source in its run */
    uint64_t offset;   /* of its first byte in the text of the source (decompressed) */
    uint64_t line; /* from 1: JSON Lines: of its line in the source; else the number of the document in the source */
    struct str id; /* see struct document_mark; empty: none */
};

/* What takes documents, one after the other. All functions return -1 on error. Ids are little-endian, of the width that
 * was agreed before; p[0 .. n) are bytes. They are borrowed until the next call of `flush`, which comes before their
 * memory is used again: so what takes them can write many documents by one write(2). */
struct document_sink {
    int (*begin)(void *ctx, const struct document *d, struct err *e);
    int (*ids)(void *ctx, const unsigned char *p, size_t n, struct err *e);
    int (*end)(void *ctx, uint64_t end, struct err *e); /* end: offset in the source after the last byte of its text */
    int (*flush)(void *ctx, struct err *e);
    void *ctx;
};

#endif
