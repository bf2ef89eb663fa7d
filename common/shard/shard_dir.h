/* shard_dir.h - the output directory of shards: the lock of the process that works there, and what an earlier one has
 * left. */
#ifndef BPE_SHARD_SHARD_DIR_H
#define BPE_SHARD_SHARD_DIR_H

#include "base/sys/err.h"
#include "shard/format/manifest.h"

#include <stdbool.h>

/* Zeroed: not open. */
struct shard_dir {
    const char *path; /* borrowed */
    char *work;       /* DIR/.work; owned */
    int lock;
    bool open;
    bool created;    /* DIR did not exist before */
    bool has_before; /* an earlier process has left a manifest: `before` */
    struct manifest before;
};

/* Creates DIR and DIR/.work unless they exist, and locks them for this process. resume: continue what an earlier
 * process has left; without it, that is an error. -1 with EX_CANTCREAT: another process works there, or an earlier one
 * did.
 */
int shard_dir_open(struct shard_dir *d, const char *path, bool resume, struct err *e);

/* Deletes DIR/.work, once everything is done. */
void shard_dir_remove_work(struct shard_dir *d);

/* Undoes the creation if nothing was done or kept, so that the same command can be retried. */
void shard_dir_forget(struct shard_dir *d);

void shard_dir_close(struct shard_dir *d);

#endif
