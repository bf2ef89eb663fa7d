/* token_backlog.h - complete pieces that wait until those before them have arrived: a heap, ordered by source and
 * offset, of 24 bytes an entry. */
#ifndef BPE_SHARD_STORE_TOKEN_BACKLOG_H
#define BPE_SHARD_STORE_TOKEN_BACKLOG_H

#include "base/sys/err.h"
#include "shard/store/token_batch.h"

#include <stddef.h>
#include <stdint.h>

struct backlog_entry {
    uint64_t begin;
    uint64_t place;   /* offset in the segment; in memory: address of its struct token_piece */
    uint32_t source;  /* smaller than SOURCES_MAX */
    uint32_t segment; /* number of the segment; 0: in memory */
};

struct token_backlog {
    struct backlog_entry *at; /* owned: a binary heap */
    size_t n, cap;
};

void token_backlog_free(struct token_backlog *b); /* a zeroed one is fine */

/* Adds a piece; one in memory is *borrowed*. */
int token_backlog_put(struct token_backlog *b, const struct token_piece *piece, struct err *e);

/* The first piece in order; NULL if empty. */
const struct backlog_entry *token_backlog_first(const struct token_backlog *b);
void token_backlog_pop(struct token_backlog *b);

#endif
