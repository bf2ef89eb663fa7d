/* shard_read.h - reading a shard: all its documents, by its format. */
#ifndef BPE_SHARD_FORMAT_SHARD_READ_H
#define BPE_SHARD_FORMAT_SHARD_READ_H

#include "shard/format/shard_reader.h"

/* Passes all documents of a shard of DIR to a sink, by its format (shard_format.read). documents: false: only the ids,
 * where nothing says where documents end. -1: EX_DATAERR: the shard is not what the manifest says, or the sink refuses
 * it; then, if a file has another checksum, it is that one which is named. EX_NOINPUT, EX_IOERR. */
int shard_read(const struct manifest *m, const struct manifest_shard *s, const char *dir, bool documents,
               struct document_sink *sink, struct err *e);

/* shard_format.read for formats whose ids follow a header, and which do not say where documents are: that is known
 * from the table of --docs, or from separators. */
int shard_read_plain(struct shard_reader *r, struct err *e);

#endif
