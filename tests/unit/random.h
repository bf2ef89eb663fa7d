/* random.h - random numbers for unit tests, reproducible from a seed (splitmix64; Steele, Lea and Flood, 2014). */
#ifndef BPE_TESTS_RANDOM_H
#define BPE_TESTS_RANDOM_H

#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

/* How many of n random cases to try: all if FULL is set in the environment (make soak), otherwise one in TRIES_PART.
 * Sanitizers are slow, and check memory rather than results. */
#ifndef TRIES_PART
#ifdef __SANITIZE_ADDRESS__
#define TRIES_PART 8
#else
#define TRIES_PART 4
#endif
#endif
#define FULL (getenv("FULL") != NULL)
#define TRIES(n) ((n) / (FULL ? 1 : TRIES_PART))

/* A divisor of what only shows that results are right or that time is linear: lengths, and numbers of cases that take
 * the same path. 1 without sanitizers. A prime, so that each value of a byte is tried even if only each LESSth is. */
#ifdef __SANITIZE_ADDRESS__
#define LESS 7
#else
#define LESS 1
#endif

static uint64_t random_state;

/* Takes the seed from SEED in the environment, else `otherwise`, and prints it. */
__attribute__((unused)) static void random_seed(uint64_t otherwise)
{
    const char *seed = getenv("SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : otherwise;
    tap_note("SEED=%llu", (unsigned long long)random_state);
}

static uint64_t next_random(void)
{
    random_state += 0x9E3779B97F4A7C15;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* One of 0 .. n - 1. */
__attribute__((unused)) static uint64_t rnd(uint64_t n)
{
    return next_random() % n;
}

#endif
