/* shard_writer.h - documents in, shards out: cuts the ids into shards of the plan's size, for both splits, and makes
 * each appear under its name, in the manifest, when its ids are durable.
 *
 * A shard is made in DIR/.work: its data file and, if needed, its table of documents are only appended to. Nothing is
 * renamed until the caller says so, because what was written after the last state that the caller has kept is lost if
 * the process dies:
 *
 *     ... begin, ids, end, flush of the sink ...
 *     shard_writer_sync       data durable; the state describes them
 *     (the caller makes the state durable: token_store)
 *     shard_writer_publish    full shards are finished: header, index, checksum, rename, manifest
 *
 * After a death the state of the last journal entry brings everything back: longer files are cut to what it says.
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

/* dir: exists, with its .work; borrowed. The manifest (borrowed, read or new) has the plan. width: bytes of the ids
 * that come. state: of the last journal entry; empty: at the beginning. published: called for each shard as it appears;
 * may be NULL. NULL on error. */
struct shard_writer *shard_writer_open(const char *dir, struct manifest *m, unsigned width, struct str state,
                                       int (*published)(void *ctx, const struct manifest_shard *s, struct err *e),
                                       void *ctx, struct err *e);
void shard_writer_close(struct shard_writer *w);

struct document_sink shard_writer_sink(struct shard_writer *w);

/* The documents from here on belong to this split, whatever the plan says; and the rest of one that is open, if the
 * format has no whole documents. Not in the state: to be said again. */
void shard_writer_choose(struct shard_writer *w, unsigned split);

/* Bytes written since the last sync; ids taken since it was opened. */
uint64_t shard_writer_unsynced(const struct shard_writer *w);
uint64_t shard_writer_tokens(const struct shard_writer *w);

int shard_writer_sync(struct shard_writer *w, struct buf *state, struct err *e);

/* Makes full shards appear. all: all of them; else some may wait for the next time, so that in a directory of very many
 * shards the manifest, which grows with them, is not written for each of them. A shard that the manifest has already
 * (its work was lost) must come out the same, else EX_DATAERR, and is not written again. */
int shard_writer_publish(struct shard_writer *w, bool all, struct err *e);

/* All documents have come: the last shards are ended as the plan says (one without ids is none); then sync and
 * publish as above; then shard_writer_complete writes the final manifest. */
int shard_writer_end(struct shard_writer *w, struct err *e);
int shard_writer_complete(struct shard_writer *w, struct err *e);

#endif
