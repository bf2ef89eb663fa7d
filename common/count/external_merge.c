/* external_merge.c - see external_merge.h.
 *
 * A block on disk holds only whole entries: varint length, bytes, varint count. One block of each segment at a time is
 * in memory, and one decompressor serves all segments. */
#include "count/external_merge.h"

#include "count/sorted_table.h"
#include "sys/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10, MOST_AT_A_TIME = 256 };

/* Reads the pretokens of one segment, or of the sorted table. */
struct source {
    const struct spill *spill; /* NULL: the sorted table */
    const struct segment *segment;
    size_t next_block;
    struct buf block;
    struct cursor in;
    struct sorted_table *table; /* borrowed */
    struct pretoken now;        /* the current pretoken; borrowed from block or words */
};

struct segment_writer {
    struct spill *spill;
    struct segment *segment;
    struct buf block;
};

void external_merge_init(struct external_merge *r, const char *dir, size_t memory)
{
    *r = (struct external_merge){.fan_in = memory / (2 * BLOCK)};
    if (r->fan_in < 2)
        r->fan_in = 2;
    if (r->fan_in > MOST_AT_A_TIME)
        r->fan_in = MOST_AT_A_TIME;
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
    spill_free(&r->spill);
    r->segment = NULL;
    r->n = r->cap = 0;
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
        return err_set(e, EX_DATAERR, "a pretoken of more than 2 GiB cannot be put on disk; allow more memory (-S)");
    if (buf_reserve(&w->block, x->len + 2 * VARINT_MAX, e))
        return -1;
    w->block.len = (size_t)(pretoken_put(w->block.p + w->block.len, x) - w->block.p);
    return 0;
}

/* Moves to the source's next pretoken. 1; 0: there is none left; -1: error. */
static int advance(struct source *s, struct err *e)
{
    if (!s->spill)
        return sorted_table_next(s->table, &s->now);
    if (cursor_left(&s->in) == 0) {
        if (s->next_block == s->segment->n)
            return 0;
        s->block.len = 0;
        if (spill_read(s->spill, &s->segment->block[s->next_block++], &s->block, e))
            return -1;
        s->in = cursor_over(s->block.p, s->block.len);
    }
    s->now = pretoken_get(&s->in);
    return s->in.bad ? err_set(e, EX_IOERR, "a temporary file was damaged") : 1;
}

static bool before(const struct source *a, const struct source *b)
{
    return pretoken_compare(a->now.p, a->now.len, b->now.p, b->now.len) < 0;
}

static void sift_down(struct source **heap, size_t n, size_t i)
{
    struct source *s = heap[i];
    for (size_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && before(heap[kid + 1], heap[kid]))
            kid++;
        if (!before(heap[kid], s))
            break;
        heap[i] = heap[kid];
    }
    heap[i] = s;
}

/* Merges n sources, each positioned before its first pretoken. */
static int merge(struct source *source, size_t n, int (*take)(void *, const struct pretoken *, struct err *), void *ctx,
                 struct err *e)
{
    struct source *heap[MOST_AT_A_TIME + 1];
    struct buf held = {0}; /* the bytes of the pretoken whose counts are being added up */
    struct pretoken sum = {0};
    size_t live = 0;
    int rc = 0;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = advance(&source[i], e);
        if (rc > 0)
            heap[live++] = &source[i];
    }
    for (size_t i = live; i-- > 0 && rc >= 0;)
        sift_down(heap, live, i);
    bool any = false;
    while (live && rc >= 0) {
        const struct pretoken *w = &heap[0]->now;
        if (any && pretoken_compare(sum.p, sum.len, w->p, w->len) == 0) {
            if (__builtin_add_overflow(sum.count, w->count, &sum.count))
                rc = err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
        } else {
            if (any)
                rc = take(ctx, &sum, e);
            held.len = 0;
            if (rc >= 0)
                rc = buf_put(&held, w->p, w->len, e);
            sum = (struct pretoken){held.p, w->len, w->count};
            any = true;
        }
        if (rc >= 0)
            rc = advance(heap[0], e);
        if (rc == 0)
            heap[0] = heap[--live];
        if (rc >= 0 && live)
            sift_down(heap, live, 0);
    }
    if (rc >= 0 && any)
        rc = take(ctx, &sum, e);
    buf_free(&held);
    return rc < 0 ? -1 : 0;
}

/* Merges segment[0 .. n) and a sorted table. */
static int merge_segments(const struct spill *spill, const struct segment *segment, size_t n,
                          struct sorted_table *table, int (*take)(void *, const struct pretoken *, struct err *),
                          void *ctx, struct err *e)
{
    struct source *source = calloc(n + 1, sizeof *source);
    if (!source)
        return err_mem(e, "merging sorted segments", (n + 1) * sizeof *source);
    for (size_t i = 0; i < n; i++)
        source[i] = (struct source){.spill = spill, .segment = &segment[i]};
    source[n] = (struct source){.table = table};
    int rc = merge(source, n + 1, take, ctx, e);
    for (size_t i = 0; i < n; i++)
        buf_free(&source[i].block);
    free(source);
    return rc;
}

/* Adds one more segment to r, merged from those given and a sorted table. */
static int add_segment(struct external_merge *r, const struct spill *from, const struct segment *segment, size_t n,
                       struct sorted_table *table, struct err *e)
{
    if (array_grow(&r->segment, &r->cap, r->n + 1, sizeof *r->segment, "the sorted segments", e))
        return -1;
    r->segment[r->n] = (struct segment){0};
    struct segment_writer w = {.spill = &r->spill, .segment = &r->segment[r->n]};
    int rc = merge_segments(from, segment, n, table, write_pretoken, &w, e);
    if (rc == 0)
        rc = flush_block(&w, e);
    buf_free(&w.block);
    r->n++;
    return rc;
}

int external_merge_spill(struct external_merge *r, struct table *t, struct err *e)
{
    struct sorted_table sorted;
    sorted_table_init(&sorted, t);
    int rc = add_segment(r, NULL, NULL, 0, &sorted, e);
    r->n_spilled++;
    return rc;
}

/* Merges groups of segments into longer ones in a new file, so that the space of the old file can be freed. */
static int pass(struct external_merge *r, struct err *e)
{
    struct external_merge next = {.fan_in = r->fan_in, .n_spilled = r->n_spilled};
    struct sorted_table none = {0};
    spill_init(&next.spill, r->spill.dir);
    int rc = 0;
    for (size_t i = 0; i < r->n && rc == 0; i += r->fan_in) {
        size_t n = r->n - i < r->fan_in ? r->n - i : r->fan_in;
        rc = add_segment(&next, &r->spill, r->segment + i, n, &none, e);
    }
    external_merge_free(r);
    *r = next;
    return rc;
}

int external_merge_merge(struct external_merge *r, struct table *t,
                         int (*take)(void *ctx, const struct pretoken *w, struct err *e), void *ctx, struct err *e)
{
    struct sorted_table sorted;
    while (r->n > r->fan_in) {
        if (pass(r, e))
            return -1;
    }
    sorted_table_init(&sorted, t);
    if (r->n)
        return merge_segments(&r->spill, r->segment, r->n, &sorted, take, ctx, e);
    for (struct pretoken w; sorted_table_next(&sorted, &w);) {
        if (take(ctx, &w, e))
            return -1;
    }
    return 0;
}
