/* sum_reader.h - reads a sum that bpe-sum wrote, for programs that use the counts: there must be exactly one, and it
 * must be complete. */
#ifndef BPE_WIRE_SUM_READER_H
#define BPE_WIRE_SUM_READER_H

#include "pretok/rules.h"
#include "wire/batch_store.h"
#include "wire/ledger.h"

#include <stdbool.h>
#include <stddef.h>

struct sum_reader {
    struct ledger ledger;
    struct batch_stores stores;
};

/* *r must not be moved. `consume` gets the pretokens as they are read, each once if the sum is complete: their counts
 * are valid only after sum_reader_read has succeeded. */
void sum_reader_init(struct sum_reader *r, batch_store_consume *consume, void *ctx);
void sum_reader_free(struct sum_reader *r); /* a zeroed one is fine */

/* The common denominator of the counts, which is 1 unless the sum has weights that are fractions. Valid from the first
 * call of `consume` on. */
uint64_t sum_reader_denominator(const struct sum_reader *r);

/* Reads n files, which together contain one sum, and sets *rules (to be freed) to those of the sum; strings are
 * borrowed until sum_reader_free. partial: the sum may be incomplete, as with the option --partial, which messages
 * mention. -1: an error of `consume`, or of reading; EX_DATAERR: damaged records, or several sums; EX_TEMPFAIL: no sum,
 * or an incomplete one; or the failure that the input passes on. */
int sum_reader_read(struct sum_reader *r, char *const *files, size_t n, bool partial, struct rules *rules,
                    struct err *e);

#endif
