/* shuffle_output.h - passes on the documents of all buckets (shuffle.h) in their new order: sorts one bucket after
 * another in memory; divides one that is too large by the next bits of the keys. */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_OUTPUT_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_OUTPUT_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/format/token_doc.h"
#include "shard/shuffle/shuffle_files.h"
#include "shard/shuffle/shuffle_sorted.h"

#include <stdbool.h>
#include <stdint.h>

/* At the beginning, all but the first four fields are zero. `bucket` and `passed` are the state; they do not depend on
 * the memory. */
struct shuffle_output {
    struct shuffle_files *files; /* borrowed: files 0 .. n_buckets - 1 */
    size_t n_buckets;
    unsigned bits; /* leading key bits that are equal within a bucket */
    uint64_t memory;
    uint64_t bucket, passed; /* buckets passed on completely; entries of the next one */
    struct buf names;        /* the sources: shuffle_entry.h */

    bool begun;                /* the bucket's parts are in the list */
    uint64_t skip;             /* entries of it that were passed on before */
    struct shuffle_part *part; /* parts of the bucket that remain, in reverse order; owned */
    size_t n_parts, cap_parts;
    struct shuffle_sorted sorted;
    struct buf ids; /* of documents in the new order */
    char name[SHUFFLE_NAME];
};

/* Passes on entries of at least `bytes` in total, or all that are left. 1: more follow; 0: that was all; -1. */
int shuffle_output_next(struct shuffle_output *o, struct document_sink *to, uint64_t bytes, struct err *e);
void shuffle_output_free(struct shuffle_output *o); /* a zeroed one is fine */

#endif
