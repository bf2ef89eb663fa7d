/* train_corpus.c - see train_corpus.h: how the pretokens are laid out, and why merging in that layout is exact.
 *
 * The pretokens lie one after the other in an array of slots, a slot for each byte, with a 0 before each. A symbol of n
 * bytes fills n slots, and its number is in the first and in the last of them. So the neighbors of the symbol at p are
 * found at p - 1 and p + n, without following links or moving anything. Pretokens of equal count share blocks of slots,
 * so the weight follows from the number of the slot.
 *
 * A pair (x, z) with a new symbol z arises only in the merge that makes z. So its positions are written once, in order,
 * and never changed. Later some of them become stale, and the count of the pair only falls. Whether position p still
 * holds (a, b) is read from the slots: slot[p] == a && slot[p + len(a)] == b.
 *
 * Why old numbers left inside longer symbols cannot be mistaken for a pair: p is in the list of (a, b), so an a began
 * there once. Symbols only ever become part of longer ones. While the longer one also began at p, slot[p] was set to
 * it, and it is not a, since it has more bytes. When the symbol at p became the right part of another symbol z, which
 * begins before p, slot[p] was set to z (this is the only reason why replace() in train_merge.c writes it). From then
 * on slot[p] is set only when a symbol that began before p ends at p. Such a symbol contains the a that once began at
 * p, so a was a single byte, and the symbol is not a. So slot[p] == a means that a begins at p, and then slot[p +
 * len(a)] is the first slot of its neighbor.
 *
 * Positions have 32 bits, however many slots there are. The slots are divided into windows, each of which begins with a
 * 0 slot and has at most 2^32-1 of them. An item of a list is the distance of a position from the beginning of its
 * window. An item NEXT_WINDOW leads from a window to the next; each list has one for every border between windows. No
 * pretoken crosses a border, so a symbol and its neighbors are in the same window. Up to 2^32-1 slots there is one
 * window, and this costs nothing.
 *
 * Byte pairs are in the text from the beginning, so their lists would be the longest. Dense pairs have no list, since
 * scanning all slots finds them just as fast; the others get their lists late (train_lists.c).
 *
 * tests/oracle/learn_slow.c is the plain version of this. Cache misses on slots and positions take two thirds of the
 * time; tests/bench/README lists what was tried against them.
 */
#include "train/train_corpus.h"

#include "base/sys/buf.h"
#include "base/sys/huge.h"
#include "base/sys/simd.h"
#include "train/train_corpus_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SHIFT = 12,      /* blocks of 4,096 slots, so that weight[] fits into cache, unless that wastes too much */
    MIN_CHUNK = 1 << 14, /* positions */
};

/* ---- Layout ---- */

/* Sets the first slot of each class of pretokens, at the beginning of a block. Returns the total number of slots. */
static uint64_t place(struct train_pretokens *all, size_t n_parts, unsigned shift)
{
    uint64_t block = (uint64_t)1 << shift, end = 1;
    for (size_t i = 0; i < n_parts; i++)
        for (size_t k = 0; k < all[i].n_class; k++) {
            end = end > 1 ? (end + block - 1) & ~(block - 1) : end;
            all[i].class[k].at = end;
            end += all[i].class[k].slots;
        }
    return end;
}

/* Picks the largest blocks that waste little: the more distinct counts, the smaller the blocks must be. Blocks of one
 * slot waste nothing. */
static unsigned pick_shift(struct train_pretokens *all, size_t n_parts)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < n_parts; i++)
        slots += all[i].slots;
    for (unsigned shift = MAX_SHIFT; shift > 0; shift--) {
        uint64_t n = place(all, n_parts, shift);
        if (n <= slots + slots / 16 + 4096)
            return shift;
    }
    return 0;
}

static void set_weights(const struct corpus *c, const struct train_pretokens *all, uint64_t *weight)
{
    for (size_t i = 0; i < all->n_class; i++) {
        const struct train_pretokens_class *k = &all->class[i];
        for (uint64_t b = k->at >> c->shift; b <= (k->at + k->slots - 1) >> c->shift; b++)
            weight[b] = k->count;
    }
}

static int too_often(size_t pair, struct err *e)
{
    return err_set(e, EX_DATAERR, "the pretokens hold the bytes \"\\x%02x\\x%02x\" more than 2^64-1 times",
                   (unsigned)pair >> 8, (unsigned)pair & 255);
}

/* Writes pretokens of bytes into the slots, each after the last one of its class, and adds up their byte pairs in
 * sum[left << 8 | right]. */
static int lay_out(struct corpus *c, struct train_pretokens *all, const uint32_t byte[256], bool counts,
                   struct pair_sum *sum, struct err *e)
{
    struct train_pretokens_cursor cursor = {0};
    struct pretoken w;
    while (train_pretokens_next(all, &cursor, &w)) {
        struct train_pretokens_class *k = train_pretokens_class_of(all, w.count);
        uint64_t start = k->at;
        k->at += w.len + 1;
        for (size_t j = 0; j < w.len; j++)
            slot_set(c, start + j, byte[w.p[j]], c->wide);
        if (c->text)
            memcpy(c->text + start, w.p, w.len);
        for (size_t j = 0; j + 1 < w.len; j++) {
            const size_t pair = (size_t)w.p[j] << 8 | w.p[j + 1];
            if (pair_sum_add(&sum[pair], counts ? w.count : 0))
                return too_often(pair, e);
        }
    }
    return 0;
}

/* Divides the slots into windows, after the pretokens are written. The next window begins at the last 0 within `max`
 * slots. */
static int set_windows(struct corpus *c, uint32_t max, struct err *e)
{
    size_t cap = 0, begin = 0;
    for (c->n_windows = 0; begin != SIZE_MAX;) {
        if (array_grow(&c->window, &cap, c->n_windows + 2, sizeof *c->window, "the pretokens", e))
            return -1;
        c->window[c->n_windows++] = begin;
        size_t next = begin + max;
        while (next < c->n_slots && slot_get(c, next, c->wide) != 0)
            next--;
        assert(next > begin);
        begin = next < c->n_slots ? next : SIZE_MAX;
    }
    c->window[c->n_windows] = SIZE_MAX;
    return 0;
}

/* ---- Ties by bytes ---- */

static int symbol_bytes_compare(const struct corpus *c, uint32_t x, uint32_t y)
{
    const struct symbol_bytes *sx = &c->symbol_bytes[x], *sy = &c->symbol_bytes[y];
    if (sx->head != sy->head)
        return sx->head < sy->head ? -1 : 1;
    size_t nx = sx->n, ny = sy->n;
    for (size_t i = 0; i < nx && i < ny; i++)
        if (sx->p[i] != sy->p[i])
            return c->rank[sx->p[i]] < c->rank[sy->p[i]] ? -1 : 1;
    return (nx > ny) - (nx < ny);
}

/* Different symbols have different bytes. */
static int pair_bytes_compare(const struct corpus *c, uint64_t x, uint64_t y)
{
    int d = pair_left(x) == pair_left(y) ? 0 : symbol_bytes_compare(c, pair_left(x), pair_left(y));
    if (d == 0)
        d = pair_right(x) == pair_right(y) ? 0 : symbol_bytes_compare(c, pair_right(x), pair_right(y));
    return d;
}

static bool greater_bytes(const void *c, uint64_t x, uint64_t y)
{
    return pair_bytes_compare(c, x, y) > 0;
}

static bool smaller_bytes(const void *c, uint64_t x, uint64_t y)
{
    return pair_bytes_compare(c, x, y) < 0;
}

/* ---- Setting up ---- */

/* Makes the memory of the pretokens available for lists: the kernel need not clear it again. */
static int reuse(struct corpus *c, struct train_pretokens *all, struct err *e)
{
    void *p;
    for (size_t size; (p = train_pretokens_take(all, &size));) {
        if (positions_own(&c->positions, p, size, e))
            return -1;
        positions_release(&c->positions, p, size / sizeof(uint32_t));
    }
    train_pretokens_free(all);
    return 0;
}

/* Allocates the arrays, once the layout is known. */
static int alloc(struct corpus *c, const struct corpus_opts *o, struct err *e)
{
    const uint32_t n_symbols = o->n_symbols;
    const bool keep_text = (o->order || o->limits) && !o->units, keep_bytes = keep_text || o->order;
    size_t n = (size_t)n_symbols + 1, n_blocks = (c->n_slots >> c->shift) + 1,
           size = (c->n_slots + SCAN_STEP + 1) * (c->wide ? 4 : 2);
    c->slot = huge_zeroed(size);
    c->slot_size = size;
    c->weight = calloc(n_blocks, sizeof *c->weight);
    if (keep_text)
        c->text = malloc(c->n_slots);
    if (keep_bytes)
        c->symbol_bytes = malloc(n * sizeof *c->symbol_bytes);
    if (o->n_counted < o->n_parts)
        c->uncounted = calloc(n_blocks, sizeof *c->uncounted);
    if (!c->slot || !c->weight || (o->n_counted < o->n_parts && !c->uncounted) || (keep_text && !c->text) ||
        (keep_bytes && !c->symbol_bytes))
        return err_mem(e, "the pretokens", size);
    c->len = calloc(n, sizeof *c->len);
    c->left = malloc(n * sizeof *c->left);
    c->right = malloc(n * sizeof *c->right);
    c->seen_left = malloc((n + 1) * sizeof *c->seen_left); /* one more, because a repeated neighbor is written, too */
    c->seen_right = malloc((n + 1) * sizeof *c->seen_right);
    if (!c->len || !c->left || !c->right || !c->seen_left || !c->seen_right)
        return err_mem(e, "the vocabulary", n * (3 * sizeof *c->len + 2 * sizeof *c->left));
    return 0;
}

static int add_sums(struct pair_sum *to, const struct pair_sum *part, struct err *e)
{
    for (size_t i = 0; i < N_BYTES * N_BYTES; i++) {
        to[i].n += part[i].n;
        if (__builtin_add_overflow(to[i].weight, part[i].weight, &to[i].weight))
            return too_often(i, e);
    }
    return 0;
}

/* Lays out the parts, one after the other, and puts their pairs into the tables. sum: room for two tables. */
static int lay_out_parts(struct corpus *c, struct train_pretokens *all, const uint32_t byte[256], struct pair_sum *sum,
                         struct err *e)
{
    struct pair_sum *part = sum + N_BYTES * N_BYTES;
    size_t i = 0;
    do {
        const bool counts = i < c->n_counted;
        memset(part, 0, N_BYTES * N_BYTES * sizeof *part);
        if (lay_out(c, &all[i], byte, counts || !c->n_parts, part, e) || add_sums(sum, part, e) ||
            reuse(c, &all[i], e) || (counts && corpus_put_byte_pairs(c, &c->part[i].pairs, part, e)))
            return -1;
    } while (++i < c->n_parts);
    return corpus_put_byte_pairs(c, &c->pairs, sum, e);
}

/* Lays out pretokens of bytes. */
static int init_bytes(struct corpus *c, struct train_pretokens *all, const struct corpus_opts *o, struct err *e)
{
    for (unsigned i = 0; i < 256; i++) {
        symbol_new(c, o->byte[i], 1);
        if (c->symbol_bytes)
            symbol_set_first_bytes(c, o->byte[i], &c->bytes[i], 1);
    }
    struct pair_sum *sum = calloc(2 * N_BYTES * N_BYTES, sizeof *sum);
    if (!sum)
        return err_mem(e, "counting pairs", 2 * N_BYTES * N_BYTES * sizeof *sum);
    int rc = lay_out_parts(c, all, o->byte, sum, e);
    free(sum);
    return rc || set_windows(c, o->window ? o->window : UINT32_MAX, e) ? -1 : 0;
}

/* Lays out pretokens of symbols. */
static int init_symbols(struct corpus *c, struct train_pretokens *all, const struct corpus_opts *o, struct err *e)
{
    corpus_lay_out_symbols(c, all, o->token);
    if (o->units) /* the text was cut at pairs that may not be merged */
        c->limits = NULL;
    int rc = set_windows(c, o->window ? o->window : UINT32_MAX, e) || reuse(c, all, e) || corpus_count_pairs(c, e);
    c->limits = o->limits;
    return rc ? -1 : 0;
}

int corpus_init(struct corpus *c, struct train_pretokens *all, const struct corpus_opts *o, struct err *e)
{
    *c = (struct corpus){.byte = o->byte,
                         .n_symbols = o->n_symbols,
                         .n_parts = o->n_parts,
                         .n_counted = o->n_counted,
                         .sse2 = simd_level() >= SIMD_SSE2,
                         .units = o->units,
                         .max_len = o->max_len,
                         .once = o->once,
                         .limits = o->limits};
    for (unsigned i = 0; i < N_BYTES; i++)
        c->bytes[i] = (unsigned char)i;
    if (o->order)
        memcpy(c->rank, o->order, sizeof c->rank);
    for (unsigned i = 0; o->byte && i < N_BYTES; i++)
        c->wide |= o->byte[i] > UINT16_MAX;
    c->wide |= o->token && o->n_symbols > UINT16_MAX;
    const size_t n = o->n_parts ? o->n_parts : 1;
    uint64_t n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        n_pairs += all[i].pairs;
    c->shift = pick_shift(all, n);
    c->n_slots = place(all, n, c->shift);
    c->positions.chunk_size = MIN_CHUNK + n_pairs / 64;
    pair_before *before = !o->order ? NULL : o->greatest ? greater_bytes : smaller_bytes;
    if (corpus_set_parts(c, all, e) || corpus_init_pairs(c, o->unqueued, o->floor, before, e) || alloc(c, o, e))
        return -1;
    symbol_new(c, 0, 0);
    for (size_t i = 0; i < n; i++)
        set_weights(c, &all[i], c->n_parts && i >= c->n_counted ? c->uncounted : c->weight);
    return o->token ? init_symbols(c, all, o, e) : init_bytes(c, all, o, e);
}

void corpus_free(struct corpus *c)
{
    huge_free(c->slot, c->slot_size);
    free(c->window);
    free(c->weight);
    free(c->len);
    free(c->left);
    free(c->right);
    free(c->seen_left);
    free(c->seen_right);
    positions_free(&c->positions);
    free(c->found);
    free(c->uncounted);
    corpus_free_pairs(c);
    free(c->part);
    free(c->symbol_bytes);
    free(c->text);
    *c = (struct corpus){0};
}
