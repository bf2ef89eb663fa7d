/* shard_reader.h - what the formats share in reading a shard: the files; the ids, in a window; the documents that are
 * cut by its edges; where they come from, if there is a table of --docs.
 *
 * What is read may come from anywhere. A file is a regular one, or a link to one, of the manifest's size, and its
 * checksums are computed of the bytes as they are read: a shard is read without an error only if all of its files are
 * those of the manifest.
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

/* Whether a file of DIR is that of the manifest. -1: EX_DATAERR, EX_NOINPUT, EX_IOERR. */
int shard_read_check(const char *dir, const struct manifest_file *f, struct err *e);

/* A file of a shard, open for reading; its size is that of the manifest. */
struct shard_input {
    const struct manifest_file *is; /* what the manifest says of it; borrowed. NULL: the struct is not in use */
    char *path;                     /* owned */
    int fd;
    struct file_sum sum; /* of its first sum.bytes bytes, as they were read */
};

/* Reads exactly n bytes. -1: EX_IOERR, or EX_DATAERR: the file has become shorter. */
int shard_input_get(struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e);

/* The same, to look ahead: what counts, for the checksum too, are the bytes that shard_input_get reads later. */
int shard_input_peek(const struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e);

/* EX_DATAERR with the file and the byte. Returns -1. */
int shard_input_damaged(const struct shard_input *in, uint64_t offset, const char *what, struct err *e);

/* A list in a file, read from start to end. */
struct shard_numbers {
    struct shard_input *in; /* borrowed */
    uint64_t offset, left;  /* of the byte after the window; bytes that are not in it yet */
    unsigned width;         /* bytes of an item: 4 or 8, least significant first */
    struct buf window;
    size_t at; /* in the window */
};

struct shard_numbers shard_numbers_at(struct shard_input *in, uint64_t offset, uint64_t n, unsigned width);
int shard_numbers_next(struct shard_numbers *l, uint64_t *v, struct err *e); /* 1; 0: the end; -1 */
uint64_t shard_numbers_offset(const struct shard_numbers *l);                /* of the item that was read last */

enum { SHARD_LISTS = 3 };

struct shard_reader {
    const struct manifest *m;
    const struct manifest_shard *s;
    struct document_sink *sink;
    struct shard_input file[SHARD_FILES]; /* all files of the shard; the ids are in file[0] */
    unsigned width;                       /* bytes of an id */
    uint64_t tokens;                      /* ids of documents: without those that only fill the last shard */
    bool goes_on;                         /* the last document does, in the next shard */
    struct buf window;
    uint64_t window_at; /* offset in the file */
    struct docs_csv csv;
    struct docs_csv_row row;                /* the last one that was read */
    bool row_ahead;                         /* it is that of the next document */
    struct shard_input *table;              /* of documents; NULL: there is none */
    struct shard_numbers list[SHARD_LISTS]; /* for the format, which begins them; freed with the reader */
};

/* Opens a shard of dir. All is borrowed. shard_reader_close also after an error. */
int shard_reader_open(struct shard_reader *r, const struct manifest *m, const struct manifest_shard *s, const char *dir,
                      struct document_sink *sink, struct err *e);
void shard_reader_close(struct shard_reader *r);

/* The next row of the table. 1; 0: the end; -1. */
int shard_reader_row(struct shard_reader *r, struct err *e);

/* The ids of a document, or of the part of it that is in the shard. */
struct shard_part {
    uint64_t offset; /* in the data file */
    uint64_t tokens;
};

/* Passes on the ids of a part. They stay where they are until sink->flush. */
int shard_reader_ids(struct shard_reader *r, const struct shard_part *part, struct err *e);

/* All was passed on: the checksums of all files must be those of the manifest. -1 with EX_DATAERR, EX_IOERR. */
int shard_reader_end(struct shard_reader *r, struct err *e);

/* Passes on all documents; next gives them in order: 1; 0: there are no more; -1. Their number, and that of their ids,
 * must be those of the manifest; and where the table of --docs says that they are. what: where `next` knows them from,
 * for messages. Then shard_reader_end. */
int shard_reader_pass(struct shard_reader *r, int (*next)(void *ctx, struct shard_part *to, struct err *e), void *ctx,
                      const char *what, struct err *e);

#endif
