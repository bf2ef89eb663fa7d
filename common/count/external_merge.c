/* external_merge.c - see external_merge.h.
 *
 * A block on disk holds only whole entries: varint length, bytes, varint count. One block of each segment at a time is
 * in memory, and one decompressor serves all segments. An input has a descriptor of its own while it is merged. */
#include "count/external_merge.h"

#include "base/sys/bytes.h"
#include "count/sorted_table.h"
#include "wire/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 64 << 10,
    FAN_IN_MAX = 256,
    OTHER_FILES = 32, /* descriptors that the program has open besides the inputs it merges */
};

/* Reads the pretokens of one segment. */
struct segment_reader {
    const struct spill *spill;
    const struct segment *segment;
    size_t next_block;
    struct buf block;
    struct cursor in;
};

/* A pretoken as numbers that compare as pretokens do: its first 16 bytes, padded with 0, and its length. If two
 * pretokens of more than 16 bytes have the same head, their bytes must be compared. */
struct head {
    uint64_t first, second, len;
};

enum { HEAD_BYTES = 16, LONGER = HEAD_BYTES + 1, NONE_LEFT }; /* other values of `len`; NONE_LEFT comes last */

/* The inputs that are merged, and the current pretoken of each, in a tree of losers (Knuth, The Art of Computer
 * Programming, vol. 3, 5.4.1): each inner node has the input that lost the comparison there, and the root has the
 * winner. So the next pretoken takes one comparison per level, mostly of numbers close together in memory. */
struct tournament {
    size_t n;
    struct sorted_input *from;
    struct pretoken *now; /* borrowed from the inputs, */
    struct head *head;    /* and its head */
    struct ratio *by;     /* by which its counts are multiplied; NULL: all by 1 */
    uint64_t denominator; /* of the sums */
    size_t *node;         /* node[0]: the winner; node[1 .. n): losers. Input i is below node (n + i) / 2 */
};

struct segment_writer {
    struct spill *spill;
    struct segment *segment;
    struct buf block;
};

/* Segments and inputs that are merged together. */
struct group {
    const struct spill *spill;
    const struct segment *segment;
    size_t n;
    const struct sorted_input *input;
    size_t n_inputs;
};

void external_merge_init(struct external_merge *r, const char *dir, size_t memory)
{
    *r = (struct external_merge){.fan_in = memory / (2 * BLOCK), .denominator = 1};
    long files = sysconf(_SC_OPEN_MAX); /* -1: no limit */
    if (r->fan_in > FAN_IN_MAX)
        r->fan_in = FAN_IN_MAX;
    if (files >= 0 && r->fan_in + OTHER_FILES > (size_t)files)
        r->fan_in = files > OTHER_FILES ? (size_t)files - OTHER_FILES : 0;
    if (r->fan_in < 2)
        r->fan_in = 2;
    spill_init(&r->spill, dir);
}

static void free_segments(struct segment *segment, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(segment[i].block);
}

void external_merge_free(struct external_merge *r)
{
    free_segments(r->segment, r->n);
    free(r->segment);
    free(r->input);
    spill_free(&r->spill);
    r->segment = NULL;
    r->input = NULL;
    r->n = r->cap = r->n_inputs = r->cap_inputs = 0;
}

static int flush_block(struct segment_writer *w, struct err *e)
{
    if (w->block.len == 0)
        return 0;
    if (array_grow(&w->segment->block, &w->segment->cap, w->segment->n + 1, sizeof *w->segment->block,
                   "the sorted segments", e) ||
        spill_write(w->spill, w->block.p, w->block.len, &w->segment->block[w->segment->n], e))
        return -1;
    w->segment->n++;
    w->block.len = 0;
    return 0;
}

static int write_pretoken(void *ctx, const struct pretoken *x, struct err *e)
{
    struct segment_writer *w = ctx;
    if (w->block.len && w->block.len + x->len + 2 * VARINT_MAX > BLOCK && flush_block(w, e))
        return -1;
    if (x->len > INT32_MAX - BLOCK)
        return err_set(e, EX_DATAERR,
                       "a pretoken of more than 2 GiB cannot be written to disk; allow more memory (-S)");
    if (buf_reserve(&w->block, x->len + 2 * VARINT_MAX, e))
        return -1;
    w->block.len = (size_t)(pretoken_put(w->block.p + w->block.len, x) - w->block.p);
    return 0;
}

/* ---- The inputs ---- */

static int segment_next(void *self, struct pretoken *w, struct err *e)
{
    struct segment_reader *r = self;
    if (cursor_left(&r->in) == 0) {
        if (r->next_block == r->segment->n)
            return 0;
        r->block.len = 0;
        if (spill_read(r->spill, &r->segment->block[r->next_block++], &r->block, e) ||
            buf_reserve(&r->block, PRETOKEN_PAD, e))
            return -1;
        r->in = cursor_over(r->block.p, r->block.len);
    }
    *w = pretoken_get(&r->in);
    return r->in.bad ? err_set(e, EX_IOERR, "a temporary file was damaged") : 1;
}

static void segment_close(void *self)
{
    struct segment_reader *r = self;
    buf_free(&r->block);
}

static int table_source_next(void *self, struct pretoken *w, struct err *e)
{
    (void)e;
    return sorted_table_next(self, w);
}

/* ---- Merging ---- */

/* The head of a pretoken that is padded. */
static inline struct head head_of(const struct pretoken *w)
{
    struct head h = {load_u64be(w->p), load_u64be(w->p + 8), w->len <= HEAD_BYTES ? w->len : LONGER};
    if (w->len < 8)
        h.first &= UINT64_MAX << (64 - 8 * w->len);
    if (w->len <= 8)
        h.second = 0;
    else if (w->len < HEAD_BYTES)
        h.second &= UINT64_MAX << (128 - 8 * w->len);
    return h;
}

static int advance(struct tournament *t, size_t i, struct err *e)
{
    int rc = t->from[i].next(t->from[i].self, &t->now[i], e);
    if (rc > 0 && t->by && ledger_scale(&t->now[i].count, t->by[i], t->denominator, e))
        rc = -1;
    t->head[i] = rc > 0 ? head_of(&t->now[i]) : (struct head){UINT64_MAX, UINT64_MAX, NONE_LEFT};
    return rc < 0 ? -1 : 0;
}

/* Whether input a comes before input b. The result cannot be predicted, so no branch depends on it. */
static inline bool before(const struct tournament *t, size_t a, size_t b)
{
    const struct head *x = &t->head[a], *y = &t->head[b];
    bool same = (x->first == y->first) & (x->second == y->second);
    if (__builtin_expect(same & (x->len == LONGER) & (y->len == LONGER), 0))
        return str_compare(pretoken_str(&t->now[a]), pretoken_str(&t->now[b])) < 0;
    return (x->first < y->first) | ((x->first == y->first) & (x->second < y->second)) | (same & (x->len < y->len));
}

/* Lets input i, whose pretoken is new, compete with the losers above it. */
static void replay(struct tournament *t, size_t i)
{
    size_t winner = i;
    for (size_t at = (t->n + i) / 2; at; at /= 2) {
        size_t other = t->node[at], swap = (other ^ winner) & -(size_t)before(t, other, winner);
        t->node[at] = other ^ swap;
        winner ^= swap;
    }
    t->node[0] = winner;
}

/* Returns the winner of the inputs below node `at`, and stores the losers. */
static size_t play(struct tournament *t, size_t at)
{
    if (at >= t->n)
        return at - t->n;
    size_t a = play(t, 2 * at), b = play(t, 2 * at + 1);
    bool first = before(t, a, b);
    t->node[at] = first ? b : a;
    return first ? a : b;
}

static int tournament_init(struct tournament *t, size_t n, struct err *e)
{
    *t = (struct tournament){.n = n,
                             .from = calloc(n, sizeof *t->from),
                             .now = calloc(n, sizeof *t->now),
                             .head = calloc(n, sizeof *t->head),
                             .node = calloc(n, sizeof *t->node)};
    return t->from && t->now && t->head && t->node ? 0 : err_mem(e, "merging", n * sizeof *t->from);
}

static void tournament_free(struct tournament *t)
{
    for (size_t i = 0; t->from && i < t->n; i++) {
        if (t->from[i].close)
            t->from[i].close(t->from[i].self);
    }
    free(t->from);
    free(t->now);
    free(t->head);
    free(t->node);
    free(t->by);
}

/* Sets the factor of each input with which its counts have the common denominator. */
static int tournament_scale(struct tournament *t, uint64_t denominator, struct err *e)
{
    bool any = denominator > 1;
    for (size_t i = 0; i < t->n; i++)
        any |= !ratio_is_one(t->from[i].worth);
    if (!any)
        return 0;
    t->denominator = denominator;
    t->by = calloc(t->n, sizeof *t->by);
    if (!t->by)
        return err_mem(e, "merging", t->n * sizeof *t->by);
    for (size_t i = 0; i < t->n; i++) {
        if (!ratio_multiply(t->from[i].worth, (struct ratio){denominator, 1}, &t->by[i]))
            return commit_no_denominator(e);
    }
    return 0;
}

/* Opens the inputs and finds the first pretoken. */
static int tournament_begin(struct tournament *t, struct err *e)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->from[i].open && t->from[i].open(t->from[i].self, e))
            return -1;
        if (advance(t, i, e))
            return -1;
    }
    t->node[0] = play(t, 1);
    return 0;
}

/* Adds w to *sum, whose bytes are in *held, if it is the same pretoken. Otherwise passes *sum on, unless its length is
 * 0, and begins a new one. */
static int add_next(const struct pretoken *w, struct pretoken *sum, struct buf *held,
                    int (*consume)(void *, const struct pretoken *, struct err *), void *ctx, struct err *e)
{
    if (sum->len == w->len && memcmp(sum->p, w->p, w->len) == 0)
        return __builtin_add_overflow(sum->count, w->count, &sum->count)
                   ? err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1")
                   : 0;
    if (sum->len && consume(ctx, sum, e))
        return -1;
    held->len = 0;
    if (buf_put(held, w->p, w->len, e))
        return -1;
    *sum = (struct pretoken){held->p, w->len, w->count};
    return 0;
}

static int merge_all(struct tournament *t, int (*consume)(void *, const struct pretoken *, struct err *), void *ctx,
                     struct err *e)
{
    struct buf held = {0}; /* the bytes of the pretoken whose counts are being added up */
    struct pretoken sum = {0};
    int rc = tournament_begin(t, e);
    for (size_t first; rc == 0 && t->head[first = t->node[0]].len != NONE_LEFT; replay(t, first))
        rc = add_next(&t->now[first], &sum, &held, consume, ctx, e) || advance(t, first, e) ? -1 : 0;
    if (rc == 0 && sum.len)
        rc = consume(ctx, &sum, e);
    buf_free(&held);
    return rc;
}

/* Merges a group and a sorted table. */
static int merge(const struct group *g, struct sorted_table *table, uint64_t denominator,
                 int (*consume)(void *, const struct pretoken *, struct err *), void *ctx, struct err *e)
{
    struct tournament t;
    struct segment_reader *reader = calloc(g->n + 1, sizeof *reader);
    int rc = tournament_init(&t, g->n + g->n_inputs + 1, e);
    if (rc == 0 && !reader)
        rc = err_mem(e, "merging", (g->n + 1) * sizeof *reader);
    if (rc == 0) {
        t.from[0] = (struct sorted_input){NULL, table_source_next, NULL, table, {1, denominator}};
        for (size_t i = 0; i < g->n; i++) {
            reader[i] = (struct segment_reader){.spill = g->spill, .segment = &g->segment[i]};
            t.from[1 + i] =
                (struct sorted_input){NULL, segment_next, segment_close, &reader[i], {1, g->segment[i].denominator}};
        }
        for (size_t i = 0; i < g->n_inputs; i++)
            t.from[1 + g->n + i] = g->input[i];
        rc = tournament_scale(&t, denominator, e) || merge_all(&t, consume, ctx, e) ? -1 : 0;
    }
    tournament_free(&t);
    free(reader);
    return rc;
}

/* Adds one more segment to r, merged from a group and a sorted table. */
static int add_segment(struct external_merge *r, const struct group *g, struct sorted_table *table, struct err *e)
{
    struct segment new = {.denominator = r->denominator};
    struct segment_writer w = {.spill = &r->spill, .segment = &new};
    int rc = array_grow(&r->segment, &r->cap, r->n + 1, sizeof *r->segment, "the sorted segments", e);
    if (rc == 0)
        rc = merge(g, table, r->denominator, write_pretoken, &w, e) || flush_block(&w, e) ? -1 : 0;
    buf_free(&w.block);
    if (rc)
        free(new.block);
    else
        r->segment[r->n++] = new;
    return rc;
}

int external_merge_spill(struct external_merge *r, struct table *t, struct err *e)
{
    struct sorted_table sorted;
    const struct group none = {0};
    sorted_table_init(&sorted, t);
    r->n_spilled++;
    return add_segment(r, &none, &sorted, e);
}

int external_merge_relieve(struct external_merge *r, struct table *t, uint64_t max, struct err *e)
{
    enum { PRETOKENS_MIN = 1000 }; /* fewest pretokens in a segment, however little memory is allowed */
    if (table_n(t) < PRETOKENS_MIN || table_bytes(t) <= max)
        return 0;
    if (external_merge_spill(r, t, e) || table_clear(t, e))
        return -1;
    return 0;
}

int external_merge_divide(struct external_merge *r, struct table *t, uint64_t denominator, struct err *e)
{
    if (denominator != r->denominator && table_n(t) && (external_merge_spill(r, t, e) || table_clear(t, e)))
        return -1;
    r->denominator = denominator;
    return 0;
}

int external_merge_add(struct external_merge *r, const struct sorted_input *input, struct err *e)
{
    if (array_grow(&r->input, &r->cap_inputs, r->n_inputs + 1, sizeof *r->input, "the sorted inputs", e))
        return -1;
    r->input[r->n_inputs++] = *input;
    return 0;
}

/* Merges the first inputs into a segment: enough of them that the rest can be merged in one step, but at most
 * fan_in. */
static int merge_inputs(struct external_merge *r, struct err *e)
{
    struct sorted_table none = {0};
    size_t too_many = r->n + r->n_inputs - r->fan_in, n = too_many < r->fan_in ? too_many + 1 : r->fan_in;
    n = n < r->n_inputs ? n : r->n_inputs;
    const struct group g = {.input = r->input, .n_inputs = n};
    if (add_segment(r, &g, &none, e))
        return -1;
    r->n_inputs -= n;
    memmove(r->input, r->input + n, r->n_inputs * sizeof *r->input);
    return 0;
}

/* Merges groups of segments into longer ones in a new file, so that the space of the old file can be freed. */
static int pass(struct external_merge *r, struct err *e)
{
    struct external_merge next = {.fan_in = r->fan_in, .denominator = r->denominator, .n_spilled = r->n_spilled};
    struct sorted_table none = {0};
    spill_init(&next.spill, r->spill.dir);
    int rc = 0;
    for (size_t i = 0; i < r->n && rc == 0; i += r->fan_in) {
        size_t n = r->n - i < r->fan_in ? r->n - i : r->fan_in;
        const struct group g = {.spill = &r->spill, .segment = r->segment + i, .n = n};
        rc = add_segment(&next, &g, &none, e);
    }
    next.input = r->input;
    next.n_inputs = r->n_inputs;
    next.cap_inputs = r->cap_inputs;
    r->input = NULL;
    external_merge_free(r);
    *r = next;
    return rc;
}

int external_merge_merge(struct external_merge *r, struct table *t,
                         int (*consume)(void *ctx, const struct pretoken *w, struct err *e), void *ctx, struct err *e)
{
    struct sorted_table sorted;
    while (r->n + r->n_inputs > r->fan_in) {
        if (r->n_inputs > 1 ? merge_inputs(r, e) : pass(r, e))
            return -1;
    }
    sorted_table_init(&sorted, t);
    const struct group all = {&r->spill, r->segment, r->n, r->input, r->n_inputs};
    if (r->n + r->n_inputs)
        return merge(&all, &sorted, r->denominator, consume, ctx, e);
    for (struct pretoken w; sorted_table_next(&sorted, &w);) {
        if (consume(ctx, &w, e))
            return -1;
    }
    return 0;
}
