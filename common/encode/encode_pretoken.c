/* encode_pretoken.c - see encode_pretoken.h.
 *
 * The algorithm for a pretoken depends on its length and on how many there were before. At first, short ones are
 * encoded by merging from the bytes (below), and long ones by encode_long.c. After many of them it pays to make the
 * tables of encode_borders.c, which splits a pretoken, and of encode_backtrack.c, which encodes parts of up to
 * BACKTRACK_MAX bytes faster, if the model is suitable.
 */
#include "encode/encode_pretoken.h"

enum { SHORT = 64 }; /* bytes: longer pretokens are encoded by encode_long.c */

int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e)
{
    *w = (struct pretoken_encoder){0};
    return id_list_reserve(&w->out, BACKTRACK_MAX + 1, e) || merges_init(&w->merges, model, e) ? -1 : 0;
}

void pretoken_encoder_free(struct pretoken_encoder *w)
{
    id_list_free(&w->out);
    long_encoder_free(&w->by_rank);
    borders_free(&w->borders);
    backtrack_free(&w->backtrack);
    merges_free(&w->merges);
    *w = (struct pretoken_encoder){0};
}

/* Writes the tokens of p[0 .. n), n <= SHORT, to id; returns how many. The ranks of all neighbours are in one array,
 * which is searched for the lowest after each merge: that is quadratic, but the fastest for pretokens of about a dozen
 * bytes. */
static size_t encode_short(struct merges *m, const unsigned char *p, size_t n, uint32_t *id)
{
    uint32_t rank[SHORT];
    const uint32_t *byte_id = m->model->byte_id;
    for (size_t i = 0; i < n; i++)
        id[i] = byte_id[p[i]];
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = merges_rank(m, id[i], id[i + 1]);
    while (n > 1) {
        size_t best = 0;
        uint32_t least = rank[0];
        for (size_t i = 1; i + 1 < n; i++) {
            best = rank[i] < least ? i : best;
            least = rank[i] < least ? rank[i] : least;
        }
        if (least >= NO_MERGE)
            break;
        n--;
        id[best] = merges_result(m, least);
        for (size_t i = best + 1; i < n; i++)
            id[i] = id[i + 1];
        for (size_t i = best + 1; i + 1 < n; i++)
            rank[i] = rank[i + 1];
        if (best + 1 < n)
            rank[best] = merges_rank(m, id[best], id[best + 1]);
        if (best > 0)
            rank[best - 1] = merges_rank(m, id[best - 1], id[best]);
    }
    return n;
}

/* Appends the tokens of p[0 .. n). */
static int encode_part(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    bool backtrack = w->has_backtrack && n <= BACKTRACK_MAX;
    if (n > SHORT && !backtrack)
        return long_encode(&w->by_rank, &w->merges, p, n, &w->out, e);
    if (id_list_reserve(&w->out, n, e))
        return -1;
    uint32_t *id = w->out.id + w->out.n;
    w->out.n += backtrack ? backtrack_encode(&w->backtrack, &w->merges, p, n, id) : encode_short(&w->merges, p, n, id);
    return 0;
}

/* Appends the tokens of p[0 .. n), split where borders says. */
static int encode_parts(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    const uint32_t *byte_id = w->merges.model->byte_id;
    for (size_t some; n; p += some, n -= some) {
        some = borders_next(&w->borders, p, n);
        uint32_t known = some == 1 ? byte_id[p[0]] + 1 : some == 2 ? w->borders.pair[p[0] << 8 | p[1]] : BORDER_NONE;
        if (known == BORDER_NONE) {
            if (encode_part(w, p, some, e))
                return -1;
            continue;
        }
        if (w->out.n == w->out.cap && id_list_reserve(&w->out, 1, e))
            return -1;
        w->out.id[w->out.n++] = known - 1;
    }
    return 0;
}

int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    const struct model *model = w->merges.model;
    int64_t whole = model->ignore_merges ? merges_token(&w->merges, p, n) : -1;
    if (whole >= 0) {
        w->out.id[0] = (uint32_t)whole;
        w->out.n = 1;
        return 0;
    }
    if (++w->n_pretokens == model->n_ids / 4 &&
        (borders_init(&w->borders, &w->merges, e) || backtrack_init(&w->backtrack, &w->merges, &w->has_backtrack, e)))
        return -1;
    w->out.n = 0;
    return w->borders.pair ? encode_parts(w, p, n, e) : encode_part(w, p, n, e);
}
