/* merge_order.c - see merge_order.h. */
#include "encode/merge_order.h"

#include "encode/encode_short.h"
#include "encode/encode_word.h"
#include "encode/merge_ranks.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NOT_MADE = UINT32_MAX;

enum { FEWER_TRAPS = 16 }; /* a model with one for each 16 merges is not regular, as too many words would meet one */

/* Whether each merge makes another token, and ranks after those that make its parts. */
static bool is_regular(const struct model *model, const struct merge_table *t)
{
    for (uint32_t i = 0; i < model->n_merges; i++) {
        const uint32_t own = FIRST_MERGED + i;
        if (t->pair[i].left >= own || t->pair[i].right >= own || t->symbol[model->merge[i].result] != own)
            return false;
    }
    return model->n_merges <= MERGES_MOST;
}

int merge_order_listed(const struct model *model, struct merge_table *t, bool *regular, struct err *e)
{
    const size_t n = model->n_merges;
    if (merge_table_init(t, model, n, e))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        merge_table_name(t, i, model->merge[i].result);
    if (merge_table_put(t, model->merge, n, e))
        return -1;
    *regular = is_regular(model, t);
    if (*regular)
        merge_table_bounds(t, 0);
    return 0;
}

/* ---- Finding the merges that can happen ---- */

struct order {
    struct merges *all;
    struct merges kept; /* the merges that were kept so far */
    const struct model *model;
    struct merge *merge; /* kept.merge */
    uint32_t *made;      /* by id: the rank, among all, of the merge that makes it; 0 for bytes; NOT_MADE */
    const struct word_encoder *words;
};

/* Encodes by the merges that were kept so far. Returns the number of tokens; 0: too long. */
static size_t encode(struct order *o, const unsigned char *p, size_t n, uint32_t *id)
{
    struct word word = {.p = p, .id = id, .n = (uint32_t)n}, *const one = &word;
    if (n > WORD_MAX)
        return 0;
    o->words->some(&o->kept.table, o->all->room, &one, 1);
    return word.n_ids ? word.n_ids : encode_short(&o->kept, p, n, id);
}

/* Puts the next merge that is kept into the table. */
static int put(struct order *o, const struct merge *g, struct err *e)
{
    struct merge_table *t = &o->kept.table;
    const uint32_t rank = (uint32_t)t->n;
    o->merge[rank] = *g;
    if (merge_table_put(t, g, 1, e))
        return -1;
    merge_table_bounds(t, rank);
    return 0;
}

static int keep(struct order *o, uint32_t left, uint32_t right, uint32_t result, uint32_t rank, struct err *e)
{
    o->made[result] = rank;
    merge_table_name(&o->kept.table, (uint32_t)o->kept.table.n, result);
    return put(o, &(struct merge){left, right, result}, e);
}

/* Rank 0 is that of traps; its merge has no parts. */
static int keep_trap(struct order *o, struct err *e)
{
    const uint32_t nothing = o->model->n_ids;
    return put(o, &(struct merge){nothing, nothing, nothing}, e);
}

/* By a list. Merges come in the order of ranks, so what is made is made by a merge of lower rank. */
static int keep_listed(struct order *o, struct err *e)
{
    uint32_t id[WORD_MAX];
    for (size_t i = 0; i < o->model->n_merges; i++) {
        const struct merge *g = &o->model->merge[i];
        const struct model_token *t = &o->model->token[g->result];
        if (o->made[g->left] == NOT_MADE || o->made[g->right] == NOT_MADE || o->made[g->result] != NOT_MADE)
            continue;
        if (t->len > 2 && (encode(o, t->p, t->len, id) != 2 || id[0] != g->left || id[1] != g->right))
            continue;
        if (keep(o, g->left, g->right, g->result, (uint32_t)i, e))
            return -1;
    }
    return 0;
}

/* Whether a merge that was left out could happen: see merge_order.h. A merge of rank 0 is of bytes. */
static bool could_happen(const struct order *o, uint32_t left, uint32_t right, uint32_t result, uint32_t rank)
{
    const uint32_t l = o->made[left], r = o->made[right];
    return l != NOT_MADE && r != NOT_MADE && o->made[result] == NOT_MADE &&
           (l > rank || r > rank || o->model->token[result].len > WORD_MAX);
}

static int trap_listed(struct order *o, struct err *e)
{
    for (uint32_t i = 0; i < o->model->n_merges; i++) {
        const struct merge *g = &o->model->merge[i];
        if (could_happen(o, g->left, g->right, g->result, i) && merge_table_trap(&o->kept.table, g->left, g->right, e))
            return -1;
    }
    return 0;
}

static int keep_by_rank(struct order *o, struct err *e)
{
    uint32_t both[WORD_MAX];
    for (uint32_t id = 0; id < o->model->n_ids; id++) {
        const struct model_token *t = &o->model->token[id];
        if (t->p && t->vocab && t->len > 1 && encode(o, t->p, t->len, both) == 2 &&
            keep(o, both[0], both[1], id, id, e))
            return -1;
    }
    return 0;
}

static int trap_by_rank(struct order *o, struct err *e)
{
    for (uint32_t id = 0; id < o->model->n_ids; id++) {
        const struct model_token *t = &o->model->token[id];
        for (size_t i = 1; t->p && t->vocab && o->made[id] == NOT_MADE && i < t->len; i++) {
            int64_t left = merges_token(o->all, t->p, i), right = merges_token(o->all, t->p + i, t->len - i);
            if (left >= 0 && right >= 0 && could_happen(o, (uint32_t)left, (uint32_t)right, id, id) &&
                merge_table_trap(&o->kept.table, (uint32_t)left, (uint32_t)right, e))
                return -1;
        }
    }
    return 0;
}

int merge_order_derive(struct merges *all, struct merge_table *t, bool *regular, struct err *e)
{
    const struct model *model = all->model;
    const size_t most = (size_t)model->n_ids + 1;
    struct order o = {.all = all, .model = model, .words = word_encoder_best()};
    int rc = -1;
    *regular = false;
    if (most > MERGES_MOST)
        return 0;
    o.merge = malloc(most * sizeof *o.merge);
    o.made = malloc(most * sizeof *o.made);
    if (!o.merge || !o.made) {
        err_mem(e, "the order of merges", most * (sizeof *o.merge + sizeof *o.made));
        goto out;
    }
    o.kept = (struct merges){.model = model, .merge = o.merge, .n_ranks = most};
    memset(o.made, 0xFF, most * sizeof *o.made);
    for (size_t b = 0; b < 256; b++)
        o.made[model->byte_id[b]] = 0;
    if (merge_table_init(&o.kept.table, model, most, e) || keep_trap(&o, e) ||
        (model->by_rank ? keep_by_rank : keep_listed)(&o, e) || (model->by_rank ? trap_by_rank : trap_listed)(&o, e))
        goto out;
    rc = 0;
    *regular = o.kept.table.n_traps <= o.kept.table.n / FEWER_TRAPS;
out:
    if (*regular)
        *t = o.kept.table;
    else
        merge_table_free(&o.kept.table);
    free(o.merge);
    free(o.made);
    return rc;
}
