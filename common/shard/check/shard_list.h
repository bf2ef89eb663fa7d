/* shard_list.h - lists a directory of shards as a table (bpe-shard --list). */
#ifndef BPE_SHARD_CHECK_SHARD_LIST_H
#define BPE_SHARD_CHECK_SHARD_LIST_H

#include "base/sys/err.h"

/* Writes the table to fd; name is for messages. One line for each shard: name, ids, documents, bytes of all its files,
 * and where it begins; then the totals of each split, and whether the directory is complete. -1: EX_NOINPUT: no
 * manifest; EX_DATAERR, EX_IOERR. */
int shard_list(const char *dir, int fd, const char *name, struct err *e);

#endif
