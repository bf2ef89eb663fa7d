/* shard_file.h - the two files of a shard that is made, in DIR/.work: its ids, and the table of its documents. Both are
 * only appended to.
 */
#ifndef BPE_SHARD_SHARD_FILE_H
#define BPE_SHARD_SHARD_FILE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/docs_table.h"
#include "shard/format/file_sum.h"
#include "shard/format/manifest.h"
#include "shard/format/shard_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* How long the files are, and what is in them: for the journal. */
struct shard_extent {
    uint64_t tokens;
    uint64_t docs_bytes, last_source; /* of the table of documents; see docs_row_put */
    /* XXH3, 128 bits, as of the last shard_file_sync. Of the data file with the header that a full shard has, as
     * another one is written when the shard ends. */
    unsigned char data_sum[CHECKSUM_LEN], docs_sum[CHECKSUM_LEN];
};

/* Zeroed: not open. */
struct shard_file {
    const struct shard_plan *plan; /* borrowed */
    char *data_path, *docs_path;   /* owned */
    int data, docs;
    bool open;
    unsigned from;    /* bytes of the ids that come */
    uint64_t limit;   /* all ids are smaller */
    struct str span;  /* ids that came, borrowed until shard_file_flush */
    struct buf out;   /* bytes for the data file */
    struct buf rows;  /* and for the table */
    uint64_t written; /* bytes of both files since the last shard_file_sync */
    struct shard_extent extent;
    struct file_sum sum;      /* of the data file */
    struct file_sum docs_sum; /* and of the table: XXH3 only */
    bool summed;              /* the header is that of the full shard: sum is that of the file as it will be */
};

/* Opens the files of a shard in dir. at: their lengths, to which they are cut; zeroed: they begin anew. from: bytes
 * of the ids that come; vocabulary: all of them are smaller; 0: not known. -1 with EX_CANTCREAT, EX_IOERR, or
 * EX_DATAERR: the files are shorter than that, or others. */
int shard_file_open(struct shard_file *f, const struct shard_plan *plan, const char *dir, unsigned split,
                    uint64_t number, unsigned from, uint64_t vocabulary, const struct shard_extent *at, struct err *e);

/* Whether the files, which are as long as `at` says, are those that were written. The sums, begun anew, get them. -1
 * with EX_DATAERR, EX_IOERR. */
int shard_file_verify(const struct shard_plan *plan, const struct shard_extent *at, struct file_sum *data_sum, int data,
                      const char *data_path, struct file_sum *docs_sum, int docs, const char *docs_path, struct err *e);

/* Appends n bytes of ids, borrowed until shard_file_flush. -1 with EX_DATAERR (an id is too large) or EX_IOERR. */
int shard_file_ids(struct shard_file *f, const unsigned char *p, size_t n, struct err *e);

/* Appends ids of the number 0 <= id, n times. */
int shard_file_pad(struct shard_file *f, uint32_t id, uint64_t n, struct err *e);

int shard_file_row(struct shard_file *f, const struct docs_row *row, struct err *e);
int shard_file_flush(struct shard_file *f, struct err *e); /* nothing is borrowed any more */
int shard_file_sync(struct shard_file *f, struct err *e);  /* all is on disk */

/* Closes the files, which shard_file_sync has made durable, or forgets what is not written. f may be opened again. */
void shard_file_close(struct shard_file *f);
void shard_file_free(struct shard_file *f);

#endif
