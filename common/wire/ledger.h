/* ledger.h - which part of the expected input has been processed: completeness and exactly-once (man/bpe-records.5).
 *
 * A batch counts once, when its commit and all of its records have come, and only if all ranges that it covers are new.
 * If they are all covered already, it is a copy and is dropped; if only some are, the whole batch is dropped as well.
 * The input is complete when the accepted ranges tile every promise exactly (coverage.h). Records may come in any
 * order, and repeatedly.
 *
 * The ledger does not interpret the contents of records: it passes each on, and decides later whether its batch counts.
 */
#ifndef BPE_WIRE_LEDGER_H
#define BPE_WIRE_LEDGER_H

#include "wire/coverage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_batch;
struct ledger_failure;

/* What the program does with the records of batches. `state` belongs to the batch: NULL until put sets it.
 *
 * Tokens records name the range they belong to, so a ledger with `covered` does not have to remember closed batches. If
 * `covered` is NULL, the ledger remembers all batches.
 */
struct ledger_content {
    /* Takes a words or tokens record that has not come before, borrowed during the call. -1: EX_DATAERR if the program
     * cannot use this type, or another error. */
    int (*put)(void *ctx, void **state, const struct record *rec, struct err *e);
    /* The batch that ends with k counts. state is NULL if it has no records. Its counts must be multiplied by k->weight
     * and divided by k->denominator. */
    int (*consume)(void *ctx, void *state, const struct commit *k, struct err *e);
    /* Frees the state of a batch that was closed, or whose ledger is freed; state is not NULL. */
    void (*drop)(void *ctx, void *state);
    /* Whether the range that this record belongs to is covered, at least in part, so that its batch can never count.
     * Called before put. May be NULL. */
    bool (*covered)(void *ctx, const struct record *rec);
    /* The same for the records of a batch: whether at least one of its ranges is covered. NULL if `covered` is. */
    bool (*any_covered)(void *ctx, const void *state);
};

struct ledger {
    const struct ledger_content *content; /* borrowed */
    void *ctx;
    struct coverage coverage;
    struct ledger_batch *batches; /* hash table by id */
    struct ratio weight;          /* of the input being read; to be set before each input */
    uint64_t denominator;         /* of n_items: the smallest for the weights of what counts */
    uint64_t n_items;             /* sum of all counts, or number of ids, in the batches that count */
    uint64_t n_batches;           /* number of batches that count */
    uint64_t n_overlapping;       /* number of batches left out because they overlap others in part */
    uint64_t n_again;             /* number of batch ends whose ranges had all been counted before */
    uint64_t n_waiting;           /* number of records in batches that may still count */
    uint64_t n_summaries;         /* number of batches that count and are complete sums */
    bool unknown_run;             /* a failure of an unknown run came, so it is not known what was lost */
    bool lost;                    /* set by ledger_finish: more may be missing than is known */
    struct ledger_failure *failures;
    size_t n_failures, cap_failures;
};

void ledger_init(struct ledger *l, const struct ledger_content *content, void *ctx);
void ledger_free(struct ledger *l);

/* Multiplies a count. EX_DATAERR: the product is more than 2^64 - 1, as a multiple of 1 / denominator; or not an
 * integer, so the records are damaged. */
int ledger_scale(uint64_t *count, struct ratio by, uint64_t denominator, struct err *e);

/* Takes one record of any type except chunks and ranges. stream names the input in messages. -1 with EX_DATAERR, or an
 * error of the content's functions. */
int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e);

/* The end of the message if batches were left out because they overlap others in part. */
#define LEDGER_LEFT_OUT " (counts that overlap others in part were left out)"

/* Called at the end of all input. 0: every run is complete; -1: the lowest failure, with its code, or EX_TEMPFAIL with
 * what is missing. advice: the end of the message, what the user can do; may be empty. */
int ledger_finish(struct ledger *l, const char *advice, struct err *e);

/* Appends the records of all failures that no later success has made up for, which an incomplete sum passes on. -1: out
 * of memory. */
int ledger_put_failures(const struct ledger *l, struct buf *out, struct err *e);

/* Drops the open batches that can never count, if the content has `covered`. */
int ledger_sweep(struct ledger *l, struct err *e);

/* A snapshot of the ledger, taken before an input is read. */
struct ledger_state {
    uint64_t n_batches, n_again, n_waiting;
};
struct ledger_state ledger_now(const struct ledger *l);

/* Whether records have come since `then`, but all of them had been counted before, so none of them counts or
 * may still count.
 * Not for content with `covered` (struct ledger_content). */
bool ledger_all_again(const struct ledger *l, const struct ledger_state *then);

/* Number of batches seen, whether they count or not, without those that were forgotten (see ledger_content). */
size_t ledger_n_seen(const struct ledger *l);

#endif
