/* hash_avx2.c - see hash.h. xxHash chooses its vector instructions at compile time, so this file compiles it again for
 * AVX2. GCC 12 omits vzeroupper in functions for which xxHash sets its own target options, which would slow down all
 * later SSE code; the functions here add it. */
#include "base/sys/hash.h"

#ifdef __AVX2__
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <immintrin.h>

uint64_t hash_bytes_avx2(const void *p, size_t n, uint64_t seed)
{
    uint64_t hash = XXH3_64bits_withSeed(p, n, seed);
    _mm256_zeroupper();
    return hash;
}

void hash128_add_avx2(void *state, const void *p, size_t n)
{
    XXH3_128bits_update(state, p, n);
    _mm256_zeroupper();
}

#endif
