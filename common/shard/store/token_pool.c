/* token_pool.c - see token_pool.h. */
#include "shard/store/token_pool.h"

#include <stdlib.h>

enum { SMALL, LARGE, SMALL_SIZE = 16 << 10, LARGE_SIZE = 256 << 10, SIZE_MIN = 256 };

static size_t at_most(size_t size, uint64_t limit)
{
    return size < limit ? size : limit < SIZE_MIN ? SIZE_MIN : (size_t)limit;
}

void token_pool_init(struct token_pool *p, uint64_t limit)
{
    *p = (struct token_pool){.limit = limit};
    p->size[SMALL] = at_most(SMALL_SIZE, limit / 256);
    p->size[LARGE] = at_most(LARGE_SIZE, limit / 16);
}

void token_pool_free(struct token_pool *p)
{
    for (int i = SMALL; i <= LARGE; i++) {
        for (struct token_block *b; (b = p->free[i]) != NULL;) {
            p->free[i] = b->next;
            free(b);
        }
    }
}

struct token_block *token_pool_get(struct token_pool *p, size_t n, bool large, struct err *e)
{
    int i = large || n > p->size[SMALL] ? LARGE : SMALL;
    size_t cap = n > p->size[LARGE] ? n : p->size[i];
    struct token_block *b = cap == p->size[i] ? p->free[i] : NULL;
    if (b) {
        p->free[i] = b->next;
        p->kept -= cap;
    } else {
        b = malloc(sizeof *b + cap);
        if (!b) {
            err_mem(e, "token ids; give a smaller -S", cap);
            return NULL;
        }
        b->cap = cap;
    }
    p->used += cap;
    b->next = NULL;
    b->len = 0;
    return b;
}

void token_pool_put(struct token_pool *p, struct token_block *b)
{
    int i = b->cap == p->size[LARGE] ? LARGE : SMALL;
    p->used -= b->cap;
    if (b->cap != p->size[i] || p->used + p->kept + b->cap > p->limit) {
        free(b);
        return;
    }
    p->kept += b->cap;
    b->next = p->free[i];
    p->free[i] = b;
}
