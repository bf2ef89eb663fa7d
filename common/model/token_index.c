/* token_index.c - see token_index.h. */
#include "model/token_index.h"

int token_index_grow(struct token_index *x, size_t n, struct err *e)
{
    if (!x->key[0]) {
        x->key[0] = hash_secret();
        x->key[1] = hash_bytes(&x->key[0], sizeof x->key[0], x->key[0]) | 1;
    }
    return hash_index_grow(&x->slots, n, "the table of tokens", e);
}

void token_index_free(struct token_index *x)
{
    hash_index_free(&x->slots);
}
