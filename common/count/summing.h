/* summing.h - adds up counts within a memory limit: takes records of counts and sums, in any order and number, and
 * returns each distinct pretoken of those that count, with its sum.
 *
 * The ledger decides what counts and whether it is complete. What does not fit in memory goes to sorted segments on
 * disk.
 */
#ifndef BPE_COUNT_SUMMING_H
#define BPE_COUNT_SUMMING_H

#include "count/external_merge.h"
#include "count/sorted_sums.h"
#include "count/table.h"
#include "wire/batch_store.h"
#include "wire/ledger.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct summing {
    uint64_t memory;
    struct table table;
    struct external_merge merge;
    struct ledger ledger; /* for ledger_finish, and to see what is covered */
    struct sorted_sums sums;
    struct batch_stores stores; /* of batches that have not ended */
};

/* memory: about how much it may use. temp: as for spill_init, borrowed. *s must not be moved. -1: out of memory; call
 * summing_free then, too. */
int summing_init(struct summing *s, uint64_t memory, const char *temp, struct err *e);
void summing_free(struct summing *s);

/* Adds all records of an input (*taken*), with their counts multiplied by a weight. path: its name, borrowed until
 * summing_free. Calls `seen`, which may be NULL, after each. */
int summing_add(struct summing *s, struct record_reader *in, const char *path, struct ratio weight,
                void (*seen)(void *ctx), void *ctx, struct err *e);

/* Whether nothing was added; also false if it would take reading a sum to find out. */
bool summing_is_empty(const struct summing *s);

/* After all input: like external_merge_merge. The counts are multiples of 1 / ledger.denominator. */
int summing_each(struct summing *s, int (*consume)(void *ctx, const struct pretoken *w, struct err *e), void *ctx,
                 struct err *e);

#endif
