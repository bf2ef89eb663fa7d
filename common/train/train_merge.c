/* train_merge.c - see train_corpus.h: carries out one merge.
 *
 * It takes three steps. replace() finds where the pair still is, writes the new symbol, records the neighbors, and adds
 * up the weight and the number of the occurrences by left and by right neighbor in dense arrays. update() accesses the
 * table of pairs once for each distinct neighbor. scatter() writes the positions of the new pairs.
 */
#include "base/sys/buf.h"
#include "base/sys/huge.h"
#include "train/train_corpus_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    FILTER_BLOCK = 256, /* positions filtered at a time: few enough to be in cache when replaced */
    AHEAD = 32,         /* how many positions ahead memory is prefetched; 8 is 10 % slower, 48 the same */
    KEYS_AHEAD = 8,     /* the same for lookups in the table of pairs */
};

/* Makes the slots wide when symbol numbers need more than 16 bits. */
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

/* Adds a new pair to the table and sets where its positions are written, unless it will never be merged. */
static int keep(struct corpus *c, uint64_t key, uint64_t weight, size_t n, struct side *s, struct err *e)
{
    if (weight < c->pairs.floor || !pair_allowed(c, key))
        return 0;
    n += n_borders(c);
    uint32_t *at = positions_new(&c->positions, n, e);
    if (!at || pairs_put(&c->pairs, (struct pair){key, weight, at, n}, e))
        return -1;
    s->out = at;
    s->len = c->len[pair_left(key)];
    s->step = 1;
    return 0;
}

/* The neighbors that a merge found, each as it is at the time of the replacement: the right one may be merged next; the
 * left one may just have been merged, and is then z. */
struct neighbours {
    size_t n_found, n_left, n_right; /* n_found includes items that only lead to the next window */
};

/* Where reading a list resumes: at item i, in this window. (For a dense pair: at slot i.) */
struct place {
    size_t i, window;
};

/* Which of the slots p .. p + 15 hold a and are followed by a slot with b: one bit each. */
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
        mask |= (unsigned)(slot_get(c, p + i, wide) == a && slot_get(c, p + i + 1, wide) == b) << i;
    return mask;
}

/* Finds at most FILTER_BLOCK positions of a dense pair, from *p on. *p moves past the slots scanned. */
FOR_WIDTH size_t scan(const struct corpus *c, size_t *p, uint32_t a, uint32_t b, size_t *live, bool wide)
{
    size_t n = 0;
    for (; *p < c->n_slots && n <= FILTER_BLOCK - SCAN_STEP; *p += SCAN_STEP)
        for (unsigned mask = matches(c, *p, a, b, wide); mask; mask &= mask - 1)
            live[n++] = *p + (size_t)__builtin_ctz(mask);
    return n;
}

/* Reads at most FILTER_BLOCK items of a list, from *at on, and copies the positions that are not stale. */
FOR_WIDTH size_t filter(const struct corpus *c, struct place *at, const struct pair *top, size_t *live, bool wide,
                        bool windows)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const size_t len_a = c->len[a], end = top->n - at->i < FILTER_BLOCK ? top->n : at->i + FILTER_BLOCK;
    size_t n = 0, begin = windows ? c->window[at->window] : 0;
    for (; at->i < end; at->i++) {
        if (windows && top->at[at->i] == NEXT_WINDOW) {
            begin = c->window[++at->window];
            continue;
        }
        size_t p = begin + top->at[at->i];
        if (at->i + AHEAD < top->n) { /* both ends of the pair: they may be in different cache lines */
            slot_prefetch(c, begin + top->at[at->i + AHEAD], wide);
            slot_prefetch(c, begin + top->at[at->i + AHEAD] + len_a, wide);
        }
        live[n] = p;
        n += (size_t)(slot_get(c, p, wide) == a) & (size_t)(slot_get(c, p + len_a, wide) == b);
    }
    return n;
}

/* Records in c->found that the next occurrence, or the end, is in a later window. */
static inline void pass_border(struct corpus *c, struct neighbours *f, size_t *window)
{
    c->found[f->n_found++] = (struct found){.at = NEXT_WINDOW};
    ++*window;
}

/* Replaces the pair where it still is, and records the positions in c->found, which has room for top->n and the
 * borders. */
FOR_WIDTH struct neighbours replace(struct corpus *c, const struct pair *top, uint32_t z, bool wide, bool windows)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const size_t len_a = c->len[a], len_z = c->len[z], end = top->at ? top->n : c->n_slots;
    struct neighbours f = {0};
    struct place at = {0};
    size_t live[FILTER_BLOCK], last = 0, window = 0;
    while (at.i < end) {
        size_t n = top->at ? filter(c, &at, top, live, wide, windows) : scan(c, &at.i, a, b, live, wide);
        for (size_t j = 0; j < n; j++) {
            size_t p = live[j];
            if (a == b && slot_get(c, p, wide) != a)
                continue; /* as in "aaa": the pair before it was just replaced */
            uint64_t weight = c->weight[p >> c->shift];
            uint32_t x = slot_get(c, p - 1, wide), y = slot_get(c, p + len_z, wide);
            slot_set(c, p, z, wide);
            slot_set(c, p + len_a, z, wide);
            slot_set(c, p + len_z - 1, z, wide);
            while (windows && p >= c->window[window + 1])
                pass_border(c, &f, &window);
            if (x == z)
                c->found[last].y = z; /* the previous occurrence, which touches this one */
            last = f.n_found++;
            c->found[last] = (struct found){(uint32_t)(p - (windows ? c->window[window] : 0)), x, y};
            c->seen_left[f.n_left] = x;
            f.n_left += c->left[x].n++ == 0;
            c->left[x].weight += weight;
            c->seen_right[f.n_right] = y;
            f.n_right += c->right[y].n++ == 0;
            c->right[y].weight += weight;
        }
    }
    while (windows && window < n_borders(c))
        pass_border(c, &f, &window);
    return f;
}

/* Lowers the count of a pair, if it is in the table. When it falls below the floor, its list is released. Counts that
 * are upper bounds (corpus_check_count) stay: a row of equal symbols that becomes shorter by one need not hold one
 * occurrence less. */
static void lower(struct corpus *c, uint64_t key, const struct side *by)
{
    uint64_t *count = pairs_get(&c->pairs, key);
    if (!count)
        return;
    struct pair_list *l = NULL;
    if (c->lists != ALL_LISTS) {
        l = pairs_list(&c->pairs, count);
        if (!l->at)
            l->n -= by->n;
    }
    if (c->once && pair_left(key) == pair_right(key))
        return;
    assert(*count >= by->weight);
    *count -= by->weight;
    if (*count < c->pairs.floor && *count + by->weight >= c->pairs.floor) { /* it just fell below the floor */
        l = pairs_list(&c->pairs, count);
        if (l->at)
            positions_release(&c->positions, l->at, l->n);
        l->at = NULL;
    }
}

/* Prefetch the table's slots of the old and the new pair with a neighbor. */

static inline void prefetch_left(const struct corpus *c, size_t i, uint32_t a, uint32_t z)
{
    pairs_prefetch(&c->pairs, pair_key(c->seen_left[i], a));
    pairs_prefetch(&c->pairs, pair_key(c->seen_left[i], z));
}

static inline void prefetch_right(const struct corpus *c, size_t i, uint32_t b, uint32_t z)
{
    pairs_prefetch(&c->pairs, pair_key(b, c->seen_right[i]));
    pairs_prefetch(&c->pairs, pair_key(z, c->seen_right[i]));
}

/* Updates the counts: (x, a) and (b, y) became (x, z) and (z, y). If two occurrences touch, a b a b became z z. Then
 * the first one has the right neighbor a, correctly subtracted from (b, a), but adds no (z, a); the second one has the
 * left neighbor z, adds (z, z), and subtracts nothing from (z, a), which is not in the table yet.
 *
 * Each occurrence has one left neighbor, if only the 0 before a pretoken, so their weights add up to *replaced. */
static int update(struct corpus *c, const struct pair *top, uint32_t z, const struct neighbours *f, uint64_t *replaced,
                  struct err *e)
{
    const uint32_t a = pair_left(top->key), b = pair_right(top->key);
    const struct side touch = c->left[z];
    *replaced = 0;
    for (size_t i = 0; i < KEYS_AHEAD && i < f->n_left; i++)
        prefetch_left(c, i, a, z);
    for (size_t i = 0; i < KEYS_AHEAD && i < f->n_right; i++)
        prefetch_right(c, i, b, z);
    for (size_t i = 0; i < f->n_left; i++) {
        uint32_t x = c->seen_left[i];
        if (i + KEYS_AHEAD < f->n_left)
            prefetch_left(c, i + KEYS_AHEAD, a, z);
        *replaced += c->left[x].weight;
        if (x == 0)
            continue;
        lower(c, pair_key(x, a), &c->left[x]);
        if (keep(c, pair_key(x, z), c->left[x].weight, c->left[x].n, &c->left[x], e))
            return -1;
    }
    for (size_t i = 0; i < f->n_right; i++) {
        uint32_t y = c->seen_right[i];
        if (i + KEYS_AHEAD < f->n_right)
            prefetch_right(c, i + KEYS_AHEAD, b, z);
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
    uint64_t *merged = pairs_get(&c->pairs, top->key); /* NULL if it was dropped when the table grew */
    if (merged)
        *merged = 0; /* "aaa" counted (a, a) twice but was merged once, so the rest of the count is meaningless */
    return 0;
}

static inline void put(struct side *s, uint32_t item)
{
    *s->out = item;
    s->out += s->step;
}

/* Writes NEXT_WINDOW into the lists of all new pairs. */
static void put_border(struct corpus *c, const struct neighbours *f)
{
    for (size_t i = 0; i < f->n_left; i++)
        put(&c->left[c->seen_left[i]], NEXT_WINDOW);
    for (size_t i = 0; i < f->n_right; i++)
        put(&c->right[c->seen_right[i]], NEXT_WINDOW);
}

/* Writes the positions of the new pairs. */
FOR_WIDTH void scatter(struct corpus *c, const struct neighbours *neighbours, bool windows)
{
    for (size_t i = 0; i < neighbours->n_found; i++) {
        const struct found *f = &c->found[i];
        if (windows && f->at == NEXT_WINDOW) {
            put_border(c, neighbours);
            continue;
        }
        struct side *left = &c->left[f->x],
                    *right = &c->right[f->y]; /* right[z] is not used: the right z of z z writes it */
        put(left, f->at - left->len);
        put(right, f->at);
    }
}

/* The slot of the first occurrence in c->found. */
static size_t first_place(const struct corpus *c)
{
    size_t window = 0;
    while (c->found[window].at == NEXT_WINDOW)
        window++;
    return c->window[window] + c->found[window].at;
}

FOR_WIDTH int merge(struct corpus *c, const struct pair *top, uint32_t z, uint64_t *replaced, bool wide, bool windows,
                    struct err *e)
{
    if (array_grow(&c->found, &c->found_cap, top->n + n_borders(c), sizeof *c->found, "the positions of a pair", e))
        return -1;
    struct neighbours f = replace(c, top, z, wide, windows);
    assert(f.n_left > 0);
    if (c->text)
        symbol_set_bytes(c, z, c->text + first_place(c), c->len[z]);
    if (c->limits)
        train_limits_merge(c->limits, symbol_limited(c, pair_left(top->key)), symbol_limited(c, pair_right(top->key)),
                           z);
    int status = update(c, top, z, &f, replaced, e);
    if (!status)
        scatter(c, &f, windows);
    for (size_t i = 0; i < f.n_left; i++)
        c->left[c->seen_left[i]] = (struct side){.out = &c->never_read};
    for (size_t i = 0; i < f.n_right; i++)
        c->right[c->seen_right[i]] = (struct side){.out = &c->never_read};
    c->n_found = f.n_found;
    if (c->n_parts && !status)
        status = corpus_update_parts(c, top->key, z, e);
    corpus_skip(c, top);
    return status;
}

/* Makes the list of a pair of bytes, unless it has one or is dense. */
static int need_list(struct corpus *c, struct pair *top, struct err *e)
{
    if (top->at || c->lists == ALL_LISTS || is_dense(c, top->n))
        return 0;
    if (corpus_make_lists(c, top->count, e))
        return -1;
    struct pair_list *l = pairs_list(&c->pairs, pairs_get(&c->pairs, top->key));
    top->at = l->at;
    top->n = l->n;
    l->at = NULL;
    return 0;
}

void corpus_name(struct corpus *c, uint32_t z, const unsigned char *p, uint32_t len)
{
    symbol_set_bytes(c, z, p, len);
}

int corpus_merge(struct corpus *c, struct pair *top, uint32_t z, uint64_t *replaced, struct err *e)
{
    if (need_list(c, top, e))
        return -1;
    if (!c->wide && z > UINT16_MAX && widen(c, e))
        return -1;
    symbol_new(c, z, c->len[pair_left(top->key)] + c->len[pair_right(top->key)]);
    if (n_borders(c))
        return c->wide ? merge(c, top, z, replaced, true, true, e) : merge(c, top, z, replaced, false, true, e);
    return c->wide ? merge(c, top, z, replaced, true, false, e) : merge(c, top, z, replaced, false, false, e);
}

/* ---- Counting once ---- */

/* The weight of the occurrences of a pair (a, a) that replace() would replace. */
FOR_WIDTH uint64_t weigh(const struct corpus *c, const struct pair *top, bool wide, bool windows)
{
    const uint32_t a = pair_left(top->key);
    const size_t len = c->len[a], end = top->at ? top->n : c->n_slots;
    struct place at = {0};
    size_t live[FILTER_BLOCK], overlaps = 0; /* overlaps: the slot where an occurrence would overlap the last one */
    uint64_t weight = 0;
    while (at.i < end) {
        size_t n = top->at ? filter(c, &at, top, live, wide, windows) : scan(c, &at.i, a, a, live, wide);
        for (size_t j = 0; j < n; j++) {
            const bool counts = live[j] != overlaps;
            weight += counts ? c->weight[live[j] >> c->shift] : 0;
            overlaps = counts ? live[j] + len : 0;
        }
    }
    return weight;
}

int corpus_check_count(struct corpus *c, struct pair *top, struct err *e)
{
    const bool windows = n_borders(c) > 0;
    if (!c->once || pair_left(top->key) != pair_right(top->key))
        return 1;
    if (need_list(c, top, e))
        return -1;
    const uint64_t bound = top->count;
    top->count = c->wide ? weigh(c, top, true, windows) : weigh(c, top, false, windows);
    assert(top->count <= bound);
    if (top->count == bound)
        return 1;
    const int rc = pairs_return(&c->pairs, top, e);
    if (rc > 0)
        corpus_skip(c, top);
    return rc < 0 ? -1 : 0;
}
