/* token_memory.c - the memory of batches, for token_store.c: from a batch's first record until its ids are no longer in
 * use; and which ids move to segments when memory runs short.
 */
#include "shard/store/token_overflow.h"
#include "shard/store/token_store_internal.h"

#include <stdlib.h>

struct token_batch *token_store_open_batch(struct token_store *s, struct err *e)
{
    struct token_batch *b = calloc(1, sizeof *b);
    if (!b) {
        err_mem(e, "a batch", sizeof *b);
        return NULL;
    }
    b->next = s->batches;
    if (b->next)
        b->next->previous = b;
    s->batches = b;
    return b;
}

void token_store_close_batch(struct token_store *s, struct token_batch *b)
{
    *(b->previous ? &b->previous->next : &s->batches) = b->next;
    if (b->next)
        b->next->previous = b->previous;
    s->used -= b->memory;
    token_overflow_drop(b, &s->segments);
    token_batch_free(b, &s->pool);
}

void token_store_let_go(struct token_store *s, struct token_batch *b)
{
    if (--b->n_waiting)
        return;
    b->retired = b->lent;
    s->n_retired += b->retired;
    if (!b->retired)
        token_store_close_batch(s, b);
}

void token_store_close_spent(struct token_store *s)
{
    for (struct token_batch *b = s->batches, *next; s->n_retired && b; b = next) {
        next = b->next;
        s->n_retired -= b->retired;
        if (b->retired)
            token_store_close_batch(s, b);
    }
}

/* ---- To segments ---- */

/* Writes a piece that is in memory to a segment, and sets *piece's segment and offset. */
static int store_piece(struct token_store *s, struct token_piece *piece, struct err *e)
{
    struct token_batch *b = piece->batch;
    uint64_t offset;
    if (token_segments_current(&s->segments, &piece->segment, e))
        return -1;
    for (size_t i = 0; i < piece->n_extents; i++) {
        if (token_segments_write(&s->segments, piece->segment, &b->extent[piece->extent + i],
                                 i ? &offset : &piece->offset, e))
            return -1;
    }
    if (journal_piece_put(&s->pieces, piece, e))
        return -1;
    token_segments_hold(&s->segments, piece->segment, 1);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct backlog_entry *x = *(struct backlog_entry *const *)a, *y = *(struct backlog_entry *const *)b;
    return x->source != y->source ? (x->source < y->source ? -1 : 1) : (x->begin > y->begin) - (x->begin < y->begin);
}

int token_store_move_waiting(struct token_store *s, struct err *e)
{
    size_t n = 0;
    int rc = 0;
    for (size_t i = 0; i < s->backlog.n; i++)
        n += !s->backlog.at[i].segment;
    if (n == 0)
        return 0;
    struct backlog_entry **entry = malloc(n * sizeof(struct backlog_entry *));
    if (!entry)
        return err_mem(e, "the list of pending pieces", n * sizeof *entry);
    n = 0;
    for (size_t i = 0; i < s->backlog.n; i++) {
        if (!s->backlog.at[i].segment)
            entry[n++] = &s->backlog.at[i];
    }
    qsort(entry, n, sizeof *entry, by_place);
    for (size_t i = 0; i < n; i++) {
        struct token_piece *piece = (struct token_piece *)(uintptr_t)entry[i]->place;
        struct token_batch *b = piece->batch;
        if ((rc = store_piece(s, piece, e)) != 0)
            break;
        entry[i]->segment = piece->segment; /* does not change its position in the heap */
        entry[i]->place = piece->offset;
        token_store_let_go(s, b);
    }
    free(entry);
    return rc;
}

/* The open batch that uses the most memory; NULL if none uses any. */
static struct token_batch *largest(const struct token_store *s)
{
    struct token_batch *max = NULL;
    for (struct token_batch *b = s->batches; b; b = b->next) {
        if (b->n_waiting == 0 && !b->retired && b->n_extents && (!max || b->memory > max->memory))
            max = b;
    }
    return max;
}

int token_store_make_room(struct token_store *s, struct err *e)
{
    if (ledger_sweep(&s->ledger, e) || (s->used > s->memory / 2 && token_store_move_waiting(s, e)))
        return -1;
    for (struct token_batch *b; s->used > s->memory / 2 && (b = largest(s)) != NULL;) {
        size_t before = b->memory;
        int rc = token_overflow_store(b, &s->pool, &s->segments, e);
        s->used += b->memory - before;
        if (rc)
            return -1;
    }
    return 0;
}
