/* scan_neon.c - scan_masks.h by NEON, which every aarch64 has. There is no movemask: of each byte that is all ones its
 * own bit is kept, and three rounds of adding neighbours bring the bits of eight bytes into one. As that takes longer
 * than the compares, what belongs to one mask is put together before. */
#include "bpe/scan_parts.h"

#if defined __AARCH64EL__ && defined __ARM_NEON
#include "bpe/scan_raw.h"

#include <arm_neon.h>

struct vec {
    uint8x16_t a, b, c, d;
};

INLINE struct vec load(const unsigned char *p)
{
    return (struct vec){vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)};
}

/* Each byte of v all ones or 0. */
INLINE uint64_t bits(struct vec v)
{
    static const uint8_t of_byte[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit = vld1q_u8(of_byte);
    uint8x16_t low = vpaddq_u8(vandq_u8(v.a, bit), vandq_u8(v.b, bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(v.c, bit), vandq_u8(v.d, bit));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

INLINE struct vec either(struct vec v, struct vec w)
{
    return (struct vec){vorrq_u8(v.a, w.a), vorrq_u8(v.b, w.b), vorrq_u8(v.c, w.c), vorrq_u8(v.d, w.d)};
}

INLINE uint8x16_t range_of(uint8x16_t v, unsigned low, unsigned n)
{
    return vcltq_u8(vsubq_u8(v, vdupq_n_u8((uint8_t)low)), vdupq_n_u8((uint8_t)n));
}

/* Which bytes are in [low, low + n). */
INLINE struct vec in_range(struct vec v, unsigned low, unsigned n)
{
    return (struct vec){range_of(v.a, low, n), range_of(v.b, low, n), range_of(v.c, low, n), range_of(v.d, low, n)};
}

INLINE struct vec equal(struct vec v, unsigned c)
{
    uint8x16_t all = vdupq_n_u8((uint8_t)c);
    return (struct vec){vceqq_u8(v.a, all), vceqq_u8(v.b, all), vceqq_u8(v.c, all), vceqq_u8(v.d, all)};
}

INLINE struct raw raw_masks(const unsigned char *p)
{
    struct vec v = load(p), space = equal(v, ' ');
    uint8x16_t bit = vdupq_n_u8(0x20);
    struct vec lower = either(v, (struct vec){bit, bit, bit, bit});
    struct raw r;
    r.letter = bits(in_range(lower, 'a', 26));
    r.number = bits(in_range(v, '0', 10));
    r.space = bits(space);
    r.white = bits(either(in_range(v, '\t', 5), space));
    r.newline = bits(either(equal(v, '\n'), equal(v, '\r')));
    r.quote = bits(equal(v, '\''));
    r.high = bits(in_range(v, 0x80, 0x80));
    r.tail = bits(in_range(v, 0x80, 0x40));
    return r;
}

INLINE uint64_t lead_masks(const unsigned char *p)
{
    struct vec v = load(p);
    struct vec two = either(in_range(v, LETTERS_C4, LETTERS_C4_N), in_range(v, LETTERS_D0, LETTERS_D0_N));
    struct vec three = either(in_range(v, LETTERS_E5, LETTERS_E5_N), in_range(v, LETTERS_EB, LETTERS_EB_N));
    return bits(either(two, three)) | (bits(equal(v, 0xE4)) & bits(in_range(v, 0xB8, 8)) >> 1);
}

/* Four at a time: fewer branches to guess wrong than one for each. */
INLINE size_t put_ends(uint32_t *ends, uint64_t starts, uint32_t at)
{
    size_t n = (size_t)__builtin_popcountll(starts), i = 0;
    do {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            ends[i + k] = at + (uint32_t)__builtin_ctzll(starts | (uint64_t)1 << 63);
            starts &= starts - 1;
        }
        i += 4;
    } while (i < n);
    return n;
}

#include "bpe/scan_masks.h"

SCANNERS(neon)
#else
scan_fn *const scan_gpt2_neon = NULL, *const scan_cl100k_neon = NULL;
#endif
