/* vocab.h - the tokens of a model: how each is written, and its id. Shared by the writers behind model.h.
 *
 * The GPT-2 byte-to-unicode map writes any bytes as readable UTF-8: the 188 bytes 21-7E, A1-AC and AE-FF as the code
 * point of their value, the other 68, in increasing order, as U+0100, U+0101, ... (a space is U+0120). What a token
 * looks like under this map is its spelling. Byte order below means: by that code point, which gives "!" id 0 and a
 * space id 220.
 *
 * Hugging Face keeps the vocabulary as a map by string, and so does vocab.json. A string that comes up twice (a special
 * token that looks like a byte or a merged token; a token that two merges make) is held once: both have the same id, a
 * special token's if one is among them, and no id is left unused.
 */
#ifndef BPE_FORMATS_VOCAB_H
#define BPE_FORMATS_VOCAB_H

#include "formats/trained.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

enum vocab_text {
    VOCAB_SPELLED, /* special tokens as they are, all else as spelled */
    VOCAB_RAW,     /* the bytes themselves; special tokens are left out, as they live in another map */
};

struct vocab_token {
    const unsigned char *p; /* borrowed: from the vocab or, a special token, from the model */
    size_t len;
    uint32_t first; /* index in token[] of the first one of the same text: most often its own */
    uint32_t id;
};

struct vocab {
    struct vocab_token *token; /* [0 .. n_special) special tokens, [n_special + s] symbol s */
    size_t n_special;
    uint32_t *by_id; /* [0 .. n_ids) index in token[] of the first one that has this id */
    size_t n_ids;
    unsigned char *text; /* all symbols, one after the other */
};

/* Fills *v, to be freed after success. The model is borrowed. -1: out of memory, or (EX_USAGE) 2^32 tokens or more. */
int vocab_init(struct vocab *v, const struct trained *m, enum vocab_text text, struct err *e);
void vocab_free(struct vocab *v);

static inline const struct vocab_token *vocab_symbol(const struct vocab *v, uint32_t symbol)
{
    return &v->token[v->n_special + symbol];
}

#endif
