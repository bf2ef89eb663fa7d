/* shard_check.h - proves that a directory of shards is what its manifest says (bpe-shard --check).
 *
 * In this order: the manifest itself; with a model, that it is the one; of each shard, the sizes and checksums of its
 * files, what the format says of itself, ids beyond the vocabulary; with files of the corpus, that some documents have
 * the same ids when they are encoded anew; files that nobody knows.
 */
#ifndef BPE_SHARD_CHECK_SHARD_CHECK_H
#define BPE_SHARD_CHECK_SHARD_CHECK_H

#include "base/sys/err.h"

/* All borrowed. */
struct shard_check_options {
    const char *model; /* NULL: none */
    char **files; /* of the corpus, with the model: named as in the manifest, or the last part of the name is equal */
    int n_files;
    int fd;           /* a report of two or three lines is written here, if all is well; and its name */
    const char *name; /* for messages */
};

/* -1: EX_DATAERR with the file and the place; EX_NOINPUT: a file is missing; EX_TEMPFAIL: all is well so far, but the
 * directory is not complete; EX_USAGE, EX_IOERR, EX_OSERR. */
int shard_check(const char *dir, const struct shard_check_options *o, struct err *e);

#endif
