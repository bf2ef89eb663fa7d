/* simd.h - which vector instructions the hot paths use: the best this processor has, or what BPE_SIMD in the
 * environment says (none, neon, sse2, avx2 or avx512).
 *
 * A hot path has a plain version, which is always there and is what the others are tested against, and one file for
 * each level it has been written for (scan_avx2.c). The Makefile compiles a file for the level it is named for; it
 * holds nothing where the compiler has no such instructions.
 */
#ifndef BPE_SYS_SIMD_H
#define BPE_SYS_SIMD_H

#include "sys/err.h"

#include <stdbool.h>

/* On one kind of machine each level has what those before it have. NEON comes before SSE2, so that >= SIMD_SSE2 asks
 * for SSE2 or more. */
enum simd {
    SIMD_NONE,   /* the plain versions */
    SIMD_NEON,   /* what every aarch64 has */
    SIMD_SSE2,   /* what every x86-64 has */
    SIMD_AVX2,   /* with BMI 1 and 2 and POPCNT: Haswell, Zen and later */
    SIMD_AVX512, /* with BW, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4 and later */
    SIMD_N,
};

/* Whether this processor has it. */
bool simd_has(enum simd level);

const char *simd_name(enum simd level); /* as BPE_SIMD has it; static */

/* Reads BPE_SIMD; for the start of a program. -1 with EX_USAGE when it is no level, or one the processor lacks. */
int simd_prepare(struct err *e);

/* The level to use: what simd_prepare found, else the best. */
enum simd simd_level(void);

/* Sets it. For tests; the level must be there. */
void simd_use(enum simd level);

#endif
