/* super_encoder.c - see super_encoder.h. */
#include "encode/super_encoder.h"

#include <string.h>

enum {
    PIECES_ENOUGH = ENCODER_BATCH / 2, /* pieces that are encoded together, at least; at most ENCODER_BATCH */
};

int super_encoder_init(struct super_encoder *s, const struct model *m, size_t first, bool wide, struct err *e)
{
    memset(s, 0, sizeof *s); /* a compound literal would lie on the stack */
    s->stage = *m;
    s->stage.n_merges = first;
    s->one_stage = first == m->n_merges;
    s->ids.wide = s->one_stage ? wide : model_id_bytes(m) > sizeof(uint16_t);
    memset(s->cut, 1, sizeof s->cut);
    for (size_t i = 0; i < first; i++) {
        const struct model_token *t = &m->token[m->merge[i].result];
        for (size_t k = 0; k + 1 < t->len; k++) {
            uint16_t two;
            memcpy(&two, t->p + k, sizeof two);
            s->cut[two] = 0;
        }
    }
    return s->one_stage ? 0 : superwords_init(&s->second, m, first, s->ids.wide, wide, e);
}

void super_encoder_free(struct super_encoder *s)
{
    superwords_free(&s->second);
    ids_free(&s->ids);
    id_borders_free(&s->borders);
}

/* Writes the cuts in text[from .. to), before byte `from` or later. Returns how many; at most to - from. */
static size_t find_cuts(const unsigned char *cut, const unsigned char *text, size_t from, size_t to, uint32_t *ends)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        uint16_t two;
        memcpy(&two, text + i - 1, sizeof two);
        ends[n] = (uint32_t)i;
        n += cut[two];
    }
    return n;
}

/* The first stage: appends the ids of the pieces and, if borders is not NULL, the ends of pretokens. */
static int encode_batch(const struct pieces *b, struct cached_encoder *pieces, const unsigned char *text, size_t start,
                        struct ids *ids, struct id_borders *borders, struct err *e)
{
    size_t border = 0, found;
    for (size_t done = 0; done < b->n; start = b->end[done + found - 1], done += found) {
        if (cached_encoder_find(pieces, text, start, b->end + done, b->n - done, &found, e))
            return -1;
        for (size_t i = 0, to; i < found; i = to) {
            bool closes = border < b->n_borders && b->border[border] <= done + found;
            to = closes ? b->border[border] - done : found;
            if (cached_encoder_put(pieces, text, start, b->end + done, i, to - i, ids, e) ||
                (closes && borders && id_borders_put(borders, ids->n, e)))
                return -1;
            border += closes;
        }
    }
    return 0;
}

/* Passes the ids of the first stage on to the second. */
static int pass_on(struct super_encoder *s, struct ids *ids, struct id_borders *borders, struct err *e)
{
    for (size_t i = 0; s->ends && i < s->borders.n; i++)
        if (id_borders_put(s->ends, s->n_passed + s->borders.at[i], e))
            return -1;
    s->n_passed += s->ids.n;
    int rc = superwords_encode(&s->second, &s->ids, &s->borders, ids, borders, e);
    s->n_passed -= s->ids.n;
    return rc;
}

int super_encoder_pretokens(struct super_encoder *s, struct cached_encoder *pieces, const unsigned char *text,
                            size_t start, const uint32_t *ends, size_t n, struct ids *ids, struct id_borders *borders,
                            struct err *e)
{
    struct pieces *b = &s->pieces;
    size_t at = start, begin = start; /* searched up to here; the start of the pretoken */
    for (size_t k = 0; k < n;) {
        b->n = b->n_borders = 0;
        while (k < n && b->n < PIECES_ENOUGH) {
            const size_t room = ENCODER_BATCH - 1 - b->n, to = ends[k] - at < room ? ends[k] : at + room;
            b->n += find_cuts(s->cut, text, at == begin ? at + 1 : at, to, b->end + b->n);
            at = to;
            if (at == ends[k]) {
                b->end[b->n++] = (uint32_t)at;
                b->border[b->n_borders++] = b->n;
                begin = at;
                k++;
            }
        }
        if (s->one_stage ? encode_batch(b, pieces, text, start, ids, borders, e)
                         : encode_batch(b, pieces, text, start, &s->ids, &s->borders, e) || pass_on(s, ids, borders, e))
            return -1;
        start = b->end[b->n - 1];
    }
    return 0;
}
