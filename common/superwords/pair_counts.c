/* pair_counts.c - see pair_counts.h. */
#include "superwords/pair_counts.h"

#include "base/sys/buf.h"
#include "base/sys/hash.h"
#include "base/sys/huge.h"
#include "encode/ids.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BITS = 12,
    MOST = 64, /* pairs that are added together */
};

#define CARRIED ((uint64_t)1 << 31)

struct pair_carry {
    uint32_t key;
    uint64_t count;
};

static size_t n_slots(unsigned shift)
{
    return (size_t)1 << (64 - shift);
}

static size_t slot_size(const struct pair_counts *t)
{
    return t->wide ? sizeof *t->wide_slot : sizeof *t->narrow_slot;
}

static int alloc(struct pair_counts *t, unsigned shift, struct err *e)
{
    void *slots = huge_zeroed(n_slots(shift) * slot_size(t));
    if (!slots)
        return err_mem(e, "the counts of pairs", n_slots(shift) * slot_size(t));
    t->shift = shift;
    if (t->wide)
        t->wide_slot = slots;
    else
        t->narrow_slot = slots;
    return 0;
}

int pair_counts_init(struct pair_counts *t, bool wide, struct err *e)
{
    *t = (struct pair_counts){.wide = wide, .odd = hash_secret() | 1};
    return alloc(t, 64 - FIRST_BITS, e);
}

void pair_counts_free(struct pair_counts *t)
{
    if (t->wide_slot)
        huge_free(t->wide_slot, n_slots(t->shift) * sizeof *t->wide_slot);
    if (t->narrow_slot)
        huge_free(t->narrow_slot, n_slots(t->shift) * sizeof *t->narrow_slot);
    free(t->carries);
    *t = (struct pair_counts){0};
}

int pair_counts_clear(struct pair_counts *t, struct err *e)
{
    const bool wide = t->wide;
    pair_counts_free(t);
    return pair_counts_init(t, wide, e);
}

size_t pair_counts_bytes(const struct pair_counts *t)
{
    return n_slots(t->shift) * slot_size(t);
}

#define FOR_WIDTH static inline __attribute__((always_inline))

/* A pair as the key of a slot, and its hash: the secret is odd, and the high bits are those of the product that depend
 * on all bits of the key. */
FOR_WIDTH uint64_t key_at(const unsigned char *ids, size_t i, bool wide)
{
    const size_t width = ids_width(wide);
    return wide ? (uint64_t)ids_get(ids + i * width, true) << 32 | ids_get(ids + (i + 1) * width, true)
                : ids_get(ids + i * width, false) << 16 | ids_get(ids + (i + 1) * width, false);
}

static inline size_t slot_of(const struct pair_counts *t, uint64_t key)
{
    const uint64_t mixed = (key ^ key >> 29) * t->odd;
    return (mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15u >> t->shift;
}

/* Notes that a count of 32 bits is full: half of it moves. */
static __attribute__((noinline)) int carry(struct pair_counts *t, uint64_t *slot, struct err *e)
{
    const uint32_t key = (uint32_t)(*slot >> 32);
    size_t i = 0;
    while (i < t->n_carries && t->carries[i].key != key)
        i++;
    if (i == t->n_carries) {
        if (array_grow(&t->carries, &t->cap_carries, i + 1, sizeof *t->carries, "the counts of pairs", e))
            return -1;
        t->carries[t->n_carries++] = (struct pair_carry){.key = key};
    }
    t->carries[i].count += CARRIED;
    *slot -= CARRIED;
    return 0;
}

/* Adds to the count of a pair, from the slot `at` on. 1: it is new; 0: it is not; -1: out of memory. */
FOR_WIDTH int put(struct pair_counts *t, size_t at, uint64_t key, uint64_t count, bool wide, struct err *e)
{
    const size_t mask = n_slots(t->shift) - 1;
    for (;; at = (at + 1) & mask) {
        if (wide) {
            struct wide_pair *s = &t->wide_slot[at];
            const bool new = !s->count;
            if (new)
                s->key = key;
            if (s->key == key) {
                s->count += count;
                return new;
            }
        } else {
            uint64_t *s = &t->narrow_slot[at];
            const bool new = !*s;
            if (new)
                *s = key << 32;
            if (*s >> 32 == key) {
                if (__builtin_expect((uint32_t)*s > UINT32_MAX - count, 0) && carry(t, s, e))
                    return -1;
                *s += count;
                return new;
            }
        }
    }
}

__attribute__((noinline)) static int grow(struct pair_counts *t, struct err *e)
{
    struct pair_counts old = *t;
    if (alloc(t, t->shift - 1, e))
        return -1;
    for (size_t i = 0; i < n_slots(old.shift); i++) {
        if (t->wide && old.wide_slot[i].count)
            put(t, slot_of(t, old.wide_slot[i].key), old.wide_slot[i].key, old.wide_slot[i].count, true, e);
        else if (!t->wide && old.narrow_slot[i])
            put(t, slot_of(t, old.narrow_slot[i] >> 32), old.narrow_slot[i] >> 32, (uint32_t)old.narrow_slot[i], false,
                e);
    }
    old.carries = NULL;
    pair_counts_free(&old);
    return 0;
}

FOR_WIDTH int add(struct pair_counts *t, const unsigned char *ids, uint64_t mask, bool wide, struct err *e)
{
    size_t slot[MOST];
    if ((t->n + MOST) * 8 > n_slots(t->shift) * 5 && grow(t, e))
        return -1;
    for (uint64_t left = mask; left; left &= left - 1) {
        const size_t i = (size_t)__builtin_ctzll(left);
        slot[i] = slot_of(t, key_at(ids, i, wide));
        __builtin_prefetch(wide ? (void *)&t->wide_slot[slot[i]] : (void *)&t->narrow_slot[slot[i]], 1);
    }
    for (uint64_t left = mask; left; left &= left - 1) {
        const size_t i = (size_t)__builtin_ctzll(left);
        const uint64_t key = key_at(ids, i, wide);
        uint64_t *s = wide ? NULL : &t->narrow_slot[slot[i]];
        if (!wide && *s >> 32 == key && *s) {
            if (__builtin_expect((uint32_t)*s == UINT32_MAX, 0) && carry(t, s, e))
                return -1;
            ++*s;
        } else {
            const int new = put(t, slot[i], key, 1, wide, e);
            if (new < 0)
                return -1;
            t->n += (size_t) new;
        }
    }
    return 0;
}

int pair_counts_add(struct pair_counts *t, const unsigned char *ids, uint64_t mask, struct err *e)
{
    return t->wide ? add(t, ids, mask, true, e) : add(t, ids, mask, false, e);
}

bool pair_counts_next(const struct pair_counts *t, size_t *pos, struct counted_ids *pair)
{
    const size_t n = n_slots(t->shift);
    size_t i = *pos;
    while (i < n && !(t->wide ? t->wide_slot[i].count : t->narrow_slot[i]))
        i++;
    *pos = i + 1;
    if (i >= n)
        return false;
    if (t->wide) {
        const struct wide_pair *s = &t->wide_slot[i];
        *pair = (struct counted_ids){(uint32_t)(s->key >> 32), (uint32_t)s->key, s->count};
        return true;
    }
    const uint64_t s = t->narrow_slot[i];
    *pair = (struct counted_ids){(uint32_t)(s >> 48), (uint32_t)(s >> 32) & UINT16_MAX, (uint32_t)s};
    for (size_t k = 0; k < t->n_carries; k++)
        if (t->carries[k].key == s >> 32)
            pair->count += t->carries[k].count;
    return true;
}
