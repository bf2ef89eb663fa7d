/* frequent_pairs.c - see frequent_pairs.h. */
#include "superwords/frequent_pairs.h"

#include "encode/superwords.h"
#include "superwords/live_pairs.h"
#include "superwords/superword_model.h"

#include <stdlib.h>

enum {
    BITS_PER_PAIR = 16, /* of the filter, at least */
    MIN_BITS = 12,
    MAX_BITS = 31,
};

/* Odd constants: the fractional parts of the golden ratio and of the square root of two. */
static uint32_t hash_left(uint32_t id)
{
    return (uint32_t)(id * 0x9E3779B97F4A7C15u >> 32);
}

static uint32_t hash_right(uint32_t id)
{
    return (uint32_t)(id * 0x6A09E667F3BCC909u >> 32);
}

static int make_filter(struct frequent_pairs *f, const struct id_pairs *pairs, struct err *e)
{
    unsigned bits = MIN_BITS;
    while (bits < MAX_BITS && (size_t)1 << bits < BITS_PER_PAIR * pairs->n)
        bits++;
    f->shift = 32 - bits;
    f->filter = calloc(((size_t)1 << bits) / 64, sizeof *f->filter);
    if (!f->filter)
        return err_mem(e, "frequent pairs", ((size_t)1 << bits) / 8);
    for (size_t i = 0; i < (size_t)1 << (64 - pairs->shift); i++) {
        const struct id_pair p = pairs->slot[i];
        const uint32_t bit = (hash_left(p.left) + hash_right(p.right)) >> f->shift;
        if (p.left != UINT32_MAX)
            f->filter[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    return 0;
}

/* Sets the hashes of all ids, by the ids that they had before the merges from rank `first` on. */
static int set_hashes(struct frequent_pairs *f, const struct model *m, size_t first, struct err *e)
{
    const size_t n = m->n_ids > UINT16_MAX ? m->n_ids : UINT16_MAX + 1;
    struct id_pair *ends = superwords_ends(m, first, e);
    f->left = calloc(n, sizeof *f->left);
    f->right = calloc(n, sizeof *f->right);
    int rc = !ends ? -1 : f->left && f->right ? 0 : err_mem(e, "frequent pairs", 2 * n * sizeof *f->left);
    for (uint32_t id = 0; id < m->n_ids && !rc; id++) {
        f->left[id] = hash_left(ends[id].right);
        f->right[id] = hash_right(ends[id].left);
    }
    free(ends);
    return rc;
}

int frequent_pairs_read(struct frequent_pairs *f, const char *path, const struct model *m, const char *name,
                        struct err *e)
{
    struct live_pairs all;
    *f = (struct frequent_pairs){0};
    if (live_pairs_read(&all, path, NULL, true, e))
        return -1;
    const struct superword_round *r = &all.round;
    bool good = false;
    int rc = 0;
    if (!superword_model_begins(m, r->n_merges, r->model))
        rc = err_set(e, EX_DATAERR, "%s: these pairs are not those of an earlier round of %s", path, name);
    rc = rc || superwords_check(m, r->n_merges, &good, e);
    if (!rc && good) {
        rc = make_filter(f, &all.pairs, e) || set_hashes(f, m, r->n_merges, e);
        f->round = *r;
    }
    live_pairs_free(&all);
    return rc ? -1 : 0;
}

void frequent_pairs_free(struct frequent_pairs *f)
{
    free(f->filter);
    free(f->left);
    free(f->right);
    *f = (struct frequent_pairs){0};
}
