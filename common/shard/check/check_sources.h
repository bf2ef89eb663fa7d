/* check_sources.h - samples (check_samples.h) are encoded anew from files of the corpus. */
#ifndef BPE_SHARD_CHECK_CHECK_SOURCES_H
#define BPE_SHARD_CHECK_CHECK_SOURCES_H

#include "base/sys/err.h"
#include "shard/check/check_encoder.h"
#include "shard/check/check_samples.h"

/* Compares all samples whose source is among the files. *n: their number; *n_without: how many files have none (all of
 * such a file is inside one shard, and there is no table of documents). -1: EX_DATAERR: the ids of a document are not
 * those in its shard, or it is not there; EX_NOINPUT: a file is missing, or no sample is from any. */
int check_sources(const struct check_samples *x, struct check_encoder *c, char **files, int n_files, uint64_t *n,
                  int *n_without, struct err *e);

#endif
