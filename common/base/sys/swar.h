/* swar.h - SIMD within a register: tests on eight bytes at a time in a 64-bit word. All results are exact: the high bit
 * of each matching byte is set, and no other bit. */
#ifndef BPE_BASE_SYS_SWAR_H
#define BPE_BASE_SYS_SWAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SWAR_ONES 0x0101010101010101U
#define SWAR_HIGH 0x8080808080808080U

static inline uint64_t swar_load(const void *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline uint64_t swar_zero(uint64_t x)
{
    return ~(((x & ~SWAR_HIGH) + ~SWAR_HIGH) | x | ~SWAR_HIGH);
}

static inline uint64_t swar_equal(uint64_t x, unsigned char c)
{
    return swar_zero(x ^ (SWAR_ONES * c));
}

/* The bytes <= c; c < 0x80. */
static inline uint64_t swar_less_or_equal(uint64_t x, unsigned char c)
{
    return ~(((x & ~SWAR_HIGH) + SWAR_ONES * (uint64_t)(0x7F - c)) | x) & SWAR_HIGH;
}

/* The offset in memory, 0 .. 7, of the first byte marked in a nonzero result. */
static inline size_t swar_first(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(marks) / 8;
#else
    return (size_t)__builtin_clzll(marks) / 8;
#endif
}

#endif
