/* shard_reader.h - code that the formats share to read a shard: the files; the ids, in a window; documents split by the
 * shard's edges; where documents come from, if there is a table of --docs.
 *
 * The files are untrusted. Each must be a regular file, or a link to one, of the manifest's size. Checksums are
 * computed from the bytes as they are read: a shard is read without error only if all of its files match the manifest.
 */
#ifndef BPE_SHARD_FORMAT_SHARD_READER_H
#define BPE_SHARD_FORMAT_SHARD_READER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/format/docs_csv.h"
#include "shard/format/file_sum.h"
#include "shard/format/manifest.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks a file of DIR against the manifest. -1: EX_DATAERR, EX_NOINPUT, EX_IOERR. */
int shard_read_check(const char *dir, const struct manifest_file *f, struct err *e);

/* An open file of a shard, whose size matches the manifest. */
struct shard_input {
    const struct manifest_file *is; /* its entry in the manifest; borrowed. NULL: the struct is not in use */
    char *path;                     /* owned */
    int fd;
    struct file_sum sum; /* checksums of the first sum.bytes bytes, as read */
};

/* Reads exactly n bytes. -1: EX_IOERR; EX_DATAERR: the file was truncated. */
int shard_input_get(struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e);

/* The same, to look ahead: the bytes do not count for the checksum until shard_input_get reads them. */
int shard_input_peek(const struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e);

/* Sets EX_DATAERR with the file and the offset. Returns -1. */
int shard_input_damaged(const struct shard_input *in, uint64_t offset, const char *what, struct err *e);

/* A list of integers in a file, read from start to end. */
struct shard_numbers {
    struct shard_input *in; /* borrowed */
    uint64_t offset, left;  /* offset of the byte after the window; bytes after it */
    unsigned width;         /* bytes of an item: 4 or 8, little-endian */
    struct buf window;
    size_t at; /* offset in the window */
};

struct shard_numbers shard_numbers_at(struct shard_input *in, uint64_t offset, uint64_t n, unsigned width);
int shard_numbers_next(struct shard_numbers *l, uint64_t *v, struct err *e); /* 1; 0: the end; -1 */
uint64_t shard_numbers_offset(const struct shard_numbers *l);                /* offset of the item that was read last */

enum { SHARD_LISTS = 3 };

struct shard_reader {
    const struct manifest *m;
    const struct manifest_shard *s;
    struct document_sink *sink;
    struct shard_input file[SHARD_FILES]; /* all files of the shard; the ids are in file[0] */
    unsigned width;                       /* bytes of an id */
    uint64_t tokens;                      /* ids of documents, without padding of the last shard */
    bool goes_on;                         /* the last document continues in the next shard */
    struct buf window;
    uint64_t window_at; /* offset in the file */
    struct docs_csv csv;
    struct docs_csv_row row;                /* the last row that was read */
    bool row_ahead;                         /* it belongs to the next document */
    struct shard_input *table;              /* the document table; NULL: none */
    struct shard_numbers list[SHARD_LISTS]; /* for the format to set up; freed with the reader */
};

/* Opens a shard of dir. All arguments are *borrowed*. Call shard_reader_close also after an error. */
int shard_reader_open(struct shard_reader *r, const struct manifest *m, const struct manifest_shard *s, const char *dir,
                      struct document_sink *sink, struct err *e);
void shard_reader_close(struct shard_reader *r);

/* Reads the next row of the table. 1; 0: the end; -1. */
int shard_reader_row(struct shard_reader *r, struct err *e);

/* The ids of a document, or of the part of it that is in the shard. */
struct shard_part {
    uint64_t offset; /* offset in the data file */
    uint64_t tokens;
};

/* Passes on the ids of a part. They stay in memory until sink->flush. */
int shard_reader_ids(struct shard_reader *r, const struct shard_part *part, struct err *e);

/* Reads the rest of all files; their checksums must match the manifest. -1 with EX_DATAERR, EX_IOERR. */
int shard_reader_end(struct shard_reader *r, struct err *e);

/* Passes on all documents, then calls shard_reader_end. `next` returns them in order: 1; 0: there are no more; -1. The
 * number of documents and of their ids must match the manifest, and their positions the table of --docs. what: the
 * source of `next`, for messages. */
int shard_reader_pass(struct shard_reader *r, int (*next)(void *ctx, struct shard_part *to, struct err *e), void *ctx,
                      const char *what, struct err *e);

#endif
