/* encode_word_parts.h - encode_word.h for vectors of any length: to be included by a file that defines
 *
 *   vec           a vector of LANES numbers of 32 bits, all less than 2^31; LANES divides 16
 *   vec_load, vec_store   from and to an array
 *   vec_min       of each lane
 *   vec_least     the least of all lanes
 *   one           such a number, wherever it is quickest to make and to use
 *   one_of        a number
 *   one_key       the key of the rank that a bucket has for a tag, see pair_bucket_rank, and a place
 *   one_value     its value
 *   vec_put       puts one into a lane; nothing if there is no such lane
 *
 * and then calls word() in a function of its own.
 */
#include "encode/encode_word.h"

#include <stdbool.h>

#define WORD_INLINE static inline __attribute__((always_inline, unused))

enum {
    BLOCK = 32,   /* keys of a block */
    PLACES = 256, /* for symbols */
    NO_KEY = INT32_MAX,
};

_Static_assert(MERGE_RANK_BITS + PLACE_BITS < 32 && PLACES == 1 << PLACE_BITS, "keys are less than 2^31");
_Static_assert(WORD_MAX + 2 <= PLACES, "there is one symbol before the first, and one after the last");

/* The symbols of a word, that is tokens that may still merge: sym[1 .. n]. What is before and after them is NO_SYMBOL.
 * `at`: where they begin, in bytes. */
struct symbols {
    size_t n;
    uint32_t sym[PLACES];
    uint8_t at[PLACES];
};

/* ---- Pairs that will certainly merge ---- */

/* Merges those pairs of bytes. */
WORD_INLINE void certain_bytes(const struct merge_table *t, const unsigned char *p, size_t n, struct symbols *s)
{
    uint32_t rank[PLACES];
    size_t n_symbols = 0;
    uint64_t carry = 0;
    const struct byte_pair none = {t->none, UINT16_MAX, UINT16_MAX};
    struct byte_pair x = n > 1 ? t->byte_pair[p[0] << 8 | p[1]] : none;
    unsigned before = UINT16_MAX;
    for (size_t base = 0; base < n; base += 64) {
        size_t end = n - base < 64 ? n - base : 64;
        uint64_t certain = 0; /* a bit for each pair */
        for (size_t k = base; k < base + end; k++) {
            const struct byte_pair next = k + 2 < n ? t->byte_pair[p[k + 1] << 8 | p[k + 2]] : none;
            uint32_t bound = x.rank >> t->byte_shift;
            certain |= (uint64_t)((bound < before) & (bound < next.after) & (x.rank != t->none)) << (k - base);
            rank[k] = x.rank;
            before = x.before;
            x = next;
        }
        uint64_t starts = ~(certain << 1 | carry) & UINT64_MAX >> (64 - end);
        carry = certain >> 63;
        for (; starts; starts &= starts - 1) {
            size_t k = (size_t)__builtin_ctzll(starts), at = base + k;
            uint32_t both = -(uint32_t)(certain >> k & 1); /* without a branch, which could not be predicted */
            s->sym[++n_symbols] = ((FIRST_MERGED + rank[at]) & both) | (p[at] & ~both);
            s->at[n_symbols] = (uint8_t)at;
        }
    }
    s->n = n_symbols;
}

/* Merges those pairs of symbols. False: see encode_word_fn. */
WORD_INLINE bool certain_symbols(const struct merge_table *t, const unsigned char *p, struct symbols *s)
{
    uint32_t rank[PLACES], wrong = 0;
    uint16_t before[PLACES], after[PLACES];
    size_t n = s->n, n_symbols = 0;
    before[0] = after[n] = after[n + 1] = UINT16_MAX;
    rank[n] = t->none;
    for (size_t i = 1; i < n; i++) {
        const unsigned char *border = p + s->at[i + 1];
        rank[i] = merge_table_rank(t, s->sym[i], s->sym[i + 1]);
        before[i] = t->before[merge_table_bound(s->sym[i + 1], border[-1])];
        after[i] = t->after[merge_table_bound(s->sym[i], border[0])];
    }
    for (size_t i = 1; i <= n; i++) {
        uint32_t bound = rank[i] >> t->byte_shift;
        uint32_t certain = (bound < before[i - 1]) & (bound < after[i + 1]) & (rank[i] != t->none);
        uint32_t both = -certain, left = s->sym[i];
        const struct symbol_pair *pair = &t->pair[rank[i] & both];
        wrong |= ((pair->left ^ left) | (pair->right ^ s->sym[i + 1])) & both;
        s->sym[++n_symbols] = ((FIRST_MERGED + rank[i]) & both) | (left & ~both);
        i += certain;
    }
    s->n = n_symbols;
    return !wrong;
}

/* ---- The pair of the lowest rank, one after the other ---- */

WORD_INLINE uint32_t key_of(const struct merge_table *t, const struct symbols *s, size_t i)
{
    return merge_table_rank(t, s->sym[i], s->sym[i + 1]) << PLACE_BITS | (uint32_t)i;
}

WORD_INLINE one pair_key(const struct merge_table *t, uint64_t hash, uint32_t place)
{
    const struct pair_bucket *b = &t->bucket[hash >> t->shift];
    uint32_t tag = merge_table_tag(t, hash);
    one key = one_key(t, b, tag, place);
    if (__builtin_expect(b->slot[PAIR_SLOTS - 1] != 0, 0) && one_value(key) >> PLACE_BITS == t->none)
        key = one_key(t, b + 1, merge_table_moved(t, tag), place);
    return key;
}

WORD_INLINE bool is_pair(const struct merge_table *t, uint32_t rank, uint32_t left, uint32_t right)
{
    return t->exact || __builtin_expect(t->pair[rank].left == left && t->pair[rank].right == right, 1);
}

/* Up to BLOCK symbols, or a half: n_vecs * LANES. Their keys stay in registers; which of them are left is a mask. The
 * parts of the hashes of pairs are made beforehand. False: see encode_word_fn. */
WORD_INLINE bool merge_few(const struct merge_table *t, struct symbols *s, int n_vecs)
{
    vec keys[BLOCK / LANES];
    _Alignas(64) uint32_t key[BLOCK];
    uint64_t as_left[BLOCK + 2], as_right[BLOCK + 2], left = UINT64_MAX >> (62 - s->n);
    for (size_t i = 0; i <= s->n + 1; i++) {
        as_left[i] = s->sym[i] * t->odd[0];
        as_right[i] = s->sym[i] * t->odd[1];
    }
    key[0] = NO_KEY;
    for (size_t i = 1; i < s->n; i++)
        key[i] = merge_table_rank_of(t, as_left[i] + as_right[i + 1]) << PLACE_BITS | (uint32_t)i;
    for (size_t i = s->n; i < (size_t)n_vecs * LANES; i++)
        key[i] = NO_KEY;
    for (int k = 0; k < n_vecs; k++)
        keys[k] = vec_load(key + k * LANES);
    const one gone = one_of(NO_KEY);
    for (;;) {
        vec v = keys[0];
        for (int k = 1; k < n_vecs; k++)
            v = vec_min(v, keys[k]);
        uint32_t least = vec_least(v), rank = least >> PLACE_BITS, result = FIRST_MERGED + rank;
        if (rank >= t->none)
            break;
        unsigned i = least % BLOCK;
        uint64_t later = left & -(uint64_t)2 << i, earlier = left & (((uint64_t)1 << i) - 1);
        unsigned right = (unsigned)__builtin_ctzll(later), after = (unsigned)__builtin_ctzll(later & (later - 1));
        unsigned before = 63 - (unsigned)__builtin_clzll(earlier);
        uint64_t result_left = result * t->odd[0], result_right = result * t->odd[1];
        one key_after = pair_key(t, result_left + as_right[after], i);
        one key_before = pair_key(t, as_left[before] + result_right, before);
        if (!is_pair(t, rank, s->sym[i], s->sym[right]))
            return false;
        left &= ~((uint64_t)1 << right);
        s->sym[i] = result;
        as_left[i] = result_left;
        as_right[i] = result_right;
        for (int k = 0; k < n_vecs; k++) {
            keys[k] = vec_put(keys[k], (int)right - k * LANES, gone);
            keys[k] = vec_put(keys[k], (int)before - k * LANES, key_before);
            keys[k] = vec_put(keys[k], (int)i - k * LANES, key_after);
        }
    }
    size_t n = 0;
    for (left &= UINT64_MAX >> (63 - s->n) & -(uint64_t)2; left; left &= left - 1)
        s->sym[++n] = s->sym[__builtin_ctzll(left)];
    s->n = n;
    return true;
}

/* What a merge changes: the pairs at place and before it, and that the symbol at `gone` is no more. */
struct change {
    unsigned place, before, gone;
    uint32_t key, key_before;
};

/* Changes the keys of a block; returns the least. */
WORD_INLINE uint32_t change_block(uint32_t *keys, unsigned number, const struct change *c)
{
    const one key = one_of(c->key), key_before = one_of(c->key_before), gone = one_of(NO_KEY);
    vec least;
    for (int k = 0; k < BLOCK / LANES; k++) {
        const int first = (int)number * BLOCK + k * LANES;
        vec v = vec_load(keys + first);
        v = vec_put(v, (int)c->gone - first, gone);
        v = vec_put(v, (int)c->before - first, key_before);
        v = vec_put(v, (int)c->place - first, key);
        vec_store(keys + first, v);
        least = k ? vec_min(least, v) : v;
    }
    return vec_least(least);
}

/* Any number of symbols, linked with each other, and of each block of keys the least is noted. */
WORD_INLINE bool merge_many(const struct merge_table *t, struct symbols *s)
{
    _Alignas(64) uint32_t keys[PLACES];
    uint32_t least[PLACES / BLOCK];
    uint8_t next[PLACES], prev[PLACES];
    const unsigned n_blocks = (unsigned)(s->n + BLOCK - 1) / BLOCK;
    struct change c = {PLACES, PLACES, PLACES, NO_KEY, NO_KEY}; /* nothing */
    keys[0] = NO_KEY;
    for (size_t i = 1; i < s->n; i++)
        keys[i] = key_of(t, s, i);
    for (size_t i = s->n; i < n_blocks * BLOCK; i++)
        keys[i] = NO_KEY;
    for (size_t i = 0; i <= s->n + 1; i++) {
        next[i] = (uint8_t)(i + 1);
        prev[i] = (uint8_t)(i - 1);
    }
    for (unsigned i = 0; i < n_blocks; i++)
        least[i] = change_block(keys, i, &c);
    for (;;) {
        uint32_t key = least[0];
        for (unsigned i = 1; i < n_blocks; i++)
            key = least[i] < key ? least[i] : key;
        uint32_t rank = key >> PLACE_BITS, result = FIRST_MERGED + rank;
        if (rank >= t->none)
            break;
        unsigned i = key % PLACES, right = next[i], after = next[right], before = prev[i];
        if (!is_pair(t, rank, s->sym[i], s->sym[right]))
            return false;
        s->sym[i] = result;
        next[i] = (uint8_t)after;
        prev[after] = (uint8_t)i;
        c = (struct change){i, before, right, merge_table_rank(t, result, s->sym[after]) << PLACE_BITS | i,
                            merge_table_rank(t, s->sym[before], result) << PLACE_BITS | before};
        least[i / BLOCK] = change_block(keys, i / BLOCK, &c);
        if (before / BLOCK != i / BLOCK)
            least[before / BLOCK] = change_block(keys, before / BLOCK, &c);
        if (right / BLOCK != i / BLOCK)
            least[right / BLOCK] = change_block(keys, right / BLOCK, &c);
    }
    size_t n = 0;
    for (size_t i = 1; i <= s->n; i = next[i])
        s->sym[++n] = s->sym[i];
    s->n = n;
    return true;
}

WORD_INLINE size_t word(const struct merge_table *t, const unsigned char *p, size_t n, uint32_t *id)
{
    struct symbols s;
    certain_bytes(t, p, n, &s);
    if (n > BLOCK && !certain_symbols(t, p, &s)) /* shorter words are no faster by it */
        return 0;
    s.sym[0] = s.sym[s.n + 1] = NO_SYMBOL;
    if (!(s.n <= BLOCK / 2 ? merge_few(t, &s, BLOCK / 2 / LANES)
          : s.n <= BLOCK   ? merge_few(t, &s, BLOCK / LANES)
                           : merge_many(t, &s)))
        return 0;
    for (size_t i = 0; i < s.n; i++)
        id[i] = t->id[s.sym[i + 1]];
    return s.n;
}
