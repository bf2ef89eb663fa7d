/* shard_read.h - reads all documents of a shard, according to its format. */
#ifndef BPE_SHARD_FORMAT_SHARD_READ_H
#define BPE_SHARD_FORMAT_SHARD_READ_H

#include "shard/format/shard_reader.h"

/* Passes all documents of a shard of DIR to a sink (shard_format.read). documents false: pass only the ids if document
 * boundaries are unknown. -1: EX_DATAERR: the shard does not match the manifest, or the sink refuses it; if a file has
 * a wrong checksum, the message names that file. EX_NOINPUT, EX_IOERR. */
int shard_read(const struct manifest *m, const struct manifest_shard *s, const char *dir, bool documents,
               struct document_sink *sink, struct err *e);

/* shard_format.read for formats with only a header and ids. Document boundaries come from the table of --docs, or from
 * separators. */
int shard_read_plain(struct shard_reader *r, struct err *e);

#endif
