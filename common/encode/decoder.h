/* decoder.h - from ids back to bytes: each id becomes the bytes of its token. */
#ifndef BPE_ENCODE_DECODER_H
#define BPE_ENCODE_DECODER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODER_MANY ((size_t)256 << 10) /* bytes of output after which decoder_put returns, so that they are written */

struct decoder {
    const struct model *model;       /* borrowed */
    const struct model_token *token; /* by id: what it decodes to; the model's, or, of a model of characters, */
    struct model_token *decoded;     /* owned */
    struct buf text;                 /* their bytes */
    bool first;                      /* the next token is the first of a text */
    bool strip;                      /* a space that comes next is left out */
    unsigned width;                  /* bytes of an id: 2 or 4 */
    struct decoder_slot *slot;       /* owned: the bytes of short tokens, by id */
    uint32_t n_slots;
};

/* Prepares decoding by a model, which must live as long as the decoder. -1: out of memory, or (EX_USAGE) the model does
 * not say how. */
int decoder_init(struct decoder *d, const struct model *m, unsigned width, struct err *e);
void decoder_free(struct decoder *d); /* a zeroed decoder is fine */

/* A text begins: of some models its first token loses a space. Whether that is so. */
void decoder_begin(struct decoder *d);
bool decoder_has_begin(const struct decoder *d);

/* Appends to `out` the bytes of n ids, little-endian from p on, until they are done, `out` has DECODER_MANY bytes or
 * more, or an id has no token. Returns how many ids were decoded: if fewer than n, and `out` has less than
 * DECODER_MANY, the next id has no token. -1: out of memory. */
ptrdiff_t decoder_put(struct decoder *d, const unsigned char *p, size_t n, struct buf *out, struct err *e);

#endif
