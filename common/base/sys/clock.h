/* clock.h - a clock to measure durations. */
#ifndef BPE_BASE_SYS_CLOCK_H
#define BPE_BASE_SYS_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary moment; only differences are meaningful. The clock is monotonic. */
static inline double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
