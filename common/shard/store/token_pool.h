/* token_pool.h - memory blocks for ids and marks. They are reused, so that the kernel need not provide new pages for
 * each batch. */
#ifndef BPE_SHARD_STORE_TOKEN_POOL_H
#define BPE_SHARD_STORE_TOKEN_POOL_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_block {
    struct token_block *next; /* for the holder of the block */
    size_t cap, len;          /* bytes: capacity, used */
    unsigned char p[];
};

struct token_pool {
    uint64_t limit; /* bytes: a returned block is kept only if all blocks together do not exceed this */
    uint64_t used, kept;
    size_t size[2];              /* of small and large blocks */
    struct token_block *free[2]; /* owned lists */
};

/* limit: bytes; a small limit gives smaller blocks. */
void token_pool_init(struct token_pool *p, uint64_t limit);
void token_pool_free(struct token_pool *p); /* all other blocks must have been put back */

/* An empty block of at least n bytes. large: prefer a large block. NULL: out of memory. */
struct token_block *token_pool_get(struct token_pool *p, size_t n, bool large, struct err *e);
void token_pool_put(struct token_pool *p, struct token_block *b);

#endif
