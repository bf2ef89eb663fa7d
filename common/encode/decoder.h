/* decoder.h - decodes ids: each id becomes the bytes of its token. */
#ifndef BPE_ENCODE_DECODER_H
#define BPE_ENCODE_DECODER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODER_MANY ((size_t)256 << 10) /* bytes of output after which decoder_put returns, to have them written */

struct decoder {
    const struct model *model;       /* borrowed */
    const struct model_token *token; /* by id: its decoded bytes; the model's, or `decoded` for a model of characters */
    struct model_token *decoded;     /* owned */
    struct buf text;                 /* the bytes of `decoded` */
    bool first;                      /* the next token is the first of a text */
    bool strip;                      /* leave out the next byte if it is a space */
    unsigned width;                  /* bytes of an id: 2 or 4 */
    struct decoder_slot *slot;       /* owned: the bytes of short tokens, by id */
    uint32_t n_slots;
};

/* Prepares decoding with a model, which is borrowed until decoder_free. -1: out of memory, or (EX_USAGE) the model does
 * not define how to decode. */
int decoder_init(struct decoder *d, const struct model *m, unsigned width, struct err *e);
void decoder_free(struct decoder *d); /* a zeroed decoder is fine */

/* Begins a text; in some models its first token loses a space. decoder_has_begin: whether the model is one of these. */
void decoder_begin(struct decoder *d);
bool decoder_has_begin(const struct decoder *d);

/* Appends the bytes of n ids, little-endian from p on, to `out`, until all are decoded, `out` has DECODER_MANY bytes or
 * more, or an id has no token. Returns the number of ids decoded: if that is less than n and `out` has fewer than
 * DECODER_MANY bytes, the next id has no token. -1: out of memory. */
ptrdiff_t decoder_put(struct decoder *d, const unsigned char *p, size_t n, struct buf *out, struct err *e);

#endif
