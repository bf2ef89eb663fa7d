/* hash.h - hashing. Only hash.c and hash_avx2.c call xxHash. */
#ifndef BPE_BASE_SYS_HASH_H
#define BPE_BASE_SYS_HASH_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* The 64-bit XXH3 hash of n bytes with a seed. It is the same on every machine: the checksums of records depend on it.
 */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

/* The same, of two concatenated parts. */
uint64_t hash_parts(const void *p, size_t n, const void *q, size_t m, uint64_t seed);

/* The 128-bit XXH3 hash of any number of parts, for the checksums of files. */
enum { HASH128_LEN = 16 };
struct hash128;
struct hash128 *hash128_new(struct err *e); /* empty; NULL: out of memory */
void hash128_free(struct hash128 *h);
void hash128_reset(struct hash128 *h);
void hash128_add(struct hash128 *h, const void *p, size_t n);
void hash128_get(const struct hash128 *h,
                 unsigned char to[HASH128_LEN]); /* canonical: big-endian, as xxhsum(1) shows it */

/* The same with the vectors of one level of simd.h (hash_avx2.c); only for hash.c. */
uint64_t hash_bytes_avx2(const void *p, size_t n, uint64_t seed);
void hash128_add_avx2(void *state /* XXH3_state_t */, const void *p, size_t n);

/* A random seed, chosen once per process. Hash tables use it so that nobody can construct an input whose keys collide.
 */
uint64_t hash_secret(void);

/* Fills p with n random bytes, for the ids of runs and batches. */
void random_bytes(void *p, size_t n);

#endif
