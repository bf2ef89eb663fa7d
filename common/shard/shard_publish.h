/* shard_publish.h - full shards appear: header, index files, checksums, names; for shard_writer only. */
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
    struct shard_extent at; /* its files */
    bool from_disk;         /* another process wrote them */
    bool summed;            /* sum is that of the data file as it is */
    bool known;             /* set by publish_shard: the manifest had it before */
    struct manifest_file sum;
};

/* Gives the files of a shard, which are in work, a DIR/.work, their names in dir, which are durable after publish_sync,
 * and adds it to the manifest, in memory. If the manifest has it already, compares. Works from whatever was reached
 * before a death. */
int publish_shard(struct manifest *m, const char *dir, const char *work, struct full_shard *f, struct err *e);

/* Directories of dir, which names may have, are on disk. */
int publish_sync(const struct manifest *m, const char *dir, struct err *e);

/* Deletes what is left in work, a DIR/.work, of a shard that is in the manifest on disk. */
void publish_clean(const char *work, unsigned split, uint64_t number);

#endif
