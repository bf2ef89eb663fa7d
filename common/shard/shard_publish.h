/* shard_publish.h - publishes full shards: header, index files, checksums, names. For shard_writer only. */
#ifndef BPE_SHARD_SHARD_PUBLISH_H
#define BPE_SHARD_SHARD_PUBLISH_H

#include "base/sys/err.h"
#include "shard/format/manifest.h"
#include "shard/shard_file.h"

#include <stdbool.h>
#include <stdint.h>

/* A shard whose ids are all on disk. */
struct full_shard {
    unsigned split;
    uint64_t number;
    struct shard_extent at; /* extent of its files */
    bool from_disk;         /* another process wrote them */
    bool summed;            /* sum is that of the final data file */
    bool known;             /* set by publish_shard: the manifest had the shard already */
    struct manifest_file sum;
};

/* Renames the files of a shard from work (a DIR/.work) to their names in dir, durable only after publish_sync, and adds
 * the shard to the manifest in memory. If the manifest has it already, compares. After a crash, continues from any
 * step. */
int publish_shard(struct manifest *m, const char *dir, const char *work, struct full_shard *f, struct err *e);

/* Makes the names durable: syncs dir, and those of its subdirectories that occur in names. */
int publish_sync(const struct manifest *m, const char *dir, struct err *e);

/* Deletes the remaining work files, in a DIR/.work, of a shard that the manifest on disk lists. */
void publish_clean(const char *work, unsigned split, uint64_t number);

#endif
