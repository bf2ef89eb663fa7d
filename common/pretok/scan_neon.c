/* scan_neon.c - scan_masks_impl.h with NEON, which every aarch64 has. NEON has no movemask: one bit is kept of each
 * byte that is all ones, and three rounds of adding neighbors combine the bits of eight bytes into one byte. */
#include "pretok/scan_internal.h"

#if defined __AARCH64EL__ && defined __ARM_NEON

#include <arm_neon.h>

typedef struct {
    uint8x16_t a, b, c, d;
} vec;
typedef vec set; /* all ones or 0 in each byte */

INLINE vec load(const unsigned char *p)
{
    return (vec){vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)};
}

INLINE uint64_t bits(set s)
{
    static const uint8_t of_byte[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit = vld1q_u8(of_byte);
    uint8x16_t low = vpaddq_u8(vandq_u8(s.a, bit), vandq_u8(s.b, bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(s.c, bit), vandq_u8(s.d, bit));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

INLINE set either(set s, set t)
{
    return (set){vorrq_u8(s.a, t.a), vorrq_u8(s.b, t.b), vorrq_u8(s.c, t.c), vorrq_u8(s.d, t.d)};
}

INLINE uint8x16_t range_of(uint8x16_t v, unsigned low, unsigned n)
{
    return vcltq_u8(vsubq_u8(v, vdupq_n_u8((uint8_t)low)), vdupq_n_u8((uint8_t)n));
}

INLINE set in_range(vec v, unsigned low, unsigned n)
{
    return (set){range_of(v.a, low, n), range_of(v.b, low, n), range_of(v.c, low, n), range_of(v.d, low, n)};
}

INLINE set equal(vec v, unsigned c)
{
    uint8x16_t all = vdupq_n_u8((uint8_t)c);
    return (set){vceqq_u8(v.a, all), vceqq_u8(v.b, all), vceqq_u8(v.c, all), vceqq_u8(v.d, all)};
}

INLINE vec lower(vec v)
{
    uint8x16_t bit = vdupq_n_u8(0x20);
    return either(v, (vec){bit, bit, bit, bit});
}

#define put_ends put_ends_by_four
#include "pretok/scan_masks_impl.h"

scan_fn *const scan_neon[PATTERN_N] = SCANNERS;
#else
scan_fn *const scan_neon[PATTERN_N] = {NULL};
#endif
