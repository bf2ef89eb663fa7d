/* ledger.h - who promised what, and what has been counted of it: completeness and exactly-once (man/bpe-records.5).
 *
 * A run promises sources with their sizes. A batch of words counts once, when its commit has come and all of its
 * records have, and only if the ranges it covers are new: if all are covered already it is a copy and is dropped; if
 * some are, it is dropped whole. The sum is complete when the ranges taken tile every promise exactly. Records may come
 * in any order, and repeated.
 */
#ifndef BPE_RECORDS_LEDGER_H
#define BPE_RECORDS_LEDGER_H

#include "core/pretoken.h"
#include "io/spill.h"
#include "records/payload.h"
#include "sys/intervals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_run;
struct ledger_batch;
struct ledger_failure;

/* Takes some pretokens of a batch that counts, padded; borrowed during the call. */
typedef int ledger_take(void *ctx, const struct pretoken *w, size_t n, struct err *e);

struct ledger {
    ledger_take *take;
    void *ctx;
    bool eager;  /* words are taken as they come, not when their batch counts: for readers to whom anything amiss is the
                    end */
    bool tokens; /* batches of tokens count too, for readers who only ask what is complete */
    uint64_t n_tokens;            /* records of tokens that have come */
    struct buf rules;             /* encoded; all batches must agree; empty: none seen yet */
    struct ledger_run *runs;      /* hash table by id */
    struct ledger_batch *batches; /* hash table by id */
    struct spill spill;
    size_t open_bytes;                            /* memory of words whose batch has not ended */
    uint64_t covered;                             /* bytes counted */
    uint64_t promised;                            /* bytes promised, as far as known */
    uint64_t pretokens;                           /* of the batches that count */
    uint64_t n_batches, n_dropped, n_overlapping; /* batches that count, copies, and those that overlapped in part */
    uint64_t n_summaries;                         /* of the batches that count: those that are complete sums */
    bool fatal;                                   /* a failure of no known run has come: who knows what was lost */
    bool lost;                                    /* set by ledger_finish: more may be missing than is known */
    struct ledger_failure *failures;
    size_t n_failures, cap_failures;
};

void ledger_init(struct ledger *l, ledger_take *take, void *ctx, bool eager, const char *spill_dir);
void ledger_free(struct ledger *l);

/* Enters one record of any type but chunks and ranges. stream names the input in messages. -1 with EX_DATAERR. */
int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e);

/* Enters a range as covered without words (to check a stream of chunks). Overlaps are EX_DATAERR. */
int ledger_cover(struct ledger *l, const unsigned char *run, struct str rules, uint64_t source, uint64_t begin,
                 uint64_t end, uint64_t promised_bytes, const char *stream, struct err *e);

/* Puts the words of the largest open batch on disk. */
int ledger_spill(struct ledger *l, struct err *e);

/* At the end of all input: 0 if every run is complete; else -1: the lowest failure with its code, or EX_TEMPFAIL with
 * what is missing. missing_file: where ledger_put_missing goes, for the message; NULL: nowhere. */
int ledger_finish(struct ledger *l, const char *missing_file, struct err *e);

/* Appends range records for all that is missing of the runs whose promise is known, to count again. */
int ledger_put_missing(const struct ledger *l, struct buf *out, struct err *e);

/* Appends the runs with what is covered of them, for batch_end, and counts them. */
int ledger_put_runs(const struct ledger *l, struct buf *runs, uint64_t *n_runs, struct err *e);

/* Appends the promises of the runs that are not complete. */
int ledger_put_promises(const struct ledger *l, struct buf *out, struct err *e);

/* How many batches were seen, whatever became of them. */
size_t ledger_n_seen(const struct ledger *l);

/* The only run, or NULL if there are several or none. */
const unsigned char *ledger_only_run(const struct ledger *l);

/* Bad JSON lines left out in all, and where the first was ("name: line 7"; borrowed). */
uint64_t ledger_skipped(const struct ledger *l, struct str *where);

#endif
