/* shuffle.h - documents in corpus order in, the same documents in the order of shard_plan_key out; on disk, in bounded
 * memory, and durable in the same way as shard_writer.
 *
 * Documents are distributed to buckets by the first bits of their key, one file each (DIR/.work/bucket.NNN), only
 * appended to. When all have come, one bucket after the other is sorted and passed on. A bucket that is too large for
 * memory is divided by the next bits; a document may be larger than memory.
 *
 *     ... sink ...; shuffle_sync (state), (the caller keeps the state); repeat
 *     shuffle_end                     all documents have come; state says so from now on
 *     shuffle_next until it is 0      passes on documents, until about `bytes` were passed on; then the caller syncs
 *                                     and keeps both states, and calls shuffle_release: buckets that were passed on
 *                                     are deleted
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

/* work: DIR/.work; borrowed, as the plan is. width: bytes of an id. memory: bytes. state as for shard_writer_open. */
struct shuffle *shuffle_open(const char *work, const struct shard_plan *plan, unsigned width, uint64_t memory,
                             struct str state, struct err *e);
void shuffle_close(struct shuffle *s);

struct document_sink shuffle_sink(struct shuffle *s);
uint64_t shuffle_unsynced(const struct shuffle *s);
int shuffle_sync(struct shuffle *s, struct buf *state, struct err *e);

int shuffle_end(struct shuffle *s, struct err *e);
bool shuffle_ended(const struct shuffle *s);
int shuffle_next(struct shuffle *s, struct document_sink *to, uint64_t bytes, struct err *e); /* 1: more; 0: all */
int shuffle_release(struct shuffle *s, struct err *e);

#endif
