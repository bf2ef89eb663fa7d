/* encode_vector_impl.h - encode_vector.h for vectors of any length. Include it in a file that defines
 *
 *   vec             a vector of LANES numbers of 32 bits, all less than 2^31; LANES divides 16
 *   vec_load        loads one from an array
 *   vec_min         the minimum of each lane
 *   vec_least       the minimum of all lanes
 *   certain_pairs   a bit for each of CERTAIN_PAIRS consecutive pairs of bytes: whether the rank is below
 *                   `before` of the previous pair and `after` of the next one
 *
 * It defines encode_words.
 */
#include "encode/encode_vector.h"
#include "encode/merge_triples.h"

#include <stdbool.h>
#include <string.h>

#define WORD_INLINE static inline __attribute__((always_inline, unused))

enum {
    BLOCK = 32,    /* keys of a block */
    FEW = 61,      /* maximum symbols of a struct few */
    FEW_KEYS = 64, /* and its keys: whole vectors; a power of two above all positions */
    PLACES = 1024, /* positions of a struct many */
    MORE = 4,      /* additional items in arrays of symbols */
    GROUP = 24,    /* words that are encoded together */
    MANY = 8,      /* the same for words of more than FEW symbols */
    NO_KEY = INT32_MAX,
    /* Words are grouped by their number of symbols: up to these two, up to FEW, and more. */
    FIRST_MAX = 16,
    SECOND_MAX = 32,
    FEW_TURNS = 3,
    TURNS,
};

_Static_assert(MERGE_RANK_BITS + PLACE_BITS < 32 && PLACES == 1 << PLACE_BITS, "keys are less than 2^31");
_Static_assert(WORD_MAX + 2 <= PLACES, "there is one symbol before the first, and one after the last");
_Static_assert(FEW + 2 < 64, "a bit for each place, and two after the last, fit into 64 bits");

/* Below, the symbols of a word, tokens that may still merge, are sym[1 .. n]; the items before and after them are
 * NO_SYMBOL. */

/* ---- Bytes that will certainly merge ---- */

/* Whether to search a word for characters of three bytes: if one of its first three bytes begins one, most of the
 * others will, too. Characters that this misses are merged by rank. */
WORD_INLINE bool has_triples(const struct merge_table *t, const unsigned char *p, size_t n)
{
    return t->triple && n >= 3 && triple_is_first(p[0]) + triple_is_first(p[1]) + triple_is_first(p[2]) > 0;
}

/* Finds the characters that will certainly become one token, and makes both pairs of each certain; the first pair gets
 * the rank of the character. (Each bound that this raises is compared only with the rank of one of these two pairs.) */
static __attribute__((noinline)) void mark_triples(const struct merge_table *t, const unsigned char *p, size_t n,
                                                   struct byte_pair *pair)
{
    for (size_t i = 0; i + 2 < n; i++) {
        const size_t after = i + 3;
        if (!triple_is_first(p[i]) || !triple_is_later(p[i + 1]) || !triple_is_later(p[i + 2]))
            continue;
        const struct byte_triple *triple = &t->triple[triple_index(p[i], p[i + 1], p[i + 2])];
        const unsigned on_left = i == 0                      ? triple->right_context >> TRIPLE_AT_END
                                 : triple_is_later(p[i - 1]) ? (unsigned)(triple->left >> (p[i - 1] & 63))
                                                             : triple->right_context >> TRIPLE_LEFT_OTHER;
        const unsigned on_right = triple->right_context >> (after == n ? TRIPLE_AT_END : triple_bit_before(p[after]));
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

/* Finds the pairs of a word's bytes, pair[0 .. n - 1), and sets one more before and after them. */
WORD_INLINE void find_pairs(const struct merge_table *t, const unsigned char *p, size_t n, struct byte_pair *pair)
{
    pair[-1] = pair[n - 1] = (struct byte_pair){UINT16_MAX, UINT16_MAX, UINT16_MAX, 0};
    for (size_t i = 0; i + 1 < n; i++)
        pair[i] = t->byte_pair[merge_table_bytes(p[i], p[i + 1])];
    if (has_triples(t, p, n))
        mark_triples(t, p, n, pair);
}

/* Merges the certain pairs. Returns the number of symbols. */
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
            uint32_t both = -(uint32_t)(certain >> k & 1); /* without a branch, which would be unpredictable */
            uint32_t merged = FIRST_MERGED + ((uint32_t)pair[i].rank << t->byte_shift) + pair[i].low;
            sym[++n_symbols] = (merged & both) | (p[i] & ~both);
        }
    }
    return n_symbols;
}

/* ---- One merge at a time, by rank ---- */

/* Sets NO_SYMBOL before and after the symbols, and prefetches the buckets of all pairs. The array has MORE items than
 * symbols. */
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

/* Sets key[0 .. max) to the keys of the pairs of symbols i and i + 1; `max` is a multiple of four and at least n. Pairs
 * that do not merge have a key with rank t->none, pairs that do not exist have NO_KEY. */
WORD_INLINE void find_keys(const struct merge_table *t, const uint32_t *sym, size_t n, uint32_t *key, size_t max)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    typedef int32_t signed_four __attribute__((vector_size(16)));
    const four none = {t->none, t->none, t->none, t->none}, places = {0, 1, 2, 3};
    for (size_t i = 0; i < max; i++)
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
        /* Each of the four has at most one item that is not 0. */
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

/* The smallest of n_vecs * LANES keys. */
WORD_INLINE uint32_t least_of(const uint32_t *key, int n_vecs)
{
    vec v = vec_load(key);
    for (int k = 1; k < n_vecs; k++)
        v = vec_min(v, vec_load(key + k * LANES));
    return vec_least(v);
}

/* The next merge of a word: its rank and position, and the hashes of the new pairs. */
struct next_merge {
    uint32_t rank, place;
    uint64_t hash, hash_before;
};

/* Sets the hashes of the new pairs with the symbols before and after the two that merge, and prefetches their
 * buckets. */
WORD_INLINE void foresee(const struct merge_table *t, struct next_merge *m, uint32_t before, uint32_t after)
{
    const uint32_t result = FIRST_MERGED + m->rank;
    m->hash = merge_table_hash(t, result, after);
    m->hash_before = merge_table_hash(t, before, result);
    __builtin_prefetch(&t->bucket[m->hash >> t->shift]);
    __builtin_prefetch(&t->bucket[m->hash_before >> t->shift]);
    if (!t->exact)
        __builtin_prefetch(&t->pair[m->rank]);
}

/* A word of up to n_vecs * LANES symbols, at most FEW. */
struct few {
    _Alignas(64) uint32_t key[FEW_KEYS]; /* the last symbol also has a key, without effect */
    uint64_t left;                       /* a bit for each remaining symbol, and for all positions after them */
    uint32_t n;                          /* number of symbols at the start */
    uint32_t right, before; /* the positions of the second symbol of `merge`, and of the one before the first */
    struct next_merge merge;
    uint32_t sym[FEW_KEYS + MORE];
};

/* Finds the next merge and prefetches its data. False: no merge. */
WORD_INLINE bool few_next(const struct merge_table *t, void *state, int n_vecs)
{
    struct few *f = state;
    uint32_t min = least_of(f->key, n_vecs), i = min % FEW_KEYS;
    f->merge.rank = min >> PLACE_BITS;
    if (f->merge.rank >= t->none)
        return false;
    /* Neither mask is empty, even if another pair's rank leads to a position outside the word; few_merge detects
     * that. */
    uint64_t later = f->left & -(uint64_t)2 << i, earlier = (f->left & (((uint64_t)1 << i) - 1)) | 1;
    f->merge.place = i;
    f->right = (uint32_t)__builtin_ctzll(later);
    f->before = 63 - (uint32_t)__builtin_clzll(earlier);
    foresee(t, &f->merge, f->sym[f->before], f->sym[__builtin_ctzll(later & (later - 1))]);
    return true;
}

/* Carries out the merge. False: the rank was that of another pair. */
WORD_INLINE bool few_merge(const struct merge_table *t, void *state)
{
    struct few *f = state;
    const uint32_t key = pair_key(t, f->merge.hash, f->merge.place),
                   key_before = pair_key(t, f->merge.hash_before, f->before);
    if (!is_pair(t, f->merge.rank, f->sym[f->merge.place], f->sym[f->right]))
        return false;
    f->left &= ~((uint64_t)1 << f->right);
    f->sym[f->merge.place] = FIRST_MERGED + f->merge.rank;
    if (!t->exact)
        __builtin_prefetch(&t->id[FIRST_MERGED + f->merge.rank]);
    f->key[f->right] = NO_KEY;
    f->key[f->before] = key_before;
    f->key[f->merge.place] = key;
    return true;
}

WORD_INLINE void few_begin(const struct merge_table *t, void *state, int n_vecs)
{
    struct few *f = state;
    find_keys(t, f->sym, f->n, f->key, (size_t)n_vecs * LANES);
    f->left = UINT64_MAX;
}

/* Writes the ids of the remaining symbols to id; returns how many. */
WORD_INLINE size_t few_end(const struct merge_table *t, const void *state, uint32_t *id)
{
    const struct few *f = state;
    size_t n = 0;
    for (uint64_t left = f->left & UINT64_MAX >> (63 - f->n) & -(uint64_t)2; left; left &= left - 1)
        id[n++] = t->id[f->sym[__builtin_ctzll(left)]];
    return n;
}

/* ---- Words of many symbols ---- */

/* A word of any number of symbols. They are linked with each other, and min[] has the smallest key of each block. */
struct many {
    _Alignas(64) uint32_t key[PLACES];
    uint32_t min[PLACES / BLOCK];
    uint16_t next[PLACES], prev[PLACES];
    uint32_t n, n_blocks;
    struct next_merge merge; /* as in struct few */
    uint32_t sym[PLACES + MORE];
};

WORD_INLINE void many_note_least(struct many *m, uint32_t block)
{
    m->min[block] = least_of(m->key + block * BLOCK, BLOCK / LANES);
}

WORD_INLINE void many_begin(const struct merge_table *t, void *state, int n_vecs)
{
    (void)n_vecs;
    struct many *m = state;
    m->n_blocks = m->n / BLOCK + 1;
    find_keys(t, m->sym, m->n, m->key, m->n_blocks * BLOCK);
    for (size_t i = 0; i <= m->n + 1; i++) {
        m->next[i] = (uint16_t)(i + 1);
        m->prev[i] = (uint16_t)(i - (i > 0)); /* another pair's rank may lead to the symbol before 0 */
    }
    for (uint32_t i = 0; i < m->n_blocks; i++)
        many_note_least(m, i);
}

WORD_INLINE bool many_next(const struct merge_table *t, void *state, int n_vecs)
{
    (void)n_vecs;
    struct many *m = state;
    uint32_t key = m->min[0];
    for (uint32_t i = 1; i < m->n_blocks; i++)
        key = m->min[i] < key ? m->min[i] : key;
    m->merge.rank = key >> PLACE_BITS;
    if (m->merge.rank >= t->none)
        return false;
    const uint32_t i = key % PLACES;
    m->merge.place = i;
    foresee(t, &m->merge, m->sym[m->prev[i]], m->sym[m->next[m->next[i]]]);
    return true;
}

WORD_INLINE bool many_merge(const struct merge_table *t, void *state)
{
    struct many *m = state;
    const uint32_t i = m->merge.place, right = m->next[i], after = m->next[right], before = m->prev[i];
    if (!is_pair(t, m->merge.rank, m->sym[i], m->sym[right]))
        return false;
    m->sym[i] = FIRST_MERGED + m->merge.rank;
    if (!t->exact)
        __builtin_prefetch(&t->id[FIRST_MERGED + m->merge.rank]);
    m->next[i] = (uint16_t)after;
    m->prev[after] = (uint16_t)i;
    m->key[right] = NO_KEY;
    m->key[before] = pair_key(t, m->merge.hash_before, before);
    m->key[i] = pair_key(t, m->merge.hash, i);
    many_note_least(m, i / BLOCK);
    many_note_least(m, before / BLOCK);
    many_note_least(m, right / BLOCK);
    return true;
}

WORD_INLINE size_t many_end(const struct merge_table *t, const void *state, uint32_t *id)
{
    const struct many *m = state;
    size_t n = 0;
    for (size_t i = 1; i <= m->n; i = m->next[i])
        id[n++] = t->id[m->sym[i]];
    return n;
}

/* ---- Several words alternately ---- */

/* The steps of encoding a word, as defined above. */
struct steps {
    size_t size; /* of the state: a struct few, with n_vecs, or a struct many */
    void (*begin)(const struct merge_table *t, void *state, int n_vecs);
    bool (*next)(const struct merge_table *t, void *state, int n_vecs);
    bool (*merge)(const struct merge_table *t, void *state);
    size_t (*end)(const struct merge_table *t, const void *state, uint32_t *id);
};

static const struct steps few_steps = {sizeof(struct few), few_begin, few_next, few_merge, few_end};
static const struct steps many_steps = {sizeof(struct many), many_begin, many_next, many_merge, many_end};

/* Encodes up to GROUP words, one step of each alternately, so that others proceed while one waits for memory or a
 * branch. */
WORD_INLINE void in_turn(const struct merge_table *t, const struct steps *s, void *of_all, struct word *const *word,
                         size_t n, int n_vecs)
{
    unsigned char *states = of_all;
    size_t at_work[GROUP], n_at_work = 0;
    for (size_t i = 0; i < n; i++) {
        s->begin(t, states + i * s->size, n_vecs);
        at_work[n_at_work] = i;
        n_at_work += s->next(t, states + i * s->size, n_vecs);
        word[i]->n_ids = 1;
    }
    while (n_at_work) {
        size_t n_left = 0;
        for (size_t k = 0; k < n_at_work; k++)
            word[at_work[k]]->n_ids = s->merge(t, states + at_work[k] * s->size);
        for (size_t k = 0; k < n_at_work; k++) {
            const size_t i = at_work[k];
            at_work[n_left] = i;
            n_left += word[i]->n_ids && s->next(t, states + i * s->size, n_vecs);
        }
        n_at_work = n_left;
    }
    for (size_t i = 0; i < n; i++)
        if (word[i]->n_ids)
            word[i]->n_ids = (uint32_t)s->end(t, states + i * s->size, word[i]->id);
}

/* ---- Words of any length ---- */

/* The words that are encoded together, grouped by their number of symbols. */
struct turns {
    struct few few[FEW_TURNS][GROUP];
    struct many many[MANY];
    struct word *word[TURNS][GROUP];
    size_t n[TURNS];
    /* For use while a word is added. */
    struct byte_pair pair[GROUP][FEW_KEYS + 8], long_pair[PLACES + 8];
    uint32_t long_sym[PLACES + MORE];
};

_Static_assert(_Alignof(struct turns) <= WORD_ROOM_ALIGN && sizeof(struct turns) % WORD_ROOM_ALIGN == 0,
               "the room for them is aligned");

static void end_turn(const struct merge_table *t, struct turns *turns, size_t number)
{
    struct word *const *word = turns->word[number];
    const size_t n = turns->n[number];
    if (number == 0)
        in_turn(t, &few_steps, turns->few[0], word, n, FIRST_MAX / LANES);
    else if (number == 1)
        in_turn(t, &few_steps, turns->few[1], word, n, SECOND_MAX / LANES);
    else if (number == 2)
        in_turn(t, &few_steps, turns->few[2], word, n, FEW_KEYS / LANES);
    else
        in_turn(t, &many_steps, turns->many, word, n, 0);
    turns->n[number] = 0;
}

/* Adds a word of n symbols to its group, and encodes the group if it is full, except the first. If sym is the array of
 * the next word of the first group, and the word belongs there, nothing is copied. */
WORD_INLINE void take_turn(const struct merge_table *t, struct turns *turns, struct word *word, uint32_t *sym, size_t n)
{
    static const size_t max[TURNS] = {FIRST_MAX, SECOND_MAX, FEW, WORD_MAX}, full[TURNS] = {0, GROUP, GROUP, MANY};
    size_t number = 0;
    while (n > max[number])
        number++;
    const size_t i = turns->n[number]++;
    uint32_t *own;
    if (number < FEW_TURNS) {
        own = turns->few[number][i].sym;
        turns->few[number][i].n = (uint32_t)n;
    } else {
        own = turns->many[i].sym;
        turns->many[i].n = (uint32_t)n;
    }
    if (own != sym)
        memcpy(own + 1, sym + 1, n * sizeof *sym);
    ask_for_pairs(t, own, n);
    turns->word[number][i] = word;
    if (turns->n[number] == full[number])
        end_turn(t, turns, number);
}

/* Adds a word of up to FEW bytes, whose pairs are already known. */
WORD_INLINE void begin_word(const struct merge_table *t, struct turns *turns, struct word *word,
                            const struct byte_pair *pair)
{
    uint32_t *sym = turns->few[0][turns->n[0]].sym;
    take_turn(t, turns, word, sym, certain_bytes(t, word->p, word->n, pair, sym));
}

/* Adds a longer word. */
static __attribute__((noinline)) void begin_long(const struct merge_table *t, struct turns *turns, struct word *word)
{
    struct byte_pair *pair = turns->long_pair + 1;
    find_pairs(t, word->p, word->n, pair);
    take_turn(t, turns, word, turns->long_sym, certain_bytes(t, word->p, word->n, pair, turns->long_sym));
}

static void encode_words(const struct merge_table *t, void *room, struct word *const *word, size_t n)
{
    struct turns *turns = room;
    for (size_t i = 0; i < TURNS; i++)
        turns->n[i] = 0;
    for (size_t some; n; word += some, n -= some) {
        some = n < GROUP ? n : GROUP;
        for (size_t k = 0; k < some; k++)
            if (word[k]->n <= FEW)
                find_pairs(t, word[k]->p, word[k]->n, turns->pair[k] + 1);
        for (size_t k = 0; k < some; k++) {
            if (word[k]->n <= FEW)
                begin_word(t, turns, word[k], turns->pair[k] + 1);
            else
                begin_long(t, turns, word[k]);
        }
        end_turn(t, turns, 0);
    }
    for (size_t i = 1; i < TURNS; i++)
        end_turn(t, turns, i);
}
