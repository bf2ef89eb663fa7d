/* decoder.c - see decoder.h.
 *
 * Nearly all tokens of a text have at most 15 bytes. A table has these by id, each in 16 bytes: the token, then its
 * length. So an id costs the load of 16 bytes, which are mostly in the first or second cache, the store of all 16, and
 * an addition: the next token overwrites what follows this one. Length 0 leads to the model's own array of tokens: this
 * one is longer, or empty, or there is none.
 */
#include "encode/decoder.h"

#include "base/sys/bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 15,  /* bytes of a token that the table has */
    STEP = 4096, /* ids for whose tokens room is made at once */
};

struct decoder_slot {
    unsigned char token[SHORT], len;
};

int decoder_init(struct decoder *d, const struct model *m, unsigned width, struct err *e)
{
    _Static_assert((int)SHORT <= (int)MODEL_PAD, "as many bytes of a token can be read, however long it is");
    /* For ids of 2 bytes the table has a slot for any value, so that none need be compared with their number. Slots
     * after the model's last id are never written, and so take no memory. */
    uint32_t n = width == 2 ? 65536 : m->n_ids;
    *d = (struct decoder){.model = m, .width = width, .n_slots = n};
    d->slot = calloc(n, sizeof *d->slot);
    if (!d->slot)
        return err_mem(e, "the tokens", n * sizeof *d->slot);
    for (uint32_t id = 0; id < n && id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->p || t->len > SHORT)
            continue;
        memcpy(d->slot[id].token, t->p, SHORT);
        d->slot[id].len = (unsigned char)t->len;
    }
    return 0;
}

void decoder_free(struct decoder *d)
{
    free(d->slot);
    *d = (struct decoder){0};
}

/* Appends the short tokens of n ids, for which there is room, up to the first id that has none. Returns how many it
 * has appended. Constant `width` makes it two functions. */
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
    const struct model *m = d->model;
    if (id >= m->n_ids || !m->token[id].p)
        return 0;
    return buf_put(out, m->token[id].p, m->token[id].len, e) ? -1 : 1;
}

ptrdiff_t decoder_put(const struct decoder *d, const unsigned char *p, size_t n, struct buf *out, struct err *e)
{
    size_t i = 0;
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
