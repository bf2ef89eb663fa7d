/* token_overflow.c - see token_overflow.h. */
#include "shard/store/token_overflow.h"

#include <stdlib.h>

/* Appends the next extent in order to the segment. */
static int store_next(struct token_batch *b, const struct token_extent *x, struct token_segments *s, struct err *e)
{
    uint64_t offset;
    if (!b->segment && token_segments_create(s, true, &b->segment, e))
        return -1;
    bool begins = !b->sequence.inside;
    if (token_segments_write(s, b->segment, x, &offset, e) || token_sequence_add(&b->sequence, x, b->width, e))
        return -1;
    if (begins)
        b->piece_offset = offset;
    b->bytes_stored += x->ids_len + x->marks_len;
    struct token_piece piece = {.span = x->span, .segment = b->segment, .offset = b->piece_offset};
    return x->last && x->span.begin < x->span.end ? token_batch_add_piece(b, &piece, e) : 0;
}

/* Appends an extent that is out of order to the loose file. */
static int store_loose(struct token_batch *b, const struct token_extent *x, struct token_segments *s, struct err *e)
{
    uint64_t offset;
    struct token_loose *last = b->n_loose ? &b->loose_at[b->n_loose - 1] : NULL;
    if ((!b->loose && token_segments_create(s, true, &b->loose, e)) || token_segments_write(s, b->loose, x, &offset, e))
        return -1;
    if (last && last->seq + last->n_records == x->seq) {
        last->n_records += x->n_records;
        return 0;
    }
    size_t before = b->cap_loose;
    if (array_grow(&b->loose_at, &b->cap_loose, b->n_loose + 1, sizeof *b->loose_at, "the list of records", e))
        return -1;
    b->memory += (b->cap_loose - before) * sizeof *b->loose_at;
    b->loose_at[b->n_loose++] = (struct token_loose){x->seq, x->n_records, offset};
    return 0;
}

int token_overflow_store(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e)
{
    token_batch_sort(b);
    for (size_t i = 0; i < b->n_extents; i++) {
        const struct token_extent *x = &b->extent[i];
        if (x->seq == b->sequence.seq ? store_next(b, x, s, e) : store_loose(b, x, s, e))
            return -1;
    }
    token_batch_release(b, pool);
    return 0;
}

static int by_seq(const void *a, const void *b)
{
    const struct token_loose *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Copies adjacent extents from the loose file to the segment. */
static int copy_loose(struct token_batch *b, const struct token_loose *from, struct token_segments *s, struct buf *data,
                      struct err *e)
{
    struct token_extent x;
    uint64_t offset = from->offset;
    for (uint64_t n = 0; n < from->n_records; n += x.n_records) {
        if (token_segments_read(s, b->loose, &offset, true, &x, data, e) || store_next(b, &x, s, e))
            return -1;
    }
    return 0;
}

int token_overflow_finish(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e)
{
    struct buf data = {0};
    size_t i = 0, k = 0;
    int rc = 0;
    token_batch_sort(b);
    if (b->n_loose)
        qsort(b->loose_at, b->n_loose, sizeof *b->loose_at, by_seq);
    while (rc == 0 && (i < b->n_extents || k < b->n_loose)) {
        bool memory = k == b->n_loose || (i < b->n_extents && b->extent[i].seq < b->loose_at[k].seq);
        rc = memory ? store_next(b, &b->extent[i++], s, e) : copy_loose(b, &b->loose_at[k++], s, &data, e);
    }
    buf_free(&data);
    if (rc)
        return -1;
    token_batch_release(b, pool);
    if (b->loose)
        token_segments_drop(s, b->loose);
    b->loose = 0;
    return 0;
}

void token_overflow_drop(struct token_batch *b, struct token_segments *s)
{
    if (b->loose)
        token_segments_drop(s, b->loose);
    if (b->segment)
        token_segments_drop(s, b->segment);
    b->loose = b->segment = 0;
}
