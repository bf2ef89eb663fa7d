/* batch_store.h - keeps the words of open batches, in memory or on disk, until the ledger decides whether they count.
 * It is the ledger_content of programs that add up counts.
 */
#ifndef BPE_WIRE_BATCH_STORE_H
#define BPE_WIRE_BATCH_STORE_H

#include "base/io/spill.h"
#include "pretok/pretoken.h"
#include "wire/ledger.h"

#include <stdbool.h>
#include <stddef.h>

/* Consumes some pretokens, padded (PRETOKEN_PAD), borrowed during the call. */
typedef int batch_store_consume(void *ctx, const struct pretoken *w, size_t n, struct err *e);

struct batch_store;

struct batch_stores {
    batch_store_consume *consume; /* gets the words of a batch once it counts */
    void *ctx;
    bool eager; /* pretokens are passed on immediately, before their batch counts: for programs that stop at the first
                      error */
    uint64_t denominator; /* of the counts that are passed on; 0: none yet */
    bool any_kind;        /* tokens are checked, then ignored: for programs that only check completeness */
    struct spill spill;
    struct batch_store *first; /* list of the open batches */
    size_t bytes;              /* memory in use by all of them */
};

/* spill_dir as for spill_init. */
void batch_stores_init(struct batch_stores *s, batch_store_consume *consume, void *ctx, const char *spill_dir);
void batch_stores_free(struct batch_stores *s); /* after ledger_free */

/* For ledger_init, with the batch_stores as its ctx. */
extern const struct ledger_content batch_store_content;

/* Moves the words of the batch that uses the most memory to disk. -1 with EX_CANTCREAT or EX_IOERR. */
int batch_stores_spill(struct batch_stores *s, struct err *e);

#endif
