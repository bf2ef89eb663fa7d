/* hash.c - see hash.h. */
#include "base/sys/hash.h"

#include "base/sys/simd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { LONG = 512 /* length in bytes from which wider vectors are faster */ };

#ifdef __x86_64__
/* Whether to hash n bytes with AVX2. */
static bool by_avx2(size_t n)
{
    return n >= LONG && simd_level() >= SIMD_AVX2;
}
#endif

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
#ifdef __x86_64__
    if (by_avx2(n))
        return hash_bytes_avx2(p, n, seed);
#endif
    return XXH3_64bits_withSeed(p, n, seed);
}

uint64_t hash_parts(const void *p, size_t n, const void *q, size_t m, uint64_t seed)
{
    unsigned char all[256];
    XXH3_state_t state;
    if (n <= sizeof all && m <= sizeof all - n) { /* faster than setting up a state */
        memcpy(all, p, n);
        memcpy(all + n, q, m);
        return XXH3_64bits_withSeed(all, n + m, seed);
    }
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, seed);
    XXH3_64bits_update(&state, p, n);
    XXH3_64bits_update(&state, q, m);
    return XXH3_64bits_digest(&state);
}

/* ---- 128 bits ---- */

struct hash128 {
    XXH3_state_t *state; /* owned; xxHash aligns it for vectors */
};

struct hash128 *hash128_new(struct err *e)
{
    struct hash128 *h = malloc(sizeof *h);
    if (h)
        h->state = XXH3_createState();
    if (!h || !h->state) {
        free(h);
        err_mem(e, "a checksum", sizeof(XXH3_state_t));
        return NULL;
    }
    hash128_reset(h);
    return h;
}

void hash128_free(struct hash128 *h)
{
    if (h)
        XXH3_freeState(h->state);
    free(h);
}

void hash128_reset(struct hash128 *h)
{
    XXH3_128bits_reset(h->state);
}

void hash128_add(struct hash128 *h, const void *p, size_t n)
{
#ifdef __x86_64__
    if (by_avx2(n)) {
        hash128_add_avx2(h->state, p, n);
        return;
    }
#endif
    if (n)
        XXH3_128bits_update(h->state, p, n);
}

void hash128_get(const struct hash128 *h, unsigned char to[HASH128_LEN])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(h->state));
    memcpy(to, c.digest, HASH128_LEN);
}

/* ---- Random numbers ---- */

void random_bytes(void *p, size_t n)
{
    unsigned char *b = p;
    while (n) {
        size_t part = n < 256 ? n : 256;
        /* Up to 256 bytes, getrandom never returns fewer than requested, and fails only if the kernel lacks it. */
        if (getrandom(b, part, 0) != (ssize_t)part)
            abort();
        b += part;
        n -= part;
    }
}

static uint64_t secret;

static void make_secret(void)
{
    while (!secret)
        random_bytes(&secret, sizeof secret);
}

uint64_t hash_secret(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_secret);
    return secret;
}
