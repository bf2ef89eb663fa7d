/* hash_avx2.c - see hash.h. xxHash chooses its vectors when it is compiled: here it is compiled once more. */
#include "base/sys/hash.h"

#ifdef __AVX2__
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes_avx2(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

void hash128_add_avx2(void *state, const void *p, size_t n)
{
    XXH3_128bits_update(state, p, n);
}

#endif
