/* hash_test.c - base/sys/hash.h: the checksum of any number of bytes is the same at each level of vector instructions,
 * also if they are passed in parts. */
#include "base/sys/hash.h"
#include "base/sys/simd.h"
#include "random.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 20000, TIMES = 4000 };

static unsigned char bytes[MOST];

struct sums {
    uint64_t bytes, parts;
    unsigned char wide[HASH128_LEN];
};

/* The checksums of bytes[at .. at + n), of which the first m are passed separately. */
static struct sums sum(struct hash128 *h, size_t at, size_t n, size_t m, uint64_t seed)
{
    struct sums s = {.bytes = hash_bytes(bytes + at, n, seed),
                     .parts = hash_parts(bytes + at, m, bytes + at + m, n - m, seed)};
    hash128_reset(h);
    hash128_add(h, bytes + at, m);
    hash128_add(h, bytes + at + m, n - m);
    hash128_get(h, s.wide);
    return s;
}

int main(void)
{
    struct err e;
    struct hash128 *h = hash128_new(&e);
    unsigned wrong[SIMD_N] = {0};
    if (!h)
        return 1;
    random_seed(5);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (unsigned char)rnd(256);
    for (int i = 0; i < TIMES; i++) {
        size_t n = rnd(i % 2 ? 1200 : MOST), at = rnd(MOST - n), m = rnd(n + 1);
        uint64_t seed = i % 3 ? 0 : rnd(UINT64_MAX);
        simd_use(SIMD_NONE);
        struct sums want = sum(h, at, n, m, seed);
        wrong[SIMD_NONE] += want.bytes != want.parts;
        for (enum simd level = SIMD_NONE + 1; level < SIMD_N; level++) {
            if (!simd_has(level))
                continue;
            simd_use(level);
            struct sums got = sum(h, at, n, m, seed);
            wrong[level] +=
                got.bytes != want.bytes || got.parts != want.parts || memcmp(got.wide, want.wide, sizeof got.wide) != 0;
        }
    }
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (simd_has(level))
            tap_ok(wrong[level] == 0, "%s: %d checksums (%u wrong)", simd_name(level), TIMES, wrong[level]);
    }
    simd_use(SIMD_NONE);
    hash128_free(h);
    return tap_done();
}
