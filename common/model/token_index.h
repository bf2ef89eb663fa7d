/* token_index.h - finds tokens by their bytes.
 *
 * It is used to read models, assign ids, convert and encode. A vocabulary has about 100,000 tokens and is read whenever
 * a program starts, so a token costs only 8 to 16 bytes and a few nanoseconds: tokens of up to 16 bytes, which means
 * almost all, are hashed and compared as two words, without a branch on the length. The hash is keyed, so that nobody
 * can make a vocabulary whose tokens collide.
 */
#ifndef BPE_MODEL_TOKEN_INDEX_H
#define BPE_MODEL_TOKEN_INDEX_H

#include "base/sys/err.h"
#include "base/sys/hash.h"
#include "base/sys/hash_index.h"
#include "base/sys/swar.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MODEL_PAD 16 /* bytes after a token's last one that must be readable (any content) */
#define MODEL_NO_ID UINT32_MAX

struct model_token {
    const unsigned char *p; /* the raw bytes; NULL: no token has this id */
    uint32_t len;
    bool vocab; /* in the model's vocabulary: a merge can make it or a pretoken can equal it; false: only an added
                   token, or unreachable (a key that is not in byte-to-unicode form) */
};

/* An index of an array of tokens, by their bytes and `vocab`. A zeroed index is empty. */
struct token_index {
    struct hash_index slots; /* its numbers are indexes in the array */
    uint64_t key[2];
};

/* Grows the index to hold n tokens. -1: out of memory. */
int token_index_grow(struct token_index *x, size_t n, struct err *e);
void token_index_free(struct token_index *x);

/* The len <= 16 bytes at p; the other bytes are 0. */
struct token_words {
    uint64_t w[2];
};

static inline struct token_words token_words(const unsigned char *p, size_t len)
{
    static const unsigned char keep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                           255, 255, 255, 255, 255, 255, 255, 255};
    const unsigned char *mask = keep + 16 - len;
    return (struct token_words){{swar_load(p) & swar_load(mask), swar_load(p + 8) & swar_load(mask + 8)}};
}

static inline bool token_is(const struct model_token *t, const unsigned char *p, size_t len, bool vocab)
{
    if (t->len != len || t->vocab != vocab)
        return false;
    if (len > 16)
        return !memcmp(t->p, p, len);
    struct token_words s = token_words(t->p, len), o = token_words(p, len);
    return s.w[0] == o.w[0] && s.w[1] == o.w[1];
}

__extension__ typedef unsigned __int128 token_u128;

static inline uint64_t token_mix(uint64_t a, uint64_t b)
{
    token_u128 v = (token_u128)a * b;
    return (uint64_t)v ^ (uint64_t)(v >> 64);
}

/* The hash of a token in the index. A caller that uses another hash (model_convert.c does) must use it for all. */
static inline uint32_t token_hash(const struct token_index *x, const unsigned char *p, size_t len, bool vocab)
{
    if (len > 16)
        return (uint32_t)hash_bytes(p, len, x->key[0] ^ vocab);
    struct token_words s = token_words(p, len);
    return (uint32_t)token_mix(token_mix(s.w[0] ^ x->key[0], x->key[1]) ^ s.w[1] ^ len << 1 ^ vocab, x->key[0] | 1);
}

/* The slot of this token, or the free slot where it belongs. MODEL_PAD bytes after p must be readable. */
static inline struct hash_slot *token_slot(const struct token_index *x, const struct model_token *array,
                                           const unsigned char *p, size_t len, bool vocab, uint32_t hash)
{
    struct hash_slot *s = hash_index_first(&x->slots, hash);
    while (s->n1 && !(s->hash == hash && token_is(&array[s->n1 - 1], p, len, vocab)))
        s = hash_index_next(&x->slots, s);
    return s;
}

/* The index of a token in the array, or MODEL_NO_ID. */
static inline uint32_t token_find(const struct token_index *x, const struct model_token *array, const unsigned char *p,
                                  size_t len, bool vocab)
{
    return token_slot(x, array, p, len, vocab, token_hash(x, p, len, vocab))->n1 - 1;
}

#endif
