/* shard_verify.h - checks ids that arrive for a complete directory: whether they belong to the model and the sources of
 * its manifest, as far as the records tell. They are compared, not kept.
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

/* Takes a record. -1 with EX_DATAERR: the record is of another model, was read in another way, or is damaged. */
int shard_verify_put(struct shard_verify *a, const struct record *rec, const char *stream, struct err *e);

/* Call at the end. -1 with EX_DATAERR if the promise names other sources. Without a promise, the sources are unknown.
 */
int shard_verify_finish(struct shard_verify *a, struct err *e);

#endif
