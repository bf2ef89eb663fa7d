/* spin.c - does a fixed amount of computation without using memory. Two copies at the same time show how much two cores
 * can do on this machine. */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint64_t x = 88172645463325252;
    for (unsigned i = 0; i < 300000000; i++) { /* xorshift: each step needs the one before it */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return printf("%llu\n", (unsigned long long)x) < 0;
}
