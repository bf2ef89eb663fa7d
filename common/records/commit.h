/* commit.h - the end of a batch: what its records are, how many and with which checksum, and which ranges of which runs
 * they cover. The content of commit and summary records (parts.h carries it). */
#ifndef BPE_RECORDS_COMMIT_H
#define BPE_RECORDS_COMMIT_H

#include "records/record.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commit_range {
    uint64_t source, begin, end; /* bytes [begin, end) of a source */
};

struct commit_run {
    const unsigned char *run;
    uint64_t promised_bytes;          /* as in range_head */
    uint64_t skipped;                 /* bad JSON lines left out */
    struct str where;                 /* the first of them: "name: line 7"; empty if none */
    bool whole;                       /* the run is complete; it has no ranges then */
    uint64_t total;                   /* bytes covered */
    const struct commit_range *range; /* [n_ranges]; borrowed */
    size_t n_ranges;
};

struct commit {
    enum record_type kind; /* of the batch's records: RECORD_WORDS or RECORD_TOKENS */
    struct str rules;      /* encoded */
    uint64_t n_records;
    uint64_t checksum;      /* of all of them: the sum of their checksums, modulo 2^64 */
    uint64_t n_items;       /* the sum of all counts, or the number of ids */
    struct commit_run *run; /* owned array */
    size_t n_runs;
    struct commit_range *ranges; /* owned: those of all runs */
};

/* Reads the content of a commit or summary, which is borrowed. A damaged field, or an extension that must be known and
 * is not, is EX_DATAERR. commit_free afterwards, also after failure. */
int commit_get(struct commit *k, struct str content, struct err *e);
void commit_free(struct commit *k); /* a zeroed one is fine */

/* Appends the fields before the runs (n_runs says how many follow; run and ranges are not looked at), and one run. */
int commit_put_head(struct buf *out, const struct commit *k, struct err *e);
int commit_put_run(struct buf *out, const struct commit_run *r, struct err *e);

#endif
