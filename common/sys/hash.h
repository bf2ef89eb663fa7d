/* hash.h - hashing, the one place that knows xxHash. */
#ifndef BPE_SYS_HASH_H
#define BPE_SYS_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3, 64 bits, of n bytes with a seed. The same on every machine: the checksums of records depend on it. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

/* A random seed, drawn once per process. Hash tables use it so that nobody can make an input whose keys collide. */
uint64_t hash_secret(void);

/* Fills p with n random bytes (ids of runs and batches). */
void random_bytes(void *p, size_t n);

#endif
