/* simd.h - which vector instructions the hot paths use: the best that this processor has, or those that the environment
 * variable BPE_SIMD names (none, neon, sse2, avx2 or avx512).
 *
 * Every hot path has a plain C version, against which the others are tested, and one file for each level that it
 * supports (scan_avx2.c). The Makefile compiles a file for the level in its name; the file is empty if the compiler
 * lacks these instructions.
 */
#ifndef BPE_BASE_SYS_SIMD_H
#define BPE_BASE_SYS_SIMD_H

#include "base/sys/err.h"

#include <stdbool.h>

/* On x86-64 each level includes the levels before it. NEON comes before SSE2, so that `>= SIMD_SSE2` means SSE2 or
 * more. */
enum simd {
    SIMD_NONE,   /* plain C */
    SIMD_NEON,   /* every aarch64 has it */
    SIMD_SSE2,   /* every x86-64 has it */
    SIMD_AVX2,   /* with BMI 1 and 2 and POPCNT: Haswell, Zen and later */
    SIMD_AVX512, /* with BW, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4 and later */
    SIMD_N,
};

/* Whether this processor has this level. */
bool simd_has(enum simd level);

const char *simd_name(enum simd level); /* as in BPE_SIMD; static */

/* Reads BPE_SIMD; call it at the start of a program. -1 with EX_USAGE: the level is unknown, or the processor lacks it.
 */
int simd_prepare(struct err *e);

/* The level to use: that of BPE_SIMD, if simd_prepare found one, else the best. */
enum simd simd_level(void);

/* Sets the level, for tests; the processor must have it. */
void simd_use(enum simd level);

#endif
