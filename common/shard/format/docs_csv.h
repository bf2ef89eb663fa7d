/* docs_csv.h - the document table of --docs, in dolma's format: columns start,end,id,src,loc, gzip-compressed.
 *
 * One row for each document of a shard: its ids are ids start to end - 1 of the shard; id (bpe-encode --id), or else
 * the offset of its text if known; source; line. There is no header line. Fields are quoted and rows end with CR LF as
 * Python's csv module, and so dolma, writes them.
 */
#ifndef BPE_SHARD_FORMAT_DOCS_CSV_H
#define BPE_SHARD_FORMAT_DOCS_CSV_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/shard_build.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes the table as the next file of the shard (shard_build_file). Equal rows give equal bytes. */
int docs_csv_make(struct shard_build *b, struct err *e);

struct docs_csv_row {
    uint64_t start, end, line;
    struct str id, source; /* borrowed until the next row is read */
};

/* Whether a field is an unsigned decimal integer; stores it in *to. */
bool docs_csv_number(struct str field, uint64_t *to);

/* Reads a table; uses memory for one row. */
struct docs_csv {
    struct input *in;
    struct buf window;
    size_t at;       /* offset in the window */
    uint64_t number; /* of the row, from 1 */
};

/* Opens a file of that many bytes, which is read by pread(2). fd and its name are *borrowed* until it is closed. -1
 * with EX_DATAERR: not compressed; EX_IOERR. */
int docs_csv_open(struct docs_csv *r, int fd, const char *name, uint64_t bytes, struct err *e);
void docs_csv_close(struct docs_csv *r); /* a zeroed one is fine */

/* 1; 0: the end; -1: EX_DATAERR with the number of the line, EX_IOERR. */
int docs_csv_next(struct docs_csv *r, struct docs_csv_row *row, struct err *e);

#endif
