/* shard_list.h - a directory of shards as a table (bpe-shard --list). */
#ifndef BPE_SHARD_CHECK_SHARD_LIST_H
#define BPE_SHARD_CHECK_SHARD_LIST_H

#include "base/sys/err.h"

/* Writes to a descriptor; name: of it, for messages. A line for each shard: name, ids, documents, bytes of all its
 * files, and where it begins; then for each split the totals; and whether it is complete. -1: EX_NOINPUT: there is no
 * manifest; EX_DATAERR, EX_IOERR. */
int shard_list(const char *dir, int fd, const char *name, struct err *e);

#endif
