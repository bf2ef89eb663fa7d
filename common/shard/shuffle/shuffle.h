/* shuffle.h - takes documents in corpus order and returns them in the order of shard_plan_key; on disk, in bounded
 * memory, and as durable as shard_writer.
 *
 * Documents are distributed by the first bits of their key to buckets, one append-only file each
 * (DIR/.work/bucket.NNN). When all have arrived, the buckets are sorted and passed on one after another. A bucket that
 * is too large for memory is divided by the next bits; a document may be larger than memory.
 *
 *     ... sink ...; shuffle_sync (state), (the caller keeps the state); repeat
 *     shuffle_end                     all documents have arrived, which the state records from now on
 *     shuffle_next until it is 0      passes on about `bytes` of documents; then the caller syncs, keeps both states,
 *                                     and calls shuffle_release, which deletes the buckets that were passed on
 */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/shard_plan.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stdint.h>

struct shuffle; /* opaque */

/* work: DIR/.work; *borrowed*, as is the plan. width: bytes of an id. memory: bytes. state: as for shard_writer_open.
 */
struct shuffle *shuffle_open(const char *work, const struct shard_plan *plan, unsigned width, uint64_t memory,
                             struct str state, struct err *e);
void shuffle_close(struct shuffle *s);

struct document_sink shuffle_sink(struct shuffle *s);
uint64_t shuffle_unsynced(const struct shuffle *s);
int shuffle_sync(struct shuffle *s, struct buf *state, struct err *e);

int shuffle_end(struct shuffle *s, struct err *e);
bool shuffle_ended(const struct shuffle *s);
int shuffle_next(struct shuffle *s, struct document_sink *to, uint64_t bytes, struct err *e); /* 1: more; 0: done */
int shuffle_release(struct shuffle *s, struct err *e);

#endif
