/* packed_key_neon.c - see packed_key.h: the keys of a batch, with NEON: four pretokens at a time, 24 instructions
 * each. */
#include "pretok/packed_key.h"

#if defined __AARCH64EL__ && defined __ARM_NEON
#include <arm_neon.h>

/* The first len bytes of p, padded with zeros. */
static inline uint64x2_t load_first(const unsigned char *p, size_t len)
{
    return vreinterpretq_u64_u8(vandq_u8(vld1q_u8(p), vld1q_u8(keep_first(len))));
}

/* The parameters of the slot computation, copied to each lane; the second secret in two halves. */
struct lanes {
    uint64x2_t xor, spare;
    uint32x2_t times_low, times_high, tail_times;
    int64x2_t shift;
};

/* The slots of two keys, by key12_hash; is_longer has a mask for each. */
static inline uint64x2_t two_slots(const struct lanes *with, uint64x2_t head, uint32x2_t tail, uint32x2_t is_longer)
{
    uint64x2_t x = vmlal_u32(veorq_u64(head, with->xor), tail, with->tail_times);
    x = veorq_u64(x, vshrq_n_u64(x, 32));
    /* A product modulo 2^64, from 32-bit products. */
    uint32x2_t low = vmovn_u64(x), high = vshrn_n_u64(x, 32);
    uint64x2_t middle = vmlal_u32(vmull_u32(high, with->times_low), low, with->times_high);
    uint64x2_t hash = vmlal_u32(vshlq_n_u64(middle, 32), low, with->times_low);
    uint64x2_t mask = vreinterpretq_u64_s64(vmovl_s32(vreinterpret_s32_u32(is_longer)));
    return vbslq_u64(mask, with->spare, vshlq_u64(hash, with->shift));
}

static void pack_keys(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      const struct key12_slots *slots)
{
    const struct lanes with = {
        .xor = vdupq_n_u64(slots->secret[0]),
        .spare = vdupq_n_u64(slots->spare),
        .times_low = vdup_n_u32((uint32_t)slots->secret[1]),
        .times_high = vdup_n_u32((uint32_t)(slots->secret[1] >> 32)),
        .tail_times = vdup_n_u32((uint32_t)slots->secret[2]),
        .shift = vdupq_n_s64(-(int64_t)slots->shift),
    };
    static const uint32_t bit[4] = {1, 2, 4, 8};
    uint32x4_t before = vdupq_n_u32((uint32_t)start); /* its last item is where the first of the next four starts */
    uint64_t longer = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t at[4], kept[4];
        uint32x4_t end = vld1q_u32(four_ends(ends + i, n - i, at)), from = vextq_u32(before, end, 3);
        before = end;
        uint32x4_t len = vsubq_u32(end, from), is_longer = vcgtq_u32(len, vdupq_n_u32(KEY12_MAX));
        len = vbicq_u32(len, is_longer);
        vst1q_u32(at, from);
        vst1q_u32(kept, len);

        uint64x2_t first = load_first(text + at[0], kept[0]), second = load_first(text + at[1], kept[1]);
        uint64x2_t third = load_first(text + at[2], kept[2]), fourth = load_first(text + at[3], kept[3]);
        uint64x2_t head = vzip1q_u64(first, second), head2 = vzip1q_u64(third, fourth);
        uint32x4_t tail = vcombine_u32(vmovn_u64(vzip2q_u64(first, second)), vmovn_u64(vzip2q_u64(third, fourth)));
        tail = vorrq_u32(tail, vshlq_n_u32(len, LAST_OF_4));

        vst1q_u64(b->head + i, head);
        vst1q_u64(b->head + i + 2, head2);
        vst1q_u32(b->tail + i, tail);
        vst1q_u64(b->slot + i, two_slots(&with, head, vget_low_u32(tail), vget_low_u32(is_longer)));
        vst1q_u64(b->slot + i + 2, two_slots(&with, head2, vget_high_u32(tail), vget_high_u32(is_longer)));
        longer = note_longer(b, i, n, longer, vaddvq_u32(vandq_u32(is_longer, vld1q_u32(bit))));
    }
    b->n = n;
}

pack_keys_fn *const pack_keys_neon = pack_keys;
#else
pack_keys_fn *const pack_keys_neon = NULL;
#endif
