/* ledger.h - what has been done of what was promised: completeness and exactly-once (man/bpe-records.5).
 *
 * A batch counts once, when its commit has come and all of its records have, and only if the ranges it covers are new:
 * if all are covered already it is a copy and is dropped; if some are, it is dropped whole. All is complete when the
 * ranges taken tile every promise exactly (coverage.h). Records may come in any order, and repeated.
 *
 * What the records of a batch hold is not the ledger's affair: it hands each on, and says later whether the batch
 * counts.
 */
#ifndef BPE_LEDGER_LEDGER_H
#define BPE_LEDGER_LEDGER_H

#include "ledger/coverage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_batch;
struct ledger_failure;

/* What becomes of the records of batches. `state` belongs to the batch: NULL until put sets it. */
struct ledger_content {
    /* A words or tokens record that has not come before, borrowed during the call. -1: EX_DATAERR, it is none that can
     * be taken; or another error. */
    int (*put)(void *ctx, void **state, const struct record *rec, struct err *e);
    /* The batch counts. */
    int (*take)(void *ctx, void *state, struct err *e);
    /* The batch has ended, or the ledger is freed; state is not NULL. */
    void (*drop)(void *ctx, void *state);
};

struct ledger {
    const struct ledger_content *content; /* borrowed */
    void *ctx;
    struct coverage coverage;
    struct ledger_batch *batches; /* hash table by id */
    uint64_t n_items;             /* sum of all counts, or number of ids, of the batches that count */
    uint64_t n_batches;           /* that count */
    uint64_t n_overlapping;       /* that were left out, as they overlap others in part */
    uint64_t n_summaries;         /* of the batches that count: those that are complete sums */
    bool tokens;                  /* tokens have come, so what is missing was never encoded */
    bool unknown_run;             /* a failure of no known run has come: nobody knows what was lost */
    bool lost;                    /* set by ledger_finish: more may be missing than is known */
    struct ledger_failure *failures;
    size_t n_failures, cap_failures;
};

void ledger_init(struct ledger *l, const struct ledger_content *content, void *ctx);
void ledger_free(struct ledger *l);

/* Enters one record of any type but chunks and ranges. stream names the input in messages. -1 with EX_DATAERR, or what
 * the content says. */
int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e);

/* At the end of all input: 0 if every run is complete; else -1: the lowest failure with its code, or EX_TEMPFAIL with
 * what is missing. advice: what can be done about it, for the end of that message; may be empty. */
int ledger_finish(struct ledger *l, const char *advice, struct err *e);

/* How many batches were seen, whatever became of them. */
size_t ledger_n_seen(const struct ledger *l);

#endif
