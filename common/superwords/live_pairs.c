/* live_pairs.c - see live_pairs.h. */
#include "superwords/live_pairs.h"

#include "base/sys/bytes.h"
#include "base/sys/hash.h"
#include "encode/ids.h"
#include "wire/sum_reader.h"

#include <stdlib.h>

struct counted_pair {
    struct id_pair pair;
    uint64_t count, hash;
};

/* The pairs as they are read. */
struct reading_pairs {
    struct counted_pair *pair; /* owned */
    size_t n, cap;
    uint64_t width;            /* of the first pair's ids; 0: none yet */
    const struct model *model; /* borrowed; NULL: none */
    uint64_t tokens, bytes;
    uint64_t slack; /* each pair may have occurred so often in addition */
};

/* Adds the tokens of a single id, and their bytes. */
static void add_single(struct reading_pairs *r, const struct pretoken *w)
{
    const uint32_t id = ids_get(w->p, w->len == 5);
    if (superword_is_slack(w->p, w->len)) {
        r->slack = w->count;
        return;
    }
    r->tokens += w->count;
    if (r->model && id < r->model->n_ids)
        r->bytes += w->count * r->model->token[id].len;
}

static int take(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct reading_pairs *r = ctx;
    if (array_grow(&r->pair, &r->cap, r->n + n, sizeof *r->pair, "the live pairs", e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (w[i].len % 2) {
            add_single(r, &w[i]);
            continue;
        }
        r->width = r->width ? r->width : w[i].len / 2;
        if (w[i].len != 2 * r->width || (r->width != 2 && r->width != 4))
            return err_set(e, EX_DATAERR, "not a list of live pairs; make one with bpe-merge --live");
        r->pair[r->n++] =
            (struct counted_pair){.pair = {ids_get(w[i].p, r->width == 4), ids_get(w[i].p + r->width, r->width == 4)},
                                  .count = w[i].count,
                                  .hash = hash_bytes(w[i].p, w[i].len, w[i].count)};
    }
    return 0;
}

/* Puts the live pairs into the set, or all of them; and sets their hash, in which order does not matter. */
static int make_set(struct live_pairs *l, const struct reading_pairs *r, bool all, struct err *e)
{
    const uint64_t floor = l->round.floor > r->slack ? l->round.floor - r->slack : 0;
    if (id_pairs_init(&l->pairs, r->n, e))
        return -1;
    l->round.live = (all ? l->round.least : l->round.floor) * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < r->n; i++) {
        const struct counted_pair *p = &r->pair[i];
        if (!all && p->count < floor)
            continue;
        id_pairs_put(&l->pairs, p->pair.left, p->pair.right);
        l->round.live += p->hash;
    }
    return 0;
}

int live_pairs_read(struct live_pairs *l, const char *path, const struct model *m, bool all, struct err *e)
{
    struct reading_pairs r = {.model = m};
    struct sum_reader sum;
    struct rules rules = {0};
    char *file = (char *)(uintptr_t)path;
    *l = (struct live_pairs){0};
    sum_reader_init(&sum, take, &r);
    int rc = sum_reader_read(&sum, &file, 1, false, &rules, e);
    if (!rc && (!rules.superwords.len || superword_round_get(&l->round, rules.superwords, e) ||
                l->round.words != SUPERWORDS_LIVE || (r.n && r.width != l->round.width)))
        rc = err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "not a list of live pairs; make one with bpe-merge --live");
    if (!rc)
        rc = make_set(l, &r, all, e);
    l->tokens = r.tokens;
    l->bytes = r.bytes;
    rules_free(&rules);
    sum_reader_free(&sum);
    free(r.pair);
    if (rc)
        live_pairs_free(l);
    return rc ? -1 : 0;
}

void live_pairs_free(struct live_pairs *l)
{
    id_pairs_free(&l->pairs);
    *l = (struct live_pairs){0};
}
