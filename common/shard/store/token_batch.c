/* token_batch.c - see token_batch.h. */
#include "shard/store/token_batch.h"

#include "base/sys/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 64 << 10 }; /* a batch takes small blocks until it has this many bytes of ids (or marks) */

/* Room for n bytes in the first block of a list; adds a block if necessary. NULL: out of memory. */
static unsigned char *room(struct token_batch *b, struct token_block **list, size_t n, struct token_pool *pool,
                           struct err *e)
{
    struct token_block *block = *list;
    if (!block || block->cap - block->len < n) {
        size_t have = 0;
        for (const struct token_block *x = block; x && have < FEW; x = x->next)
            have += x->len;
        block = token_pool_get(pool, n, have >= FEW, e);
        if (!block)
            return NULL;
        b->memory += block->cap;
        block->next = *list;
        *list = block;
    }
    return block->p + block->len;
}

/* Whether a record continues an extent whose bytes end where those of the record will be appended. */
static bool continues(const struct token_batch *b, const struct token_extent *x, const struct tokens *t,
                      const unsigned char *marks, const unsigned char *ids)
{
    return x->seq + x->n_records == t->in.seq && x->span.begin == t->begin && x->span.source == t->source &&
           x->span.end == t->end && !x->last && x->first + x->ids_len / b->width == t->first &&
           x->marks + x->marks_len == marks && x->ids + x->ids_len == ids;
}

static struct token_extent *new_extent(struct token_batch *b, const struct tokens *t, unsigned char *marks,
                                       unsigned char *ids, struct err *e)
{
    size_t before = b->cap_extents;
    if (array_grow(&b->extent, &b->cap_extents, b->n_extents + 1, sizeof *b->extent, "the list of records", e))
        return NULL;
    b->memory += (b->cap_extents - before) * sizeof *b->extent;
    struct token_extent *x = &b->extent[b->n_extents++];
    if (b->span.begin == b->span.end)
        b->span = (struct token_span){t->source, t->begin, t->end};
    *x = (struct token_extent){
        .seq = t->in.seq, .span = {t->source, t->begin, t->end}, .first = t->first, .marks = marks, .ids = ids};
    return x;
}

int token_batch_put(struct token_batch *b, struct token_pool *pool, const struct tokens *t, struct err *e)
{
    if (b->width == 0) {
        b->width = (unsigned)t->width;
        b->model = t->model;
    }
    if (b->width != t->width || b->model != t->model)
        return err_set(e, EX_DATAERR, "a batch with token records of several models");
    size_t max = 2 * VARINT_MAX + t->marks.len;
    unsigned char *marks = room(b, &b->marks, max, pool, e),
                  *ids = marks ? room(b, &b->ids, t->ids.len, pool, e) : NULL;
    if (!ids)
        return -1;
    struct token_extent *x = b->n_extents ? &b->extent[b->n_extents - 1] : NULL;
    if (!x || !continues(b, x, t, marks, ids))
        x = new_extent(b, t, marks, ids, e);
    if (!x)
        return -1;
    size_t len = varint_put(marks, t->ids.len / t->width);
    len += varint_put(marks + len, t->n_marks);
    if (t->marks.len)
        memcpy(marks + len, t->marks.p, t->marks.len);
    if (t->ids.len)
        memcpy(ids, t->ids.p, t->ids.len);
    len += t->marks.len;
    b->marks->len += len;
    b->ids->len += t->ids.len;
    b->bytes += t->ids.len + len;
    x->marks_len += len;
    x->ids_len += t->ids.len;
    x->n_marks += t->n_marks;
    x->n_records++;
    x->last = t->last;
    x->tail = t->tail;
    return 0;
}

/* ---- All records have arrived ---- */

int token_sequence_add(struct token_sequence *q, const struct token_extent *x, unsigned width, struct err *e)
{
    bool follows = q->inside ? token_span_equal(&q->span, &x->span) && x->first == q->first : x->first == 0;
    bool empty = x->span.begin == x->span.end; /* of a source without bytes */
    if (!follows || x->seq != q->seq || (empty && (x->ids_len || x->n_marks)))
        return err_set(e, EX_DATAERR, "source %llu, bytes %llu-%llu: a batch whose token records are not consecutive",
                       (unsigned long long)x->span.source, (unsigned long long)x->span.begin,
                       (unsigned long long)x->span.end);
    q->seq += x->n_records;
    q->inside = !x->last;
    q->span = x->span;
    q->first = x->first + x->ids_len / width;
    return 0;
}

static int by_seq(const void *a, const void *b)
{
    const struct token_extent *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

void token_batch_sort(struct token_batch *b)
{
    for (size_t i = 1; i < b->n_extents; i++) {
        if (b->extent[i].seq < b->extent[i - 1].seq) {
            qsort(b->extent, b->n_extents, sizeof *b->extent, by_seq);
            return;
        }
    }
}

int token_batch_add_piece(struct token_batch *b, const struct token_piece *piece, struct err *e)
{
    size_t before = b->cap_pieces;
    if (array_grow(&b->piece, &b->cap_pieces, b->n_pieces + 1, sizeof *b->piece, "the list of pieces", e))
        return -1;
    b->memory += (b->cap_pieces - before) * sizeof *b->piece;
    b->piece[b->n_pieces++] = *piece;
    return 0;
}

int token_batch_find_pieces(struct token_batch *b, struct err *e)
{
    token_batch_sort(b);
    for (size_t i = 0, begin = 0; i < b->n_extents; i++) {
        const struct token_extent *x = &b->extent[i];
        begin = x->first == 0 && !b->sequence.inside ? i : begin;
        if (token_sequence_add(&b->sequence, x, b->width, e))
            return -1;
        struct token_piece piece = {.span = x->span, .batch = b, .extent = begin, .n_extents = i + 1 - begin};
        if (x->last && x->span.begin < x->span.end && token_batch_add_piece(b, &piece, e))
            return -1;
    }
    return 0;
}

static int compare_places(uint64_t source_a, uint64_t a, uint64_t source_b, uint64_t b)
{
    return source_a != source_b ? (source_a < source_b ? -1 : 1) : (a > b) - (a < b);
}

static int pieces_by_place(const void *a, const void *b)
{
    const struct token_span *x = &((const struct token_piece *)a)->span, *y = &((const struct token_piece *)b)->span;
    return compare_places(x->source, x->begin, y->source, y->begin);
}

static int ranges_by_place(const void *a, const void *b)
{
    const struct commit_range *x = a, *y = b;
    return compare_places(x->source, x->begin, y->source, y->begin);
}

/* Whether the pieces tile the ranges and no ranges overlap; both are sorted. */
static bool tile(const struct token_piece *piece, size_t n_pieces, const struct commit_range *r, size_t n_ranges)
{
    for (size_t i = 0; i < n_ranges; i++) {
        if (i && r[i].source == r[i - 1].source && r[i].begin < r[i - 1].end)
            return false;
        for (uint64_t at = r[i].begin; at < r[i].end; at = (piece++)->span.end) {
            if (n_pieces-- == 0 || piece->span.source != r[i].source || piece->span.begin != at ||
                piece->span.end > r[i].end)
                return false;
        }
    }
    return n_pieces == 0;
}

int token_batch_check_ranges(struct token_batch *b, const struct commit_run *r, struct err *e)
{
    struct commit_range *range = malloc((r->n_ranges + 1) * sizeof *range);
    if (!range)
        return err_mem(e, "the ranges of a batch", r->n_ranges * sizeof *range);
    if (r->n_ranges)
        memcpy(range, r->range, r->n_ranges * sizeof *range);
    qsort(range, r->n_ranges, sizeof *range, ranges_by_place);
    if (b->n_pieces)
        qsort(b->piece, b->n_pieces, sizeof *b->piece, pieces_by_place);
    bool good = !b->sequence.inside && tile(b->piece, b->n_pieces, range, r->n_ranges);
    free(range);
    return good ? 0 : err_set(e, EX_DATAERR, "a batch of tokens whose pieces do not match the ranges in its commit");
}

/* ---- The end ---- */

static void put_blocks(struct token_block **list, struct token_pool *pool)
{
    for (struct token_block *b; (b = *list) != NULL;) {
        *list = b->next;
        token_pool_put(pool, b);
    }
}

void token_batch_release(struct token_batch *b, struct token_pool *pool)
{
    put_blocks(&b->ids, pool);
    put_blocks(&b->marks, pool);
    free(b->extent);
    b->extent = NULL;
    b->n_extents = b->cap_extents = 0;
    b->bytes = 0;
    b->memory = b->cap_pieces * sizeof *b->piece + b->cap_loose * sizeof *b->loose_at;
}

void token_batch_free(struct token_batch *b, struct token_pool *pool)
{
    token_batch_release(b, pool);
    free(b->loose_at);
    free(b->piece);
    free(b);
}
