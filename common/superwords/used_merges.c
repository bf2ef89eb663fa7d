/* used_merges.c - see used_merges.h.
 *
 * A pretoken is cut between two bytes that are neighbors in no token: no merge crosses such a place, so it suffices to
 * replay the merges on each distinct piece.
 */
#include "superwords/used_merges.h"

#include "base/sys/buf.h"

#include <stdlib.h>

#define STALE (NO_MERGE - 1) /* the rank of a pair that has not been looked up */

static bool has_pair(const struct used_merges *u, unsigned char a, unsigned char b)
{
    const unsigned pair = (unsigned)a << 8 | b;
    return u->pair[pair / 64] >> pair % 64 & 1;
}

int used_merges_init(struct used_merges *u, const struct model *model, struct err *e)
{
    *u = (struct used_merges){.model = model, .used = calloc(model->n_merges + 1, sizeof *u->used)};
    if (!u->used)
        return err_mem(e, "the merges", model->n_merges);
    for (size_t k = 0; k < model->n_merges; k++) {
        const struct model_token *t = &model->token[model->merge[k].result];
        for (uint32_t i = 0; i + 1 < t->len; i++) {
            const unsigned pair = (unsigned)t->p[i] << 8 | t->p[i + 1];
            u->pair[pair / 64] |= (uint64_t)1 << pair % 64;
        }
    }
    return table_init(&u->pieces, e) || merge_lookup_init(&u->merges, model, e) ? -1 : 0;
}

void used_merges_free(struct used_merges *u)
{
    table_free(&u->pieces);
    merge_lookup_free(&u->merges);
    free(u->used);
    free(u->end);
    free(u->id);
    free(u->rank);
    *u = (struct used_merges){0};
}

/* Looks up the stale pairs of n tokens, and marks their merges. Returns the lowest rank; NO_MERGE: none merges. */
static uint32_t mark(struct used_merges *u, size_t n)
{
    uint32_t lowest = NO_MERGE;
    for (size_t i = 0; i + 1 < n; i++) {
        if (u->rank[i] == STALE) {
            u->rank[i] = merge_lookup_rank(&u->merges, u->id[i], u->id[i + 1]);
            if (u->rank[i] != NO_MERGE)
                u->used[u->rank[i]] = true;
        }
        lowest = u->rank[i] < lowest ? u->rank[i] : lowest;
    }
    return lowest;
}

/* Replays the merges on the bytes of a piece: each at all places, from the left. */
static int replay(struct used_merges *u, const struct pretoken *w, struct err *e)
{
    size_t n = w->len;
    uint32_t rank;
    if (model_check_bytes(u->model, w->p, n, e) || array_grow(&u->id, &u->cap_id, n, sizeof *u->id, "a pretoken", e) ||
        array_grow(&u->rank, &u->cap_rank, n, sizeof *u->rank, "a pretoken", e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        u->id[i] = u->model->byte_id[w->p[i]];
        u->rank[i] = STALE;
    }
    while ((rank = mark(u, n)) != NO_MERGE) {
        const struct merge *m = &u->model->merge[rank];
        size_t to = 0;
        for (size_t i = 0; i < n; i++, to++) {
            const bool is_pair = i + 1 < n && u->id[i] == m->left && u->id[i + 1] == m->right;
            u->id[to] = is_pair ? m->result : u->id[i];
            u->rank[to] = is_pair ? STALE : u->rank[i];
            if (is_pair && to)
                u->rank[to - 1] = STALE;
            i += is_pair;
        }
        n = to;
    }
    return 0;
}

int used_merges_add(struct used_merges *u, const struct pretoken *w, struct err *e)
{
    size_t n = 0;
    if (array_grow(&u->end, &u->cap_end, w->len, sizeof *u->end, "a pretoken", e))
        return -1;
    for (size_t i = 1; i <= w->len; i++)
        if (i == w->len || !has_pair(u, w->p[i - 1], w->p[i]))
            u->end[n++] = (uint32_t)i;
    return table_add_ends(&u->pieces, w->p, 0, u->end, n, e);
}

int used_merges_find(struct used_merges *u, struct err *e)
{
    struct pretoken w;
    for (size_t at = 0; table_next(&u->pieces, &at, &w);)
        if (replay(u, &w, e))
            return -1;
    return 0;
}
