/* learn_corpus.c - see learn_corpus.h.
 *
 * Words lie one after the other in an array of slots, a slot a byte, with a 0 between words. A symbol of n bytes fills
 * n slots and stands in the first and the last of them; so its neighbours are at p - 1 and p + n, with nothing to
 * follow and nothing to move. Words of equal count share blocks of slots, so a slot's number alone gives the weight.
 *
 * A pair (x, z) with a new symbol z arises only in the merge that makes z. So its positions are written once, in order,
 * and never changed; later some of them are stale, and its count only falls. Whether position p still holds (a, b) is
 * read from the slots: slot[p] == a && slot[p + len(a)] == b.
 *
 * Why that cannot be fooled by what is left inside longer symbols: p is in the list of (a, b), so an a once began
 * there. Symbols only ever become part of longer ones. While the longer one began at p too, slot[p] was set to it, and
 * it is not a (its string is longer). When at last the one at p became the right part of another, slot[p] was set to
 * that other, z, which begins before p (replace() does so for this reason alone). From then on slot[p] is set only when
 * a symbol ends at p, that began before; such a symbol contains the a that once began at p, so a was a single byte, and
 * the symbol is not it. So slot[p] == a means that a begins at p, and then slot[p + len(a)] is the first slot of its
 * neighbour.
 *
 * Pairs of bytes are in the text from the beginning. The dense ones have no list, as scanning all slots finds them as
 * fast; the others get theirs late (harvest()), when fewer positions are left to note. Lists are most of the memory, so
 * what is free is used again.
 *
 * A merge takes three steps: replace() finds where the pair still is, writes z, notes the neighbours, and adds up
 * weight and number of the occurrences by left and by right neighbour in dense arrays; update() touches the table once
 * for each distinct neighbour; scatter() writes the positions of the new pairs. tests/oracle/learn_slow.c is the plain
 * version of it all.
 *
 * Two thirds of the time are cache misses on slots and positions; tests/bench/README has what was tried against them.
 */
#include "train/learn_corpus.h"

#include "sys/buf.h"
#include "sys/huge.h"
#include "sys/simd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    N_BYTES = 256,
    MAX_SHIFT = 12,      /* blocks of 4,096 slots, unless that wastes too much: then weight[] fits into cache */
    FILTER_BLOCK = 256,  /* positions filtered at a time: small enough to be in cache when they are replaced */
    AHEAD = 32,          /* how many positions ahead memory is prefetched; 8 is 10 % slower, 48 the same */
    KEYS_AHEAD = 8,      /* the same for lookups in the table of pairs */
    MIN_CHUNK = 1 << 14, /* positions */
    SOON = 8,            /* of pairs of bytes, those are merged soon that count more than one in so many of the next */
    DENSE = 64,          /* a pair of bytes at more than one in so many slots has no list */
    SMALL_BLOCK = 1024,  /* positions */
    LONG_LIST = 4096,    /* positions */
    SCAN_STEP = 16,      /* slots looked at together */
};

/* The hot functions are compiled twice, for narrow and for wide slots. */
#define FOR_WIDTH static inline __attribute__((always_inline))

FOR_WIDTH uint32_t get(const struct corpus *c, size_t p, bool wide)
{
    return wide ? ((const uint32_t *)c->slot)[p] : ((const uint16_t *)c->slot)[p];
}

FOR_WIDTH void set(const struct corpus *c, size_t p, uint32_t symbol, bool wide)
{
    if (wide)
        ((uint32_t *)c->slot)[p] = symbol;
    else
        ((uint16_t *)c->slot)[p] = (uint16_t)symbol;
}

FOR_WIDTH void prefetch(const struct corpus *c, size_t p, bool wide)
{
    __builtin_prefetch((const char *)c->slot + p * (wide ? 4 : 2), 1);
}

/* ---- memory for positions ---- */

/* Short lists are cut from a region of free memory, one after the other, so that those of one merge lie together. Free
 * blocks lie in bins: bin k has those of 2^k positions or more, but fewer than 2^(k+1). Long lists take a block of
 * their own that is just large enough, the region the largest. What is small is not worth it: it is forgotten (1.15
 * times the time when it was not). */
struct block {
    unsigned char *next;
    uint32_t n;
};

static void list_release(struct corpus *c, uint32_t *p, size_t n)
{
    if (n < SMALL_BLOCK)
        return;
    unsigned k = 63 - (unsigned)__builtin_clzll(n);
    struct block b = {c->bin[k], (uint32_t)n};
    memcpy(p, &b, sizeof b); /* a block need not be aligned for these fields */
    c->bin[k] = (unsigned char *)p;
    c->bins |= (uint64_t)1 << k;
}

/* A free block of at least n positions, *size in fact, out of bin k; NULL if there is none. */
static uint32_t *take_block(struct corpus *c, unsigned k, size_t n, size_t *size)
{
    struct block b;
    uint32_t *p = (uint32_t *)(void *)c->bin[k];
    if (!p)
        return NULL;
    memcpy(&b, p, sizeof b);
    if (b.n < n)
        return NULL;
    c->bin[k] = b.next;
    if (!b.next)
        c->bins &= ~((uint64_t)1 << k);
    *size = b.n;
    return p;
}

/* Takes memory of malloc for positions; NULL: it was short. (It is gone through in order, so huge pages would not pay,
 * and cost more to clear on a virtual machine.) */
static int own_chunk(struct corpus *c, void *p, size_t size, struct err *e)
{
    if (!p)
        return err_mem(e, "the positions of pairs", size);
    if (array_grow(&c->chunk, &c->chunks_cap, c->n_chunks + 1, sizeof *c->chunk, "the positions of pairs", e)) {
        free(p);
        return -1;
    }
    c->chunk[c->n_chunks++] = p;
    return 0;
}

/* Room for n > 0 positions. NULL: memory is short. */
static uint32_t *list_new(struct corpus *c, size_t n, struct err *e)
{
    uint32_t *p = NULL;
    size_t size = 0;
    if (n > LONG_LIST) {
        uint64_t fit = c->bins >> (64 - __builtin_clzll(n - 1)) << (64 - __builtin_clzll(n - 1));
        p = fit ? take_block(c, (unsigned)__builtin_ctzll(fit), n, &size) : NULL;
        if (p) {
            list_release(c, p + n, size - n);
            return p;
        }
    }
    if (n > c->n_fresh) {
        if (c->bins)
            p = take_block(c, 63 - (unsigned)__builtin_clzll(c->bins), n, &size);
        if (!p) {
            size = n > c->chunk_size ? n : c->chunk_size;
            p = malloc(size * sizeof *p);
            if (own_chunk(c, p, size * sizeof *p, e))
                return NULL;
        }
        list_release(c, c->fresh, c->n_fresh);
        c->fresh = p;
        c->n_fresh = size;
    }
    p = c->fresh;
    c->fresh += n;
    c->n_fresh -= n;
    return p;
}

/* Puts a pair into the table, and tells its side where the positions go; unless it cannot matter. */
static int keep(struct corpus *c, uint64_t key, uint64_t weight, uint32_t n, struct side *s, struct err *e)
{
    uint64_t len = (uint64_t)c->len[pair_left(key)] + c->len[pair_right(key)];
    if (weight < c->pairs.floor || (c->max_len && len > 2 && len >= c->max_len))
        return 0;
    uint32_t *at = list_new(c, n, e);
    if (!at || pairs_put(&c->pairs, (struct pair){key, weight, at, n}, e))
        return -1;
    s->out = at;
    s->len = c->len[pair_left(key)];
    s->step = 1;
    return 0;
}

static int reserve_found(struct corpus *c, size_t n, struct err *e)
{
    if (n <= c->found_cap)
        return 0;
    n = n < 2 * c->found_cap ? 2 * c->found_cap : n; /* what is not used costs no memory, but each growth does */
    free(c->found);
    c->found_cap = 0;
    c->found = malloc(n * sizeof *c->found);
    if (!c->found)
        return err_mem(e, "where a pair is", n * sizeof *c->found);
    c->found_cap = n;
    return 0;
}

/* ---- laying out ---- */

/* Gives each class of words its first slot, at the beginning of a block. Returns the number of slots in all. */
static uint64_t place(struct learn_words *ws, unsigned shift)
{
    uint64_t block = (uint64_t)1 << shift, end = 1;
    for (size_t i = 0; i < ws->n_class; i++) {
        end = i > 0 ? (end + block - 1) & ~(block - 1) : end;
        ws->class[i].at = end;
        end += ws->class[i].slots;
    }
    return end;
}

/* The largest blocks that waste little: many distinct counts ask for small ones. With blocks of one slot nothing is
 * wasted. */
static unsigned pick_shift(struct learn_words *ws)
{
    for (unsigned shift = MAX_SHIFT; shift > 0; shift--) {
        uint64_t n = place(ws, shift);
        if (n <= LEARN_WORDS_MAX_SLOTS && n <= ws->slots + ws->slots / 16 + 4096)
            return shift;
    }
    return 0;
}

static void set_weights(struct corpus *c, const struct learn_words *ws)
{
    for (size_t i = 0; i < ws->n_class; i++) {
        const struct learn_words_class *k = &ws->class[i];
        for (uint64_t b = k->at >> c->shift; b <= (k->at + k->slots - 1) >> c->shift; b++)
            c->weight[b] = k->count;
    }
}

/* What a pair of bytes counts, and how often it occurs. */
struct pair_sum {
    uint64_t weight;
    uint32_t n;
};

/* Writes the words into the slots, each behind the last of its class, and adds up their pairs of bytes,
 * [left << 8 | right]. */
static int lay_out(struct corpus *c, struct learn_words *ws, const uint32_t byte[256], struct pair_sum *sum,
                   struct err *e)
{
    struct learn_words_cursor cursor = {0};
    struct pretoken w;
    while (learn_words_next(ws, &cursor, &w)) {
        struct learn_words_class *k = learn_words_class_of(ws, w.count);
        uint64_t start = k->at;
        k->at += w.len + 1;
        for (size_t j = 0; j < w.len; j++)
            set(c, start + j, byte[w.p[j]], c->wide);
        if (c->text)
            memcpy(c->text + start, w.p, w.len);
        for (size_t j = 0; j + 1 < w.len; j++) {
            struct pair_sum *s = &sum[w.p[j] << 8 | w.p[j + 1]];
            s->n++;
            if (__builtin_add_overflow(s->weight, w.count, &s->weight))
                return err_set(e, EX_DATAERR, "the pretokens hold the bytes \"\\x%02x\\x%02x\" more than 2^64-1 times",
                               w.p[j], w.p[j + 1]);
        }
    }
    return 0;
}

/* Puts the pairs of bytes into the table, without lists. */
static int first_pairs(struct corpus *c, const uint32_t byte[256], const struct pair_sum *sum, struct err *e)
{
    for (unsigned i = 0; i < 65536; i++)
        if (sum[i].weight >= c->pairs.floor &&
            pairs_put(&c->pairs, (struct pair){pair_key(byte[i >> 8], byte[i & 255]), sum[i].weight, NULL, sum[i].n},
                      e))
            return -1;
    return 0;
}

/* ---- lists of the pairs of bytes ---- */

static bool is_dense(const struct corpus *c, uint32_t n)
{
    return n > c->n_slots / DENSE;
}

/* Where the next position of a pair of bytes goes: an address, and in its last bit whether it moves on then. (All of
 * them together fit into the second cache; struct side would be four times as large.) By left *
 * (N_BYTES + 1) + right: bytes, or N_BYTES for other symbols. */
typedef uintptr_t tagged;

/* Makes the lists of the pairs of bytes that count at least `least` and are not dense. */
static int make_lists(struct corpus *c, uint64_t least, tagged *to, struct err *e)
{
    for (size_t i = 0; i < (N_BYTES + 1) * (N_BYTES + 1); i++) {
        size_t left = i / (N_BYTES + 1), right = i % (N_BYTES + 1);
        to[i] = (tagged)&c->never_read;
        uint64_t *count = NULL;
        if (left < N_BYTES && right < N_BYTES)
            count = pairs_get(&c->pairs, pair_key(c->byte[left], c->byte[right]));
        if (!count || *count < least)
            continue;
        struct pair_list *l = pairs_list(&c->pairs, count);
        if (l->at || is_dense(c, l->n))
            continue;
        l->at = list_new(c, l->n, e);
        if (!l->at)
            return -1;
        to[i] = (tagged)l->at | 1;
    }
    return 0;
}

FOR_WIDTH void fill_lists(struct corpus *c, tagged *to, const uint16_t *value, bool wide)
{
    uint32_t row = value[get(c, 0, wide)] * (uint32_t)(N_BYTES + 1);
    for (size_t p = 0; p + 1 < c->n_slots; p++) {
        uint32_t right = value[get(c, p + 1, wide)];
        tagged *t = &to[row + right];
        *(uint32_t *)(*t & ~(tagged)1) = (uint32_t)p;
        *t += (*t & 1) * sizeof(uint32_t);
        row = right * (uint32_t)(N_BYTES + 1);
    }
}

/* Pairs of bytes get their lists late, when many of their occurrences have gone: when the first one is merged that is
 * not dense, those get theirs that will soon be merged, too; the others when the first of them is. What is read is the
 * slots: one that holds the symbol of a byte is that byte, never the inside of a longer symbol, because where two
 * symbols are joined, at least the slots of bytes are written. count is that of the pair to be merged. */
static int harvest(struct corpus *c, uint64_t count, struct err *e)
{
    uint64_t least = c->harvest == NO_LISTS ? count / SOON : 0;
    least = least > c->pairs.floor ? least : c->pairs.floor;
    tagged *to = malloc((N_BYTES + 1) * (N_BYTES + 1) * sizeof *to);
    uint16_t *value = malloc(((size_t)c->n_symbols + 1) * sizeof *value);
    int status = to && value ? 0 : err_mem(e, "the pairs of bytes", c->n_symbols * sizeof *value);
    for (uint32_t i = 0; !status && i <= c->n_symbols; i++)
        value[i] = N_BYTES;
    for (uint16_t i = 0; !status && i < N_BYTES; i++)
        value[c->byte[i]] = i;
    if (!status)
        status = make_lists(c, least, to, e);
    if (!status && c->wide)
        fill_lists(c, to, value, true);
    else if (!status)
        fill_lists(c, to, value, false);
    free(to);
    free(value);
    c->harvest = least > c->pairs.floor ? SOME_LISTS : ALL_LISTS;
    return status;
}

/* ---- spellings, for ties by bytes ---- */

static int spelling_cmp(const struct corpus *c, uint32_t x, uint32_t y)
{
    const struct spelling *sx = &c->spelling[x], *sy = &c->spelling[y];
    if (sx->head != sy->head)
        return sx->head < sy->head ? -1 : 1;
    size_t nx = c->len[x], ny = c->len[y];
    int d = memcmp(sx->p, sy->p, nx < ny ? nx : ny);
    return d ? d : (nx > ny) - (nx < ny);
}

/* The pair with the greater bytes first. Different symbols have different bytes. */
static bool greater_bytes(const void *ctx, uint64_t x, uint64_t y)
{
    int d = pair_left(x) == pair_left(y) ? 0 : spelling_cmp(ctx, pair_left(x), pair_left(y));
    if (d == 0)
        d = pair_right(x) == pair_right(y) ? 0 : spelling_cmp(ctx, pair_right(x), pair_right(y));
    return d > 0;
}

static void spell(struct corpus *c, uint32_t symbol, const unsigned char *p, uint32_t len)
{
    uint64_t head = 0;
    for (uint32_t i = 0; i < 8; i++)
        head = head << 8 | (i < len ? p[i] : 0);
    c->spelling[symbol] = (struct spelling){head, p};
}

/* ---- setting up ---- */

static int alloc(struct corpus *c, uint32_t n_symbols, bool by_bytes, struct err *e)
{
    size_t n = (size_t)n_symbols + 1, n_blocks = (c->n_slots >> c->shift) + 1,
           size = (c->n_slots + SCAN_STEP + 1) * (c->wide ? 4 : 2);
    c->slot = huge_zeroed(size);
    c->slot_size = size;
    c->weight = malloc(n_blocks * sizeof *c->weight);
    if (by_bytes) {
        c->text = malloc(c->n_slots);
        c->spelling = malloc(n * sizeof *c->spelling);
    }
    if (!c->slot || !c->weight || (by_bytes && !(c->text && c->spelling)))
        return err_mem(e, "the pretokens", size);
    c->len = calloc(n, sizeof *c->len);
    c->left = malloc(n * sizeof *c->left);
    c->right = malloc(n * sizeof *c->right);
    c->seen_left = malloc((n + 1) * sizeof *c->seen_left); /* one more: what is not a new neighbour is written, too */
    c->seen_right = malloc((n + 1) * sizeof *c->seen_right);
    if (!c->len || !c->left || !c->right || !c->seen_left || !c->seen_right)
        return err_mem(e, "the vocabulary", n * (3 * sizeof *c->len + 2 * sizeof *c->left));
    return 0;
}

/* Makes the slots wide, when numbers of symbols outgrow 16 bits. */
static int widen(struct corpus *c, struct err *e)
{
    size_t n = c->n_slots + SCAN_STEP + 1;
    uint32_t *wide = huge_double(c->slot, c->slot_size);
    if (!wide)
        return err_mem(e, "the pretokens", 2 * c->slot_size);
    c->slot_size *= 2;
    c->slot = wide;
    for (size_t p = n; p-- > 0;) { /* from the end, in place */
        uint16_t symbol;
        memcpy(&symbol, (const char *)wide + p * sizeof symbol, sizeof symbol);
        wide[p] = symbol;
    }
    c->wide = true;
    return 0;
}

/* A symbol comes into being. */
static void born(struct corpus *c, uint32_t symbol, uint32_t len)
{
    c->len[symbol] = len;
    c->left[symbol] = c->right[symbol] = (struct side){.out = &c->never_read};
}

int corpus_init(struct corpus *c, struct learn_words *ws, const struct corpus_opts *o, struct err *e)
{
    static unsigned char bytes[256];
    *c = (struct corpus){
        .byte = o->byte, .n_symbols = o->n_symbols, .sse2 = simd_level() >= SIMD_SSE2, .max_len = o->max_len};
    for (unsigned i = 0; i < N_BYTES; i++)
        c->wide |= o->byte[i] > UINT16_MAX;
    c->shift = pick_shift(ws);
    c->n_slots = place(ws, c->shift);
    c->chunk_size = MIN_CHUNK + ws->pairs / 64;
    if (pairs_init(&c->pairs, o->floor, o->by_bytes ? greater_bytes : NULL, c, e) ||
        alloc(c, o->n_symbols, o->by_bytes, e))
        return -1;
    born(c, 0, 0);
    for (unsigned i = 0; i < 256; i++) {
        born(c, o->byte[i], 1);
        bytes[i] = (unsigned char)i;
        if (c->spelling)
            spell(c, o->byte[i], &bytes[i], 1);
    }
    struct pair_sum *sum = calloc(65536, sizeof *sum);
    if (!sum)
        return err_mem(e, "counting pairs", 65536 * sizeof *sum);
    set_weights(c, ws);
    int status = lay_out(c, ws, o->byte, sum, e);
    void *p;
    for (size_t size; !status && (p = learn_words_take(ws, &size));) { /* memory that need not be cleared once more */
        status = own_chunk(c, p, size, e);
        if (!status)
            list_release(c, p, size / sizeof(uint32_t));
    }
    learn_words_free(ws);
    if (!status)
        status = first_pairs(c, o->byte, sum, e);
    free(sum);
    return status;
}

void corpus_free(struct corpus *c)
{
    huge_free(c->slot, c->slot_size);
    free(c->weight);
    free(c->len);
    free(c->left);
    free(c->right);
    free(c->seen_left);
    free(c->seen_right);
    for (size_t i = 0; i < c->n_chunks; i++)
        free(c->chunk[i]);
    free(c->chunk);
    free(c->found);
    pairs_free(&c->pairs);
    free(c->spelling);
    free(c->text);
    *c = (struct corpus){0};
}

/* ---- a merge ---- */

/* The neighbours a merge found. A neighbour is the one at the time of the replacement: what stands right of it may be
 * merged next, what stands left of it may just have been, and is then z. */
struct neighbours {
    size_t n_live, n_left, n_right;
};

/* Which of the slots p .. p + 15 hold a and have b behind them. */
FOR_WIDTH unsigned matches(const struct corpus *c, size_t p, uint32_t a, uint32_t b, bool wide)
{
    unsigned mask = 0;
#ifdef __SSE2__
    if (c->sse2) {
        for (size_t i = 0; wide && i < SCAN_STEP; i += 4) {
            const uint32_t *s = (const uint32_t *)c->slot + p + i;
            __m128i left = _mm_cmpeq_epi32(_mm_loadu_si128((const void *)s), _mm_set1_epi32((int)a));
            __m128i right = _mm_cmpeq_epi32(_mm_loadu_si128((const void *)(s + 1)), _mm_set1_epi32((int)b));
            mask |= (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_and_si128(left, right))) << i;
        }
        if (wide)
            return mask;
        __m128i both[2];
        for (size_t i = 0; i < 2; i++) {
            const uint16_t *s = (const uint16_t *)c->slot + p + 8 * i;
            __m128i left = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)s), _mm_set1_epi16((short)a));
            __m128i right = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)(s + 1)), _mm_set1_epi16((short)b));
            both[i] = _mm_and_si128(left, right);
        }
        return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(both[0], both[1]));
    }
#endif
    for (size_t i = 0; i < SCAN_STEP; i++)
        mask |= (unsigned)(get(c, p + i, wide) == a && get(c, p + i + 1, wide) == b) << i;
    return mask;
}

/* The next positions of a dense pair, from *p on: at most FILTER_BLOCK. *p moves past what was looked at. */
FOR_WIDTH size_t scan(const struct corpus *c, size_t *p, uint32_t a, uint32_t b, uint32_t *live, bool wide)
{
    size_t n = 0;
    for (; *p < c->n_slots && n <= FILTER_BLOCK - SCAN_STEP; *p += SCAN_STEP)
        for (unsigned mask = matches(c, *p, a, b, wide); mask; mask &= mask - 1)
            live[n++] = (uint32_t)*p + (uint32_t)__builtin_ctz(mask);
    return n;
}

/* Those of the next positions of a list, from *j on, that are not stale: at most FILTER_BLOCK. */
FOR_WIDTH size_t filter(const struct corpus *c, size_t *j, const struct pair *top, uint32_t *live, bool wide)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const size_t len_a = c->len[a], end = top->n - *j < FILTER_BLOCK ? top->n : *j + FILTER_BLOCK;
    size_t n = 0;
    for (; *j < end; ++*j) {
        size_t p = top->at[*j];
        if (*j + AHEAD < top->n) { /* both ends: they may be in different lines of the cache */
            prefetch(c, top->at[*j + AHEAD], wide);
            prefetch(c, top->at[*j + AHEAD] + len_a, wide);
        }
        live[n] = (uint32_t)p;
        n += (size_t)(get(c, p, wide) == a) & (size_t)(get(c, p + len_a, wide) == b);
    }
    return n;
}

/* Replaces the pair where it still is, and notes where that was in c->found, which has room for top->n. */
FOR_WIDTH struct neighbours replace(struct corpus *c, const struct pair *top, uint32_t z, bool wide)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const size_t len_a = c->len[a], len_z = c->len[z], end = top->at ? top->n : c->n_slots;
    struct neighbours f = {0};
    uint32_t live[FILTER_BLOCK];
    for (size_t i = 0; i < end;) {
        size_t n = top->at ? filter(c, &i, top, live, wide) : scan(c, &i, a, b, live, wide);
        for (size_t j = 0; j < n; j++) {
            size_t p = live[j];
            if (a == b && get(c, p, wide) != a)
                continue; /* in a run of a, the one before was replaced just now */
            uint64_t weight = c->weight[p >> c->shift];
            uint32_t x = get(c, p - 1, wide), y = get(c, p + len_z, wide);
            set(c, p, z, wide);
            set(c, p + len_a, z, wide);
            set(c, p + len_z - 1, z, wide);
            c->found[f.n_live++] = (struct found){(uint32_t)p, x, y};
            if (x == z)
                c->found[f.n_live - 2].y = z; /* the one before, which this one touches */
            c->seen_left[f.n_left] = x;
            f.n_left += c->left[x].n++ == 0;
            c->left[x].weight += weight;
            c->seen_right[f.n_right] = y;
            f.n_right += c->right[y].n++ == 0;
            c->right[y].weight += weight;
        }
    }
    return f;
}

/* Lowers the count of a pair, if it is kept. Its list is not wanted any more once it is below the floor. */
static void lower(struct corpus *c, uint64_t key, const struct side *by)
{
    uint64_t *count = pairs_get(&c->pairs, key);
    if (!count)
        return;
    assert(*count >= by->weight);
    *count -= by->weight;
    struct pair_list *l = NULL;
    if (c->harvest != ALL_LISTS) {
        l = pairs_list(&c->pairs, count);
        if (!l->at)
            l->n -= by->n;
    }
    if (*count < c->pairs.floor && *count + by->weight >= c->pairs.floor) { /* just now */
        l = pairs_list(&c->pairs, count);
        if (l->at)
            list_release(c, l->at, l->n);
        l->at = NULL;
    }
}

/* Ask for the slots of the pairs with a neighbour, old and new. */

static inline void foresee_left(const struct corpus *c, size_t i, uint32_t a, uint32_t z)
{
    pairs_prefetch(&c->pairs, pair_key(c->seen_left[i], a));
    pairs_prefetch(&c->pairs, pair_key(c->seen_left[i], z));
}

static inline void foresee_right(const struct corpus *c, size_t i, uint32_t b, uint32_t z)
{
    pairs_prefetch(&c->pairs, pair_key(b, c->seen_right[i]));
    pairs_prefetch(&c->pairs, pair_key(z, c->seen_right[i]));
}

/* Brings the counts up to date: (x, a) and (b, y) became (x, z) and (z, y). Where two occurrences touch, a b a b became
 * z z. Then the first has the right neighbour a, rightly taken from (b, a), but gives no (z, a); the second has the
 * left neighbour z, gives (z, z), and takes nothing from (z, a), which is not in the table yet. */
static int update(struct corpus *c, const struct pair *top, uint32_t z, const struct neighbours *f, struct err *e)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const struct side touch = c->left[z];
    for (size_t i = 0; i < KEYS_AHEAD && i < f->n_left; i++)
        foresee_left(c, i, a, z);
    for (size_t i = 0; i < KEYS_AHEAD && i < f->n_right; i++)
        foresee_right(c, i, b, z);
    for (size_t i = 0; i < f->n_left; i++) {
        uint32_t x = c->seen_left[i];
        if (i + KEYS_AHEAD < f->n_left)
            foresee_left(c, i + KEYS_AHEAD, a, z);
        if (x == 0)
            continue;
        lower(c, pair_key(x, a), &c->left[x]);
        if (keep(c, pair_key(x, z), c->left[x].weight, c->left[x].n, &c->left[x], e))
            return -1;
    }
    for (size_t i = 0; i < f->n_right; i++) {
        uint32_t y = c->seen_right[i];
        if (i + KEYS_AHEAD < f->n_right)
            foresee_right(c, i + KEYS_AHEAD, b, z);
        if (y == 0)
            continue;
        lower(c, pair_key(b, y), &c->right[y]);
        if (y == a) {
            c->right[y].weight -= touch.weight;
            c->right[y].n -= touch.n;
        }
        if (keep(c, pair_key(z, y), c->right[y].weight, c->right[y].n, &c->right[y], e))
            return -1;
    }
    uint64_t *merged = pairs_get(&c->pairs, top->key); /* not there if the table grew and left it behind */
    if (merged)
        *merged = 0; /* what a run of a leaves: never asked for again */
    return 0;
}

/* Writes the positions of the new pairs. */
static void scatter(struct corpus *c, size_t n_live)
{
    for (size_t i = 0; i < n_live; i++) {
        const struct found *f = &c->found[i];
        struct side *left = &c->left[f->x],
                    *right = &c->right[f->y]; /* right[z] is idle: z z is written from its right part */
        *left->out = f->at - left->len;
        left->out += left->step;
        *right->out = f->at;
        right->out += right->step;
    }
}

FOR_WIDTH int merge(struct corpus *c, const struct pair *top, uint32_t z, bool wide, struct err *e)
{
    if (reserve_found(c, top->n, e))
        return -1;
    struct neighbours f = replace(c, top, z, wide);
    assert(f.n_live > 0);
    if (c->spelling)
        spell(c, z, c->text + c->found[0].at, c->len[z]);
    int status = update(c, top, z, &f, e);
    if (!status)
        scatter(c, f.n_live);
    for (size_t i = 0; i < f.n_left; i++)
        c->left[c->seen_left[i]] = (struct side){.out = &c->never_read};
    for (size_t i = 0; i < f.n_right; i++)
        c->right[c->seen_right[i]] = (struct side){.out = &c->never_read};
    if (top->at)
        list_release(c, top->at, top->n);
    return status;
}

int corpus_merge(struct corpus *c, struct pair *top, uint32_t z, struct err *e)
{
    if (!top->at && c->harvest != ALL_LISTS && !is_dense(c, top->n)) {
        if (harvest(c, top->count, e))
            return -1;
        struct pair_list *l = pairs_list(&c->pairs, pairs_get(&c->pairs, top->key));
        top->at = l->at;
        l->at = NULL;
    }
    if (!c->wide && z > UINT16_MAX && widen(c, e))
        return -1;
    born(c, z, c->len[pair_left(top->key)] + c->len[pair_right(top->key)]);
    return c->wide ? merge(c, top, z, true, e) : merge(c, top, z, false, e);
}
