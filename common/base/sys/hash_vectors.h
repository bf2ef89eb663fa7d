/* hash_vectors.h - parts of hash.h for one level of simd.h, with the same results. For hash*.c only. */
#ifndef BPE_BASE_SYS_HASH_VECTORS_H
#define BPE_BASE_SYS_HASH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes_avx2(const void *p, size_t n, uint64_t seed);
void hash128_add_avx2(void *state /* XXH3_state_t */, const void *p, size_t n);

#endif
