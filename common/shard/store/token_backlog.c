/* token_backlog.c - see token_backlog.h. */
#include "shard/store/token_backlog.h"

#include "base/sys/buf.h"

#include <stdbool.h>
#include <stdlib.h>

void token_backlog_free(struct token_backlog *b)
{
    free(b->at);
    *b = (struct token_backlog){0};
}

static bool before(const struct backlog_entry *x, const struct backlog_entry *y)
{
    return x->source != y->source ? x->source < y->source : x->begin < y->begin;
}

int token_backlog_put(struct token_backlog *b, const struct token_piece *piece, struct err *e)
{
    const struct backlog_entry x = {.begin = piece->span.begin,
                                    .place = piece->batch ? (uint64_t)(uintptr_t)piece : piece->offset,
                                    .source = (uint32_t)piece->span.source,
                                    .segment = piece->batch ? 0 : piece->segment};
    if (array_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at, "the list of pending pieces", e))
        return -1;
    size_t i = b->n++;
    for (; i && before(&x, &b->at[(i - 1) / 2]); i = (i - 1) / 2)
        b->at[i] = b->at[(i - 1) / 2];
    b->at[i] = x;
    return 0;
}

const struct backlog_entry *token_backlog_first(const struct token_backlog *b)
{
    return b->n ? &b->at[0] : NULL;
}

void token_backlog_pop(struct token_backlog *b)
{
    const struct backlog_entry x = b->at[--b->n];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < b->n; i = k) {
        if (k + 1 < b->n && before(&b->at[k + 1], &b->at[k]))
            k++;
        if (!before(&b->at[k], &x))
            break;
        b->at[i] = b->at[k];
    }
    b->at[i] = x;
}
