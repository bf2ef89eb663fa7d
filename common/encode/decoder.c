/* decoder.c - see decoder.h.
 *
 * Nearly all tokens of a text have at most 15 bytes. A table has these by id, in 16 bytes each: the token, then its
 * length. So an id costs a load of 16 bytes, usually from the first-level or second-level cache, a store of all 16, and
 * an addition; the next token overwrites the bytes after this one. Length 0 refers to the model's own array of tokens:
 * this token is longer, empty or missing.
 */
#include "encode/decoder.h"

#include "base/sys/bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 15,  /* maximum bytes of a token in the table */
    STEP = 4096, /* ids whose tokens get memory with one call */
};

struct decoder_slot {
    unsigned char token[SHORT], len;
};

/* Decodes each token of a model of characters once, in advance. */
static int decode_tokens(struct decoder *d, struct err *e)
{
    const struct model *m = d->model;
    size_t room = MODEL_PAD;
    if (m->decoding.unknown)
        return err_set(e, EX_USAGE,
                       "the model has no decoder; Hugging Face then puts a space between tokens, which is "
                       "not supported");
    for (uint32_t id = 0; id < m->n_ids; id++)
        room += (size_t)m->token[id].len * METASPACE_LEN;
    d->token = d->decoded = calloc((size_t)m->n_ids + 1, sizeof *d->decoded);
    if (!d->decoded)
        return err_mem(e, "the tokens", m->n_ids * sizeof *d->decoded);
    if (buf_reserve(&d->text, room, e)) /* so that the bytes do not move */
        return -1;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const size_t from = d->text.len;
        if (!m->token[id].p)
            continue;
        if (model_decode(m, id, false, &d->text, e))
            return -1;
        d->decoded[id] = (struct model_token){.p = d->text.p + from, .len = (uint32_t)(d->text.len - from)};
    }
    return 0;
}

int decoder_init(struct decoder *d, const struct model *m, unsigned width, struct err *e)
{
    _Static_assert((int)SHORT <= (int)MODEL_PAD, "as many bytes of a token can be read, however long it is");
    /* For ids of 2 bytes the table has a slot for every value, so no id must be compared with the number of slots.
     * Slots after the model's last id are never written, so they take no memory. */
    uint32_t n = width == 2 ? 65536 : m->n_ids;
    *d = (struct decoder){.model = m, .token = m->token, .width = width, .n_slots = n};
    if (model_of_characters(m) && decode_tokens(d, e))
        return -1;
    d->slot = calloc(n, sizeof *d->slot);
    if (!d->slot)
        return err_mem(e, "the tokens", n * sizeof *d->slot);
    for (uint32_t id = 0; id < n && id < m->n_ids; id++) {
        const struct model_token *t = &d->token[id];
        if (!t->p || t->len > SHORT)
            continue;
        memcpy(d->slot[id].token, t->p, SHORT);
        d->slot[id].len = (unsigned char)t->len;
    }
    decoder_begin(d);
    return 0;
}

void decoder_begin(struct decoder *d)
{
    d->first = model_of_characters(d->model);
    d->strip = d->first && d->model->decoding.strip;
}

bool decoder_has_begin(const struct decoder *d)
{
    return d->model->decoding.strip || d->model->decoding.strip_token;
}

void decoder_free(struct decoder *d)
{
    free(d->slot);
    free(d->decoded);
    buf_free(&d->text);
    *d = (struct decoder){0};
}

/* Appends the short tokens of n ids, up to the first id without one; `out` has enough memory. Returns how many it
 * appended. The constant `width` makes it two functions. */
static inline size_t put_short(const struct decoder *d, const unsigned char *p, size_t n, unsigned width,
                               struct buf *out)
{
    const struct decoder_slot *const slot = d->slot;
    const uint32_t n_slots = d->n_slots;
    unsigned char *to = out->p + out->len;
    size_t i = 0;
    for (; i < n; i++) {
        uint32_t id = load_le(p + i * width, width);
        if (width > 2 && id >= n_slots)
            break;
        size_t len = slot[id].len;
        memcpy(to, &slot[id], sizeof slot[id]);
        if (!len)
            break;
        to += len;
    }
    out->len = (size_t)(to - out->p);
    return i;
}

/* Appends a token of any length. 1: done; 0: the id has none; -1: out of memory. */
static int put_any(const struct decoder *d, uint32_t id, struct buf *out, struct err *e)
{
    if (id >= d->model->n_ids || !d->token[id].p)
        return 0;
    return buf_put(out, d->token[id].p, d->token[id].len, e) ? -1 : 1;
}

/* The same for the first token of a text. */
static int put_first(struct decoder *d, uint32_t id, struct buf *out, struct err *e)
{
    const size_t from = out->len;
    if (id >= d->model->n_ids || !d->token[id].p)
        return 0;
    if (model_decode(d->model, id, d->first, out, e))
        return -1;
    const bool empty = out->len == from;
    if (d->strip && !empty && out->p[from] == ' ')
        memmove(out->p + from, out->p + from + 1, --out->len - from);
    d->first = false;
    d->strip = d->strip && empty;
    return 1;
}

ptrdiff_t decoder_put(struct decoder *d, const unsigned char *p, size_t n, struct buf *out, struct err *e)
{
    size_t i = 0;
    while (i < n && (d->first || d->strip)) {
        int any = put_first(d, load_le(p + i * d->width, d->width), out, e);
        if (any <= 0)
            return any < 0 ? -1 : (ptrdiff_t)i;
        i++;
    }
    while (i < n && out->len < DECODER_MANY) {
        const unsigned char *from = p + i * d->width;
        size_t max = n - i < STEP ? n - i : STEP;
        if (buf_reserve(out, max * SHORT + sizeof(struct decoder_slot), e))
            return -1;
        size_t done = d->width == 2 ? put_short(d, from, max, 2, out) : put_short(d, from, max, 4, out);
        i += done;
        if (done == max)
            continue;
        int any = put_any(d, load_le(from + done * d->width, d->width), out, e);
        if (any < 0)
            return -1;
        if (any == 0)
            break;
        i++;
    }
    return (ptrdiff_t)i;
}
