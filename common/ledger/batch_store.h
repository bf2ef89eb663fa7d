/* batch_store.h - the words of batches that have not ended yet: kept, in memory or on disk, until the ledger says
 * whether they count. The ledger's content for programs that add up counts.
 */
#ifndef BPE_LEDGER_BATCH_STORE_H
#define BPE_LEDGER_BATCH_STORE_H

#include "core/pretoken.h"
#include "io/spill.h"
#include "ledger/ledger.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes some pretokens, padded (PRETOKEN_PAD); borrowed during the call. */
typedef int batch_store_take(void *ctx, const struct pretoken *w, size_t n, struct err *e);

struct batch_store;

struct batch_stores {
    batch_store_take *take; /* what a batch holds goes there once it counts */
    void *ctx;
    bool eager; /* pretokens are taken as they come, not when their batch counts: for programs that give up as soon as
                   anything is wrong */
    bool any_kind; /* tokens are checked, and passed over: for programs that only ask what is complete */
    struct spill spill;
    struct batch_store *first; /* of the open ones, in a list */
    size_t bytes;              /* memory in use by all of them */
};

/* spill_dir as for spill_init. */
void batch_stores_init(struct batch_stores *s, batch_store_take *take, void *ctx, const char *spill_dir);
void batch_stores_free(struct batch_stores *s); /* after ledger_free */

/* For ledger_init, with the batch_stores as its ctx. */
extern const struct ledger_content batch_store_content;

/* Moves the words of the batch that takes most memory to disk. -1 with EX_CANTCREAT or EX_IOERR. */
int batch_stores_spill(struct batch_stores *s, struct err *e);

#endif
