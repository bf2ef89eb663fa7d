/* shard_writer.h - documents in, shards out: divides the ids into shards of the plan's size, for both splits, and
 * publishes each (name and manifest) when its ids are durable.
 *
 * A shard is made in DIR/.work, as an append-only data file and document table. Nothing is renamed until the caller
 * says so, because a crash loses everything written after the last state that the caller has saved:
 *
 *     ... begin, ids, end, flush of the sink ...
 *     shard_writer_sync       makes the data durable; the state describes it
 *     (the caller makes the state durable: token_store)
 *     shard_writer_publish    finishes full shards: header, index, checksum, rename, manifest
 *
 * After a crash, the state of the last journal entry restores everything: longer files are truncated to it.
 */
#ifndef BPE_SHARD_SHARD_WRITER_H
#define BPE_SHARD_SHARD_WRITER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/manifest.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stdint.h>

struct shard_writer; /* opaque */

/* dir: must exist, with its .work; *borrowed*. The manifest (*borrowed*, read or new) has the plan. width: bytes of an
 * incoming id. state: that of the last journal entry; empty: at the beginning. published: called for each shard as it
 * appears; may be NULL. NULL on error. */
struct shard_writer *shard_writer_open(const char *dir, struct manifest *m, unsigned width, struct str state,
                                       int (*published)(void *ctx, const struct manifest_shard *s, struct err *e),
                                       void *ctx, struct err *e);
void shard_writer_close(struct shard_writer *w);

struct document_sink shard_writer_sink(struct shard_writer *w);

/* Assigns the following documents to this split, whatever the plan says; and the rest of an open document, unless the
 * format has whole documents. Not in the state: set it again after a restart. */
void shard_writer_choose(struct shard_writer *w, unsigned split);

/* Bytes written since the last sync; ids taken since the writer was opened. */
uint64_t shard_writer_unsynced(const struct shard_writer *w);
uint64_t shard_writer_tokens(const struct shard_writer *w);

int shard_writer_sync(struct shard_writer *w, struct buf *state, struct err *e);

/* Publishes full shards. all: all of them; otherwise some may wait for the next call, so that in a directory of very
 * many shards the manifest, which grows with them, is not written for each one. A shard that the manifest lists already
 * (its work was lost) must come out the same, else EX_DATAERR, and is not written again. */
int shard_writer_publish(struct shard_writer *w, bool all, struct err *e);

/* After the last document: shard_writer_end ends the last shards as the plan says (one without ids is dropped); then
 * sync and publish as above; then shard_writer_complete writes the final manifest. */
int shard_writer_end(struct shard_writer *w, struct err *e);
int shard_writer_complete(struct shard_writer *w, struct err *e);

#endif
