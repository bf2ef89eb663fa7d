/* docs_csv.h - the table of documents that --docs asks for, in the form of dolma: start,end,id,src,loc, compressed by
 * gzip.
 *
 * A row for each document of a shard: its ids are number start to end - 1 of the shard; its id (bpe-encode --id), or
 * else the offset of its text, if it is known; its source; its line. No line of headings. Fields are quoted, and
 * rows end with CR and LF, as Python's module csv writes them, and so dolma.
 */
#ifndef BPE_SHARD_FORMAT_DOCS_CSV_H
#define BPE_SHARD_FORMAT_DOCS_CSV_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/shard_build.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes it as the next file of the shard (shard_build_file). The same rows give the same bytes. */
int docs_csv_make(struct shard_build *b, struct err *e);

struct docs_csv_row {
    uint64_t start, end, line;
    struct str id, source; /* borrowed until the next row is read */
};

/* Whether a field is a whole number in decimal: *to. */
bool docs_csv_number(struct str field, uint64_t *to);

/* Reads a table, in memory for a row. */
struct docs_csv {
    struct input *in;
    struct buf window;
    size_t at;       /* in the window */
    uint64_t number; /* of the row, from 1 */
};

/* A file of that many bytes, which is read by pread(2). fd and its name are borrowed until it is closed. -1 with
 * EX_DATAERR: it is not compressed; EX_IOERR. */
int docs_csv_open(struct docs_csv *r, int fd, const char *name, uint64_t bytes, struct err *e);
void docs_csv_close(struct docs_csv *r); /* a zeroed one is fine */

/* 1; 0: the end; -1: EX_DATAERR with the number of the line, EX_IOERR. */
int docs_csv_next(struct docs_csv *r, struct docs_csv_row *row, struct err *e);

#endif
