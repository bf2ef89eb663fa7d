/* shard_file.h - the two append-only files of a shard in progress, in DIR/.work: its ids, and its document table. */
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

/* Lengths and checksums of the files, for the journal. */
struct shard_extent {
    uint64_t tokens;
    uint64_t docs_bytes, last_source; /* of the document table; see docs_row_put */
    /* 128-bit XXH3, as of the last shard_file_sync. That of the data file assumes the header of a full shard, because
     * the real header is written when the shard ends. */
    unsigned char data_sum[CHECKSUM_LEN], docs_sum[CHECKSUM_LEN];
};

/* Zeroed: not open. */
struct shard_file {
    const struct shard_plan *plan; /* borrowed */
    char *data_path, *docs_path;   /* owned */
    int data, docs;
    bool open;
    unsigned from;    /* bytes of an incoming id */
    uint64_t limit;   /* all ids are smaller */
    struct str span;  /* incoming ids, borrowed until shard_file_flush */
    struct buf out;   /* buffer for the data file */
    struct buf rows;  /* buffer for the table */
    uint64_t written; /* bytes written to both files since the last shard_file_sync */
    struct shard_extent extent;
    struct file_sum sum;      /* of the data file */
    struct file_sum docs_sum; /* and of the table: XXH3 only */
    bool summed;              /* sum is that of the final file of a full shard: its header is known from the start */
};

/* Opens the files of a shard in dir. at: their lengths, to which they are truncated; zeroed: they start empty. from:
 * bytes of an incoming id. vocabulary: all ids are smaller; 0: unknown. -1 with EX_CANTCREAT, EX_IOERR, or EX_DATAERR:
 * the files are shorter than that, or were changed. */
int shard_file_open(struct shard_file *f, const struct shard_plan *plan, const char *dir, unsigned split,
                    uint64_t number, unsigned from, uint64_t vocabulary, const struct shard_extent *at, struct err *e);

/* Checks the files, whose lengths are those of `at`, against the checksums in `at`. Adds their contents to the sums,
 * which must be newly begun. -1 with EX_DATAERR, EX_IOERR. */
int shard_file_verify(const struct shard_plan *plan, const struct shard_extent *at, struct file_sum *data_sum, int data,
                      const char *data_path, struct file_sum *docs_sum, int docs, const char *docs_path, struct err *e);

/* Appends n bytes of ids, *borrowed* until shard_file_flush. -1 with EX_DATAERR (an id is too large) or EX_IOERR. */
int shard_file_ids(struct shard_file *f, const unsigned char *p, size_t n, struct err *e);

/* Appends the id n times. */
int shard_file_pad(struct shard_file *f, uint32_t id, uint64_t n, struct err *e);

int shard_file_row(struct shard_file *f, const struct docs_row *row, struct err *e);
int shard_file_flush(struct shard_file *f, struct err *e); /* ends all borrowing */
int shard_file_sync(struct shard_file *f, struct err *e);  /* makes everything durable */

/* Closes the files; anything appended since the last shard_file_sync may be lost. f may be opened again. */
void shard_file_close(struct shard_file *f);
void shard_file_free(struct shard_file *f);

#endif
