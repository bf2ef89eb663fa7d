/* encode_word_parts.h - encode_word.h for vectors of any length: to be included by a file that defines
 *
 *   vec             a vector of LANES numbers of 32 bits, all less than 2^31; LANES divides 16
 *   vec_load        from an array
 *   vec_min         of each lane
 *   vec_least       the least of all lanes
 *   certain_pairs   for CERTAIN_PAIRS pairs of bytes, one after the other, a bit each: whether the rank is below
 *                   `before` of the pair before it and `after` of the next one
 *
 * It gets encode_words.
 */
#include "encode/encode_word.h"
#include "encode/merge_triples.h"

#include <stdbool.h>
#include <string.h>

#define WORD_INLINE static inline __attribute__((always_inline, unused))

enum {
    BLOCK = 32,    /* keys of a block */
    FEW = 61,      /* symbols of a word of few */
    FEW_KEYS = 64, /* and its keys: whole vectors, and a place modulo so many is itself */
    PLACES = 256,  /* for symbols */
    MORE = 4,      /* more places in arrays of symbols */
    GROUP = 24,    /* words that are encoded together */
    NO_KEY = INT32_MAX,
};

_Static_assert(MERGE_RANK_BITS + PLACE_BITS < 32 && PLACES == 1 << PLACE_BITS, "keys are less than 2^31");
_Static_assert(WORD_MAX + 2 <= PLACES, "there is one symbol before the first, and one after the last");
_Static_assert(FEW + 2 < 64, "a bit for each place, and two after the last, fit into 64 bits");

/* In all that follows the symbols of a word, tokens that may still merge, are sym[1 .. n]; what is before and after
 * them is NO_SYMBOL. */

/* ---- Bytes that will certainly merge ---- */

/* Whether a word is to be searched for characters of three bytes: if one of its first three bytes begins one, most of
 * the others will be as well. What it misses is merged by rank. */
WORD_INLINE bool has_triples(const struct merge_table *t, const unsigned char *p, size_t n)
{
    return t->triple && n >= 3 && triple_is_first(p[0]) + triple_is_first(p[1]) + triple_is_first(p[2]) > 0;
}

/* Makes the two pairs of each character that will certainly merge as a whole certain ones, the first of which has the
 * rank of the character. (Each bound that is raised is compared with the rank of one of these two only.) */
static __attribute__((noinline)) void mark_triples(const struct merge_table *t, const unsigned char *p, size_t n,
                                                   struct byte_pair *pair)
{
    for (size_t i = 0; i + 2 < n; i++) {
        const size_t after = i + 3;
        if (!triple_is_first(p[i]) || !triple_is_later(p[i + 1]) || !triple_is_later(p[i + 2]))
            continue;
        const struct byte_triple *triple = &t->triple[triple_index(p[i], p[i + 1], p[i + 2])];
        const unsigned on_left = i == 0                      ? triple->beside >> TRIPLE_AT_END
                                 : triple_is_later(p[i - 1]) ? (unsigned)(triple->left >> (p[i - 1] & 63))
                                                             : triple->beside >> TRIPLE_LEFT_OTHER;
        const unsigned on_right = triple->beside >> (after == n ? TRIPLE_AT_END : triple_bit_before(p[after]));
        if (on_left & on_right & 1) {
            pair[i].rank = triple->rank;
            pair[i].low = triple->low;
            pair[i + 1].rank = 0;
            pair[(ptrdiff_t)i - 1].before = pair[i].before = UINT16_MAX;
            pair[i + 1].after = pair[i + 2].after = UINT16_MAX;
        }
        i += 2;
    }
}

/* Finds the pairs of a word's bytes: pair[0 .. n - 1), and there is one before and after them. */
WORD_INLINE void find_pairs(const struct merge_table *t, const unsigned char *p, size_t n, struct byte_pair *pair)
{
    pair[-1] = pair[n - 1] = (struct byte_pair){UINT16_MAX, UINT16_MAX, UINT16_MAX, 0};
    for (size_t i = 0; i + 1 < n; i++)
        pair[i] = t->byte_pair[merge_table_bytes(p[i], p[i + 1])];
    if (has_triples(t, p, n))
        mark_triples(t, p, n, pair);
}

/* Merges those of the pairs that are certain. Returns the number of symbols. */
WORD_INLINE size_t certain_bytes(const struct merge_table *t, const unsigned char *p, size_t n,
                                 const struct byte_pair *pair, uint32_t *sym)
{
    size_t n_symbols = 0;
    uint64_t carry = 0;
    for (size_t base = 0; base < n; base += 64) {
        size_t end = n - base < 64 ? n - base : 64;
        uint64_t certain = 0, all = end < 64 ? ((uint64_t)1 << end) - 1 : UINT64_MAX; /* a bit for each pair */
        for (size_t k = 0; k < end; k += CERTAIN_PAIRS)
            certain |= (uint64_t)certain_pairs(&pair[base + k]) << k;
        certain &= all;
        uint64_t starts = ~(certain << 1 | carry) & all;
        carry = certain >> 63;
        for (; starts; starts &= starts - 1) {
            size_t k = (size_t)__builtin_ctzll(starts), i = base + k;
            uint32_t both = -(uint32_t)(certain >> k & 1); /* without a branch, which could not be predicted */
            uint32_t merged = FIRST_MERGED + ((uint32_t)pair[i].rank << t->byte_shift) + pair[i].low;
            sym[++n_symbols] = (merged & both) | (p[i] & ~both);
        }
    }
    return n_symbols;
}

/* ---- The pair of the lowest rank, one after the other ---- */

/* Puts NO_SYMBOL before and after the symbols, and prefetches the buckets of all pairs. The array has MORE places than
 * there are symbols. */
WORD_INLINE void ask_for_pairs(const struct merge_table *t, uint32_t *sym, size_t n)
{
    sym[0] = sym[n + 1] = sym[n + 2] = sym[n + 3] = NO_SYMBOL;
    for (size_t i = 0; i < n + 3; i++)
        __builtin_prefetch(&t->bucket[merge_table_hash(t, sym[i], sym[i + 1]) >> t->shift]);
}

WORD_INLINE uint32_t pair_key(const struct merge_table *t, uint64_t hash, uint32_t place)
{
    return merge_table_rank_of(t, hash) << PLACE_BITS | place;
}

/* The keys of the pairs of symbols i and i + 1, for all i from 0 on: key[0 .. most), `most` a multiple of four and at
 * least n. For pairs that do not merge a key of no rank, for those that do not exist NO_KEY. */
WORD_INLINE void find_keys(const struct merge_table *t, const uint32_t *sym, size_t n, uint32_t *key, size_t most)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    typedef int32_t signed_four __attribute__((vector_size(16)));
    const four none = {t->none, t->none, t->none, t->none}, places = {0, 1, 2, 3};
    for (size_t i = 0; i < most; i++)
        key[i] = NO_KEY;
    for (size_t i = 0; i < n; i += 4) {
        four found[4], keys;
        uint32_t full = 0;
        for (size_t k = 0; k < 4; k++) {
            uint64_t hash = merge_table_hash(t, sym[i + k], sym[i + k + 1]);
            const struct pair_bucket *b = &t->bucket[hash >> t->shift];
            uint32_t tag = merge_table_tag(t, hash);
            four slots, tags = {tag, tag, tag, tag};
            memcpy(&slots, b, sizeof slots);
            found[k] = slots & (four)((slots & ~none) == tags);
            full |= b->slot[PAIR_SLOTS - 1];
        }
        /* In each of the four at most one item is not 0. */
        four low = __builtin_shufflevector(found[0], found[1], 0, 4, 1, 5) |
                   __builtin_shufflevector(found[0], found[1], 2, 6, 3, 7);
        four high = __builtin_shufflevector(found[2], found[3], 0, 4, 1, 5) |
                    __builtin_shufflevector(found[2], found[3], 2, 6, 3, 7);
        four all = __builtin_shufflevector(low, high, 0, 1, 4, 5) | __builtin_shufflevector(low, high, 2, 3, 6, 7);
        keys = (~all & none) << PLACE_BITS | (places + (uint32_t)i);
        if (__builtin_expect(full != 0, 0))
            for (size_t k = 0; k < 4; k++)
                keys[k] = pair_key(t, merge_table_hash(t, sym[i + k], sym[i + k + 1]), (uint32_t)(i + k));
        const signed_four place = (signed_four)places + (int32_t)i;
        const four exists = (four)((place > 0) & (place < (int32_t)n));
        keys = (keys & exists) | (~exists & NO_KEY);
        memcpy(key + i, &keys, sizeof keys);
    }
}

WORD_INLINE bool is_pair(const struct merge_table *t, uint32_t rank, uint32_t left, uint32_t right)
{
    return t->exact || __builtin_expect(merge_table_is_pair(t, rank, left, right), 1);
}

/* The least of n_vecs * LANES keys. */
WORD_INLINE uint32_t least_of(const uint32_t *key, int n_vecs)
{
    vec v = vec_load(key);
    for (int k = 1; k < n_vecs; k++)
        v = vec_min(v, vec_load(key + k * LANES));
    return vec_least(v);
}

/* A word of up to n_vecs * LANES symbols, at most FEW. */
struct few {
    _Alignas(64) uint32_t key[FEW_KEYS]; /* the last symbol has one too, which does not count */
    uint64_t left;                       /* a mask of the symbols that are left, and of all places after them */
    uint32_t n;                          /* symbols at the start */
    /* The next merge: its place and rank, the places after and before it, and the hashes of the new pairs. */
    uint32_t rank, place, right, before;
    uint64_t hash, hash_before;
    uint32_t sym[FEW_KEYS + MORE];
};

/* Finds the next merge, and prefetches what it needs. False: there is none. */
WORD_INLINE bool few_next(const struct merge_table *t, struct few *f, int n_vecs)
{
    uint32_t least = least_of(f->key, n_vecs), i = least % FEW_KEYS, result;
    f->rank = least >> PLACE_BITS;
    if (f->rank >= t->none)
        return false;
    /* Neither is empty, though place and right be outside of the word, by another pair's rank: few_merge sees it. */
    uint64_t later = f->left & -(uint64_t)2 << i, earlier = (f->left & (((uint64_t)1 << i) - 1)) | 1;
    f->place = i;
    f->right = (uint32_t)__builtin_ctzll(later);
    f->before = 63 - (uint32_t)__builtin_clzll(earlier);
    result = FIRST_MERGED + f->rank;
    f->hash = merge_table_hash(t, result, f->sym[__builtin_ctzll(later & (later - 1))]);
    f->hash_before = merge_table_hash(t, f->sym[f->before], result);
    __builtin_prefetch(&t->bucket[f->hash >> t->shift]);
    __builtin_prefetch(&t->bucket[f->hash_before >> t->shift]);
    if (!t->exact)
        __builtin_prefetch(&t->pair[f->rank]);
    return true;
}

/* Merges. False: it was another pair's rank. */
WORD_INLINE bool few_merge(const struct merge_table *t, struct few *f)
{
    const uint32_t key = pair_key(t, f->hash, f->place), key_before = pair_key(t, f->hash_before, f->before);
    if (!is_pair(t, f->rank, f->sym[f->place], f->sym[f->right]))
        return false;
    f->left &= ~((uint64_t)1 << f->right);
    f->sym[f->place] = FIRST_MERGED + f->rank;
    if (!t->exact)
        __builtin_prefetch(&t->id[FIRST_MERGED + f->rank]);
    f->key[f->right] = NO_KEY;
    f->key[f->before] = key_before;
    f->key[f->place] = key;
    return true;
}

WORD_INLINE void few_begin(const struct merge_table *t, struct few *f, int n_vecs)
{
    find_keys(t, f->sym, f->n, f->key, (size_t)n_vecs * LANES);
    f->left = UINT64_MAX;
}

/* Puts the ids of what is left into id; returns how many. */
WORD_INLINE size_t few_end(const struct merge_table *t, const struct few *f, uint32_t *id)
{
    size_t n = 0;
    for (uint64_t left = f->left & UINT64_MAX >> (63 - f->n) & -(uint64_t)2; left; left &= left - 1)
        id[n++] = t->id[f->sym[__builtin_ctzll(left)]];
    return n;
}

/* Up to GROUP words, in turn a step of each: so what one waits for, memory or a branch, is the time of others. */
WORD_INLINE void in_turn(const struct merge_table *t, struct few *few, struct word *const *word, size_t n, int n_vecs)
{
    size_t at_work[GROUP], n_at_work = 0;
    for (size_t i = 0; i < n; i++) {
        few_begin(t, &few[i], n_vecs);
        at_work[n_at_work] = i;
        n_at_work += few_next(t, &few[i], n_vecs);
        word[i]->n_ids = 1;
    }
    while (n_at_work) {
        size_t n_left = 0;
        for (size_t k = 0; k < n_at_work; k++)
            word[at_work[k]]->n_ids = few_merge(t, &few[at_work[k]]);
        for (size_t k = 0; k < n_at_work; k++) {
            const size_t i = at_work[k];
            at_work[n_left] = i;
            n_left += word[i]->n_ids && few_next(t, &few[i], n_vecs);
        }
        n_at_work = n_left;
    }
    for (size_t i = 0; i < n; i++)
        if (word[i]->n_ids)
            word[i]->n_ids = (uint32_t)few_end(t, &few[i], word[i]->id);
}

/* ---- Words of many symbols ---- */

WORD_INLINE uint32_t least_of_block(const uint32_t *keys, unsigned number)
{
    return least_of(keys + number * BLOCK, BLOCK / LANES);
}

/* Any number of symbols, linked with each other, and of each block of keys the least is noted. Puts the ids into id;
 * returns how many, or 0. */
WORD_INLINE size_t many(const struct merge_table *t, uint32_t *sym, size_t n, uint32_t *id)
{
    _Alignas(64) uint32_t keys[PLACES];
    uint32_t least[PLACES / BLOCK] = {0};
    uint8_t next[PLACES], prev[PLACES];
    const unsigned n_blocks = (unsigned)n / BLOCK + 1;
    ask_for_pairs(t, sym, n);
    find_keys(t, sym, n, keys, n_blocks * BLOCK);
    for (size_t i = 0; i <= n + 1; i++) {
        next[i] = (uint8_t)(i + 1);
        prev[i] = (uint8_t)(i - 1);
    }
    for (unsigned i = 0; i < n_blocks; i++)
        least[i] = least_of_block(keys, i);
    for (;;) {
        uint32_t key = least[0];
        for (unsigned i = 1; i < n_blocks; i++)
            key = least[i] < key ? least[i] : key;
        uint32_t rank = key >> PLACE_BITS, result = FIRST_MERGED + rank;
        if (rank >= t->none)
            break;
        unsigned i = key % PLACES, right = next[i], after = next[right], before = prev[i];
        if (!is_pair(t, rank, sym[i], sym[right]))
            return 0;
        sym[i] = result;
        next[i] = (uint8_t)after;
        prev[after] = (uint8_t)i;
        keys[right] = NO_KEY;
        keys[before] = pair_key(t, merge_table_hash(t, sym[before], result), before);
        keys[i] = pair_key(t, merge_table_hash(t, result, sym[after]), i);
        least[i / BLOCK] = least_of_block(keys, i / BLOCK);
        least[before / BLOCK] = least_of_block(keys, before / BLOCK);
        least[right / BLOCK] = least_of_block(keys, right / BLOCK);
    }
    size_t n_ids = 0;
    for (size_t i = 1; i <= n; i = next[i])
        id[n_ids++] = t->id[sym[i]];
    return n_ids;
}

/* ---- Words of any length ---- */

/* Words that are encoded together, as their symbols fit into as many vectors. */
struct turn {
    struct few few[GROUP];
    struct word *word[GROUP];
    size_t n;
};

/* The most symbols of a word in the first turn, in the second; in the third, FEW. */
enum { TURNS = 3, FIRST_MOST = 16, SECOND_MOST = 32 };

static const uint32_t turn_most[TURNS] = {FIRST_MOST, SECOND_MOST, FEW};

static void end_turn(const struct merge_table *t, struct turn *turns, size_t number)
{
    struct turn *turn = &turns[number];
    if (number == 0)
        in_turn(t, turn->few, turn->word, turn->n, FIRST_MOST / LANES);
    else if (number == 1)
        in_turn(t, turn->few, turn->word, turn->n, SECOND_MOST / LANES);
    else
        in_turn(t, turn->few, turn->word, turn->n, FEW_KEYS / LANES);
    turn->n = 0;
}

/* Gives a word to a turn, or encodes it if it has many symbols. If sym is the array of the next word of the first turn,
 * and the word is one for it, nothing is copied. */
WORD_INLINE void take_turn(const struct merge_table *t, struct turn *turns, struct word *word, uint32_t *sym, size_t n)
{
    size_t number = 0;
    if (n > turn_most[TURNS - 1]) {
        word->n_ids = (uint32_t)many(t, sym, n, word->id);
        return;
    }
    while (n > turn_most[number])
        number++;
    struct turn *turn = &turns[number];
    struct few *f = &turn->few[turn->n];
    if (f->sym != sym)
        memcpy(f->sym + 1, sym + 1, n * sizeof *sym);
    f->n = (uint32_t)n;
    ask_for_pairs(t, f->sym, n);
    turn->word[turn->n++] = word;
    if (number && turn->n == GROUP)
        end_turn(t, turns, number);
}

/* A word of up to FEW bytes, whose pairs are known. */
WORD_INLINE void begin_word(const struct merge_table *t, struct turn *turns, struct word *word,
                            const struct byte_pair *pair)
{
    uint32_t *sym = turns[0].few[turns[0].n].sym;
    take_turn(t, turns, word, sym, certain_bytes(t, word->p, word->n, pair, sym));
}

/* A longer one. */
static __attribute__((noinline)) void begin_long(const struct merge_table *t, struct turn *turns, struct word *word)
{
    struct byte_pair pair[PLACES + 8];
    uint32_t sym[PLACES + MORE];
    find_pairs(t, word->p, word->n, pair + 1);
    take_turn(t, turns, word, sym, certain_bytes(t, word->p, word->n, pair + 1, sym));
}

static void encode_words(const struct merge_table *t, struct word *const *word, size_t n)
{
    struct turn turns[TURNS];
    struct byte_pair pair[GROUP][FEW_KEYS + 8];
    for (size_t i = 0; i < TURNS; i++)
        turns[i].n = 0;
    for (size_t some; n; word += some, n -= some) {
        some = n < GROUP ? n : GROUP;
        for (size_t k = 0; k < some; k++)
            if (word[k]->n <= FEW)
                find_pairs(t, word[k]->p, word[k]->n, pair[k] + 1);
        for (size_t k = 0; k < some; k++) {
            if (word[k]->n <= FEW)
                begin_word(t, turns, word[k], pair[k] + 1);
            else
                begin_long(t, turns, word[k]);
        }
        end_turn(t, turns, 0);
    }
    for (size_t i = 1; i < TURNS; i++)
        end_turn(t, turns, i);
}
