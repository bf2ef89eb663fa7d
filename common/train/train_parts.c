/* train_parts.c - see train_corpus_internal.h: a text of several parts, each of which counts its own pairs.
 *
 * All parts share the slots, the lists of positions and the merges. A part comes after the other in the slots, and so
 * in each list, which is in ascending order. So one pass over the occurrences that a merge found updates one part after
 * the other. A pair that reaches the floor in one part reaches it in all together, so it has a list.
 */
#include "train/train_corpus_internal.h"

#include <assert.h>
#include <stdlib.h>

int corpus_init_pairs(struct corpus *c, bool unqueued, uint64_t floor, pair_before *before, struct err *e)
{
    if (pairs_init(&c->pairs, PAIRS_LISTED | (unqueued ? 0 : PAIRS_QUEUED), floor, before, c, e))
        return -1;
    for (size_t i = 0; i < c->n_counted; i++)
        if (pairs_init(&c->part[i].pairs, PAIRS_QUEUED, floor, before, c, e))
            return -1;
    return 0;
}

void corpus_free_pairs(struct corpus *c)
{
    pairs_free(&c->pairs);
    for (size_t i = 0; c->part && i < c->n_counted; i++)
        pairs_free(&c->part[i].pairs);
}

int corpus_set_parts(struct corpus *c, const struct train_pretokens *all, struct err *e)
{
    if (!c->n_parts)
        return 0;
    c->part = calloc(c->n_parts + 1, sizeof *c->part);
    if (!c->part)
        return err_mem(e, "the parts of the text", c->n_parts * sizeof *c->part);
    c->part[c->n_parts].begin = c->n_slots;
    for (size_t i = c->n_parts; i-- > 0;)
        c->part[i].begin = all[i].n_class ? all[i].class[0].at : c->part[i + 1].begin;
    return 0;
}

/* ---- Merging ---- */

/* A merge, and where reading c->found resumes. */
struct merge_found {
    uint32_t a, b, z;
    size_t i, window;
};

/* The next occurrence before the slot `end`, whose position is *p; NULL: there is none. */
static const struct found *next_found(const struct corpus *c, struct merge_found *m, size_t end, size_t *p)
{
    for (; m->i < c->n_found; m->i++) {
        const struct found *f = &c->found[m->i];
        *p = c->window[m->window] + f->at;
        if (f->at != NEXT_WINDOW)
            return *p < end ? f : NULL;
        m->window++;
    }
    return NULL;
}

static void see(struct side *side, uint32_t *seen, size_t *n_seen, uint32_t symbol, uint64_t weight)
{
    seen[*n_seen] = symbol;
    *n_seen += side[symbol].n++ == 0;
    side[symbol].weight += weight;
}

/* The pair `from` became the pair `to`. */
static int replace_pair(const struct corpus *c, struct pairs *ps, uint64_t from, uint64_t to, uint64_t weight,
                        struct err *e)
{
    uint64_t *count = pairs_get(ps, from);
    if (count) {
        assert(*count >= weight);
        *count -= weight;
    }
    return to && weight >= ps->floor && pair_allowed(c, to)
               ? pairs_put(ps, (struct pair){.key = to, .count = weight}, e)
               : 0;
}

/* As update() in train_merge.c, for one part. (Of two occurrences that touch, the first has the right neighbor z here,
 * which was a before.) */
static int update_counted(struct corpus *c, struct corpus_part *part, struct merge_found *m, struct err *e)
{
    struct pairs *ps = &part->pairs;
    size_t n_left = 0, n_right = 0, p;
    const struct found *f;
    for (; (f = next_found(c, m, part[1].begin, &p)); m->i++) {
        const uint64_t weight = c->weight[p >> c->shift];
        see(c->left, c->seen_left, &n_left, f->x, weight);
        see(c->right, c->seen_right, &n_right, f->y, weight);
        part->replaced += weight;
    }
    for (size_t i = 0; i < n_left; i++) {
        const uint32_t x = c->seen_left[i];
        if (x && replace_pair(c, ps, pair_key(x, m->a), pair_key(x, m->z), c->left[x].weight, e))
            return -1;
        c->left[x] = (struct side){.out = &c->never_read};
    }
    for (size_t i = 0; i < n_right; i++) {
        const uint32_t y = c->seen_right[i];
        const uint64_t from = pair_key(m->b, y == m->z ? m->a : y), to = y == m->z ? 0 : pair_key(m->z, y);
        if (y && replace_pair(c, ps, from, to, c->right[y].weight, e))
            return -1;
        c->right[y] = (struct side){.out = &c->never_read};
    }
    uint64_t *merged = pairs_get(ps, pair_key(m->a, m->b));
    if (merged)
        *merged = 0;
    return 0;
}

int corpus_update_parts(struct corpus *c, uint64_t key, uint32_t z, struct err *e)
{
    struct merge_found m = {.a = pair_left(key), .b = pair_right(key), .z = z};
    for (size_t i = 0; i < c->n_parts; i++) {
        struct corpus_part *part = &c->part[i];
        size_t p;
        part->replaced = 0;
        if (i < c->n_counted && update_counted(c, part, &m, e))
            return -1;
        for (; i >= c->n_counted && next_found(c, &m, part[1].begin, &p); m.i++)
            part->replaced += c->uncounted[p >> c->shift];
    }
    return 0;
}
