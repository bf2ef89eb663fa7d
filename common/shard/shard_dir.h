/* shard_dir.h - the directory in which shards are made: who works there, and what an earlier run has left. */
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
    bool created;    /* DIR was not there before */
    bool has_before; /* there is a manifest of an earlier run: `before` */
    struct manifest before;
};

/* Creates DIR and DIR/.work unless they are there, and locks them for this process. resume: what an earlier run has
 * left is gone on with; else it is an error. -1 with EX_CANTCREAT: somebody else works there, or an earlier run did.
 */
int shard_dir_open(struct shard_dir *d, const char *path, bool resume, struct err *e);

/* Deletes DIR/.work: all is done. */
void shard_dir_remove_work(struct shard_dir *d);

/* Nothing was done, or kept: deletes what was created, so that the same command may be given again. */
void shard_dir_forget(struct shard_dir *d);

void shard_dir_close(struct shard_dir *d);

#endif
