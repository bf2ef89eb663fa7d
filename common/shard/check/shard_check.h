/* shard_check.h - verifies that a directory of shards matches its manifest (bpe-shard --check).
 *
 * It checks, in this order: the manifest itself; with a model, that it is the one used; for each shard, sizes and
 * checksums of its files, the format's own data, and that no id is beyond the vocabulary; with files of the corpus,
 * that some documents have the same ids when re-encoded; unknown files.
 */
#ifndef BPE_SHARD_CHECK_SHARD_CHECK_H
#define BPE_SHARD_CHECK_SHARD_CHECK_H

#include "base/sys/err.h"

/* All fields are *borrowed*. */
struct shard_check_options {
    const char *model; /* NULL: none */
    char **files;      /* of the corpus, which need the model; matched with sources by name or last path component */
    int n_files;
    int fd;           /* if all is well, a short report is written here */
    const char *name; /* for messages */
};

/* -1: EX_DATAERR with file and position; EX_NOINPUT: a file is missing; EX_TEMPFAIL: no errors, but the directory is
 * incomplete; EX_USAGE, EX_IOERR, EX_OSERR. */
int shard_check(const char *dir, const struct shard_check_options *o, struct err *e);

#endif
