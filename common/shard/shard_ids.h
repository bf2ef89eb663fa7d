/* shard_ids.h - operations on arrays of little-endian ids: range check and change of width. */
#ifndef BPE_SHARD_SHARD_IDS_H
#define BPE_SHARD_SHARD_IDS_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of n ids, each of `width` bytes (2 or 4), that is not smaller than limit; n: all are smaller.
 */
size_t shard_ids_beyond(const unsigned char *p, size_t n, unsigned width, uint64_t limit);

/* Converts n ids of `from` bytes at p to `width` bytes each at `to`, which must not overlap p. Truncates ids that do
 * not fit. */
void shard_ids_convert(unsigned char *to, unsigned width, const unsigned char *p, unsigned from, size_t n);

#endif
