/* token_pool.h - memory blocks for ids and marks. They are used again and again, so that the kernel need not give new
 * pages for each batch. */
#ifndef BPE_SHARD_STORE_TOKEN_POOL_H
#define BPE_SHARD_STORE_TOKEN_POOL_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_block {
    struct token_block *next; /* for whoever has it */
    size_t cap, len;          /* bytes: room, used */
    unsigned char p[];
};

struct token_pool {
    uint64_t limit; /* bytes: free blocks are kept while all together are fewer */
    uint64_t used, kept;
    size_t size[2];              /* of small and large blocks */
    struct token_block *free[2]; /* owned lists */
};

/* limit: bytes; blocks are smaller if it is small. */
void token_pool_init(struct token_pool *p, uint64_t limit);
void token_pool_free(struct token_pool *p); /* the free blocks; all others were put back */

/* A block, empty, with room for at least n bytes. large: rather a large one. NULL: out of memory. */
struct token_block *token_pool_get(struct token_pool *p, size_t n, bool large, struct err *e);
void token_pool_put(struct token_pool *p, struct token_block *b);

#endif
