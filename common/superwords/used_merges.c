/* used_merges.c - see used_merges.h.
 *
 * A pretoken is cut between two bytes that are neighbors in no token: no merge crosses such a place, so the pieces can
 * be looked at one by one, and each distinct one only once.
 */
#include "superwords/used_merges.h"

#include "base/sys/buf.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct seen_piece {
    UT_hash_handle hh;
    size_t len;
    unsigned char p[];
};

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
    return merge_lookup_init(&u->merges, model, e);
}

void used_merges_free(struct used_merges *u)
{
    struct seen_piece *s, *next;
    HASH_ITER(hh, u->seen, s, next)
    {
        HASH_DEL(u->seen, s);
        free(s);
    }
    merge_lookup_free(&u->merges);
    free(u->used);
    free(u->id);
    *u = (struct used_merges){0};
}

/* Marks the merges of all neighbors. Returns the lowest rank; NO_MERGE: none merges. */
static uint32_t mark(struct used_merges *u, size_t n)
{
    uint32_t lowest = NO_MERGE;
    for (size_t i = 0; i + 1 < n; i++) {
        const uint32_t rank = merge_lookup_rank(&u->merges, u->id[i], u->id[i + 1]);
        if (rank != NO_MERGE)
            u->used[rank] = true;
        lowest = rank < lowest ? rank : lowest;
    }
    return lowest;
}

/* Replays the merges on the bytes p[0 .. n): each at all places, from the left. */
static int replay(struct used_merges *u, const unsigned char *p, size_t n, struct err *e)
{
    uint32_t rank;
    if (model_check_bytes(u->model, p, n, e) || array_grow(&u->id, &u->cap, n, sizeof *u->id, "a pretoken", e))
        return -1;
    for (size_t i = 0; i < n; i++)
        u->id[i] = u->model->byte_id[p[i]];
    while ((rank = mark(u, n)) != NO_MERGE) {
        const struct merge *m = &u->model->merge[rank];
        size_t to = 0;
        for (size_t i = 0; i < n; i++) {
            const bool is_pair = i + 1 < n && u->id[i] == m->left && u->id[i + 1] == m->right;
            u->id[to++] = is_pair ? m->result : u->id[i];
            i += is_pair;
        }
        n = to;
    }
    return 0;
}

static int add_piece(struct used_merges *u, const unsigned char *p, size_t n, struct err *e)
{
    struct seen_piece *s;
    if (n < 2)
        return 0;
    HASH_FIND(hh, u->seen, p, n, s);
    if (s)
        return 0;
    s = malloc(sizeof *s + n);
    if (!s)
        return err_mem(e, "a pretoken", n);
    s->len = n;
    memcpy(s->p, p, n);
    HASH_ADD_KEYPTR(hh, u->seen, s->p, n, s);
    if (!s->hh.tbl) {
        free(s);
        return err_mem(e, "a pretoken", n);
    }
    return replay(u, p, n, e);
}

int used_merges_add(struct used_merges *u, const struct pretoken *w, struct err *e)
{
    size_t begin = 0;
    for (size_t i = 1; i <= w->len; i++) {
        if (i < w->len && has_pair(u, w->p[i - 1], w->p[i]))
            continue;
        if (add_piece(u, w->p + begin, i - begin, e))
            return -1;
        begin = i;
    }
    return 0;
}
