/* hash.c - see hash.h. */
#include "sys/hash.h"

#include <stdlib.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

void random_bytes(void *p, size_t n)
{
    unsigned char *b = p;
    while (n) {
        size_t part = n < 256 ? n : 256;
        /* For up to 256 bytes getrandom never returns fewer, and fails only if the kernel does not have it. */
        if (getrandom(b, part, 0) != (ssize_t)part)
            abort();
        b += part;
        n -= part;
    }
}

uint64_t hash_secret(void)
{
    static uint64_t secret;
    while (!secret)
        random_bytes(&secret, sizeof secret);
    return secret;
}
