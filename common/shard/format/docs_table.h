/* docs_table.h - the documents of a shard in progress: an append-only file, from which index files and the table of
 * --docs are made at the end.
 *
 * A row is: varint ids of the document in this shard, varint flags (1: it began in an earlier shard; 2: it continues in
 * the next), varint source number + 1 if it differs from the row before (else 0), string name (if it differs), varint
 * offset, varint length of its text (unless it continues), varint line, string id.
 */
#ifndef BPE_SHARD_FORMAT_DOCS_TABLE_H
#define BPE_SHARD_FORMAT_DOCS_TABLE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stdint.h>

struct docs_row {
    struct document document; /* strings are *borrowed* until the next row is read */
    uint64_t tokens;          /* its ids in this shard */
    uint64_t end;             /* offset after the last byte of its text; unset if it continues */
    bool continued, goes_on;  /* it began in an earlier shard; it continues in the next one */
};

/* Appends a row. last_source: the source number + 1 of the row before in this file, 0 before the first; updated. */
int docs_row_put(struct buf *out, const struct docs_row *row, uint64_t *last_source, struct err *e);

/* Reads a table from its start; uses memory for one row. */
struct docs_reader {
    int fd;           /* borrowed, read by pread(2) */
    const char *name; /* borrowed, for messages */
    uint64_t offset;  /* of the byte after the window */
    uint64_t end;
    struct buf window, source;
    size_t at; /* in the window */
    uint64_t number;
};

/* end: length of the table in bytes. */
void docs_reader_init(struct docs_reader *r, int fd, const char *name, uint64_t end);
void docs_reader_free(struct docs_reader *r);
int docs_reader_next(struct docs_reader *r, struct docs_row *row, struct err *e); /* 1; 0: the end; -1 */

/* Sets EX_DATAERR with the source and offset of the document. Returns -1. */
int docs_row_error(const struct docs_row *row, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
