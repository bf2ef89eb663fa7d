/* simd.c - see simd.h. */
#include "base/sys/simd.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"none", "neon", "sse2", "avx2", "avx512"};
static enum simd chosen = SIMD_N; /* SIMD_N: not chosen yet */

bool simd_has(enum simd level)
{
    switch (level) {
    case SIMD_NONE:
        return true;
#ifdef __aarch64__
    case SIMD_NEON:
        return true;
#endif
#ifdef __x86_64__
    case SIMD_SSE2:
        return true;
    case SIMD_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    case SIMD_AVX512:
        return simd_has(SIMD_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
#endif
    default:
        return false;
    }
}

const char *simd_name(enum simd level)
{
    return names[level];
}

static enum simd best(void)
{
    enum simd level = SIMD_N - 1;
    while (!simd_has(level))
        level--;
    return level;
}

int simd_prepare(struct err *e)
{
    const char *want = getenv("BPE_SIMD");
    if (!want || !*want)
        return 0;
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (strcmp(want, names[level]) != 0)
            continue;
        if (!simd_has(level))
            return err_set(e, EX_USAGE, "BPE_SIMD=%s: this processor lacks these instructions; its best level is %s",
                           want, names[best()]);
        chosen = level;
        return 0;
    }
    return err_set(e, EX_USAGE, "BPE_SIMD=%s: must be one of none, neon, sse2, avx2, avx512", want);
}

enum simd simd_level(void)
{
    if (chosen == SIMD_N)
        chosen = best();
    return chosen;
}

void simd_use(enum simd level)
{
    chosen = level;
}
