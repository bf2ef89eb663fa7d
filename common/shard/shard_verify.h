/* shard_verify.h - ids that come for a directory that is complete: whether they are of the model and the sources that
 * its manifest says, as far as they tell. They are compared, not kept.
 */
#ifndef BPE_SHARD_SHARD_VERIFY_H
#define BPE_SHARD_SHARD_VERIFY_H

#include "shard/format/manifest.h"
#include "wire/ledger.h"

struct shard_verify {
    const struct manifest *m; /* borrowed */
    const char *dir;          /* for messages; borrowed */
    struct ledger ledger;
};

void shard_verify_init(struct shard_verify *a, const struct manifest *m, const char *dir);
void shard_verify_free(struct shard_verify *a); /* a zeroed one is fine */

/* Takes a record. -1 with EX_DATAERR: of another model, read in another way, or damaged. */
int shard_verify_put(struct shard_verify *a, const struct record *rec, const char *stream, struct err *e);

/* At the end: -1 with EX_DATAERR if the promise names other sources. Without a promise nothing is known of them. */
int shard_verify_finish(struct shard_verify *a, struct err *e);

#endif
