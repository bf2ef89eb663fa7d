/* check_manifest.h - whether a manifest is in itself as bpe-shard writes it. */
#ifndef BPE_SHARD_CHECK_CHECK_MANIFEST_H
#define BPE_SHARD_CHECK_CHECK_MANIFEST_H

#include "base/sys/err.h"
#include "shard/format/manifest.h"

/* Reads dir/manifest.json (*m is zeroed) by manifest_read, and checks that its text is what is written for it: so the
 * totals. -1: EX_DATAERR; EX_NOINPUT: there is none; EX_TEMPFAIL: not yet. */
int check_manifest(struct manifest *m, const char *dir, struct err *e);

#endif
