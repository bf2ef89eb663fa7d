/* ledger.h - what has been done of what was promised: completeness and exactly-once (man/bpe-records.5).
 *
 * A batch counts once, when its commit and all of its records have come, and only if the ranges it covers are new: if
 * all are covered already, it is a copy and is dropped; if some are, all of it is dropped. Everything is complete when
 * the accepted ranges tile every promise exactly (coverage.h). Records may come in any order, and repeated.
 *
 * The ledger does not interpret the contents of records: it passes each on, and says later whether its batch counts.
 */
#ifndef BPE_WIRE_LEDGER_H
#define BPE_WIRE_LEDGER_H

#include "wire/coverage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_batch;
struct ledger_failure;

/* What is done with the records of batches. `state` belongs to the batch: NULL until put sets it.
 *
 * Records of tokens say which range they belong to, so the ledger need not remember the batches that were closed,
 * however many there are: that is what `covered` is for. If it is NULL, the ledger remembers all batches.
 */
struct ledger_content {
    /* Takes a words or tokens record that has not come before, borrowed during the call. -1: EX_DATAERR if it is not of
     * a type that can be used, or another error. */
    int (*put)(void *ctx, void **state, const struct record *rec, struct err *e);
    /* The batch, whose end is k, counts; state may be NULL: it has no records. */
    int (*consume)(void *ctx, void *state, const struct commit *k, struct err *e);
    /* The batch has ended, or the ledger is freed; state is not NULL. */
    void (*drop)(void *ctx, void *state);
    /* Whether a range that this record belongs to is covered, at least in part: then its batch can never count. It
     * comes before put. May be NULL. */
    bool (*covered)(void *ctx, const struct record *rec);
    /* The same for records that a batch has, for at least one of its ranges. NULL if `covered` is. */
    bool (*any_covered)(void *ctx, const void *state);
};

struct ledger {
    const struct ledger_content *content; /* borrowed */
    void *ctx;
    struct coverage coverage;
    struct ledger_batch *batches; /* hash table by id */
    uint64_t n_items;             /* sum of all counts, or number of ids, in the batches that count */
    uint64_t n_batches;           /* number of batches that count */
    uint64_t n_overlapping;       /* number of batches left out because they overlap others in part */
    uint64_t n_again;             /* ends of batches that came although all they cover was counted before */
    uint64_t n_waiting;           /* records of batches of which it is not known yet whether they count */
    uint64_t n_summaries;         /* of the batches that count, those that are complete sums */
    bool unknown_run;             /* a failure of an unknown run has come: it is not known what was lost */
    bool lost;                    /* set by ledger_finish: more may be missing than is known */
    struct ledger_failure *failures;
    size_t n_failures, cap_failures;
};

void ledger_init(struct ledger *l, const struct ledger_content *content, void *ctx);
void ledger_free(struct ledger *l);

/* Takes one record of any type except chunks and ranges. stream names the input in messages. -1 with EX_DATAERR, or an
 * error of the content's functions. */
int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e);

/* The end of the message if batches were left out because they overlap others in part. */
#define LEDGER_LEFT_OUT " (counts that overlap others in part were left out)"

/* At the end of all input: 0 if every run is complete; else -1: the lowest failure with its code, or EX_TEMPFAIL with
 * what is missing. advice: what can be done, for the end of the message; may be empty. */
int ledger_finish(struct ledger *l, const char *advice, struct err *e);

/* Appends the records of all failures that no success has made up for: a sum that is incomplete passes them on. -1: out
 * of memory. */
int ledger_put_failures(const struct ledger *l, struct buf *out, struct err *e);

/* Drops the open batches that can never count, if the content can tell. */
int ledger_sweep(struct ledger *l, struct err *e);

/* What the ledger has at a moment, before an input is read. */
struct ledger_state {
    uint64_t n_batches, n_again, n_waiting;
};
struct ledger_state ledger_now(const struct ledger *l);

/* Whether all that has come since then was counted before: some has, and nothing of it counts or may count yet. Not for
 * content that can tell what is covered by itself (struct ledger_content). */
bool ledger_all_again(const struct ledger *l, const struct ledger_state *then);

/* Number of batches seen, whether they count or not; without those that were forgotten (see ledger_content). */
size_t ledger_n_seen(const struct ledger *l);

#endif
