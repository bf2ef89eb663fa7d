/* shard_ids.h - many ids at once, little-endian: none too large, made wider or narrower. */
#ifndef BPE_SHARD_SHARD_IDS_H
#define BPE_SHARD_SHARD_IDS_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of n ids, each of `width` bytes (2 or 4), that is not smaller than limit; n: there is none. */
size_t shard_ids_beyond(const unsigned char *p, size_t n, unsigned width, uint64_t limit);

/* Writes n ids of `from` bytes at p with `width` bytes each at `to`: another place. What does not fit is cut. */
void shard_ids_convert(unsigned char *to, unsigned width, const unsigned char *p, unsigned from, size_t n);

#endif
