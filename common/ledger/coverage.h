/* coverage.h - of each run, what was promised and what is covered: the part of the ledger that knows nothing of
 * batches.
 *
 * A run promises sources with their sizes. It is complete when the ranges entered tile all of them exactly, or when a
 * complete sum says so.
 */
#ifndef BPE_LEDGER_COVERAGE_H
#define BPE_LEDGER_COVERAGE_H

#include "records/commit.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/intervals.h"

#include <stdbool.h>
#include <stdint.h>

struct coverage_run;

struct coverage {
    struct buf rules;          /* encoded; all that is added up must agree in them; empty: none seen yet */
    struct coverage_run *runs; /* hash table by id */
    uint64_t covered;          /* bytes */
    uint64_t promised;         /* bytes, as far as known */
};

void coverage_free(struct coverage *c); /* a zeroed one is empty */

/* Notes that there is such a run: it must be complete in the end. */
int coverage_see(struct coverage *c, const unsigned char *run, struct err *e);
size_t coverage_n_runs(const struct coverage *c);
const unsigned char *coverage_only_run(const struct coverage *c); /* NULL: several, or none */

/* Whether these are the rules of all that came before. -1 with EX_DATAERR, placed at the stream, if not. */
int coverage_check_rules(struct coverage *c, struct str encoded, const char *stream, struct err *e);

/* Enters a promise record (one part of it). */
int coverage_promise(struct coverage *c, const struct record *rec, const char *stream, struct err *e);

/* How much of what a commit covers is covered already. */
int coverage_overlap(struct coverage *c, const struct commit *k, enum overlap *o, struct err *e);

/* Enters what a commit covers, all of it new; or one range of a run. A range that comes twice is EX_DATAERR. */
int coverage_enter(struct coverage *c, const struct commit *k, struct err *e);
int coverage_enter_range(struct coverage *c, const unsigned char *run, const struct commit_range *range,
                         uint64_t promised_bytes, struct err *e);

bool coverage_has(const struct coverage *c, const unsigned char *run, uint64_t source, uint64_t offset);

enum coverage_state {
    COVERAGE_COMPLETE,
    COVERAGE_MISSING,    /* some ranges of runs whose promise is known: coverage_missing */
    COVERAGE_UNPROMISED, /* of some run the promise never came */
    COVERAGE_NOTHING,    /* there is no run */
};
enum coverage_state coverage_state(const struct coverage *c);

/* What is missing of the runs whose promise is known. */
struct coverage_gap {
    struct str name;       /* of the first range's source; borrowed */
    struct interval first; /* the first range */
    uint64_t n;            /* ranges in all; 0: nothing is missing */
    uint64_t bytes;        /* in all */
};
struct coverage_gap coverage_missing(const struct coverage *c);

/* Appends: range records for all of that, to be counted again; the runs with what is covered of them, for batch_end,
 * counting them; the promises of the runs that are not complete. */
int coverage_put_missing(const struct coverage *c, struct buf *out, struct err *e);
int coverage_put_runs(const struct coverage *c, struct buf *runs, uint64_t *n_runs, struct err *e);
int coverage_put_promises(const struct coverage *c, struct buf *out, struct err *e);

/* Bad JSON lines left out in all, and where the first was ("name: line 7"; borrowed). */
uint64_t coverage_skipped(const struct coverage *c, struct str *where);

#endif
