/* check_sources.h - re-encodes samples (check_samples.h) from files of the corpus. */
#ifndef BPE_SHARD_CHECK_CHECK_SOURCES_H
#define BPE_SHARD_CHECK_CHECK_SOURCES_H

#include "base/sys/err.h"
#include "shard/check/check_encoder.h"
#include "shard/check/check_samples.h"

/* Compares all samples whose source is among the files. *n: number of samples; *n_without: number of files without any
 * (the whole file is inside one shard, and there is no document table). -1: EX_DATAERR: the ids of a document differ
 * from those in its shard, or the document is missing; EX_NOINPUT: a file is missing, or no file has a sample. */
int check_sources(const struct check_samples *x, struct check_encoder *c, char **files, int n_files, uint64_t *n,
                  int *n_without, struct err *e);

#endif
