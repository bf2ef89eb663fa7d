/* prepare.c - see prepare.h. */
#include "encode/prepare.h"

#include "encode/encode_vector.h"
#include "encode/merge_triples.h"

#include <stdlib.h>
#include <string.h>

#define NOT_MADE UINT32_MAX

enum { MERGES_PER_EXCEPTION = 16 }; /* a regular model has at least this many: few words may meet an exception */

/* ---- The merges that can happen ---- */

struct order {
    struct merge_lookup *all;
    struct merge_lookup kept; /* the merges kept so far */
    const struct model *model;
    struct merge *merge; /* kept.merge */
    uint32_t *made;      /* by id: the rank, among all merges, of the one that makes it; 0 for bytes; NOT_MADE */
    const struct word_encoder *words;
};

/* Encodes with the merges kept so far. Returns the number of tokens; 0: too long. */
static size_t encode(struct order *o, const unsigned char *p, size_t n, uint32_t *id)
{
    struct word word = {.p = p, .id = id, .n = (uint32_t)n}, *const one = &word;
    if (n > WORD_MAX)
        return 0;
    o->words->encode_batch(&o->kept.table, o->all->room, &one, 1);
    return word.n_ids ? word.n_ids : encode_short(&o->kept, p, n, id);
}

/* Puts the next kept merge into the table. */
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

/* Reserves rank 0 for exceptions, with a merge without parts. */
static int keep_exception(struct order *o, struct err *e)
{
    const uint32_t nothing = o->model->n_ids;
    return put(o, &(struct merge){nothing, nothing, nothing}, e);
}

/* Keeps merges of a list. They come in the order of ranks, so parts that are already made were made by merges of lower
 * rank. */
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

/* Whether an omitted merge could happen: see prepare.h. The merge of rank 0 joins bytes. */
static bool could_happen(const struct order *o, uint32_t left, uint32_t right, uint32_t result, uint32_t rank)
{
    const uint32_t l = o->made[left], r = o->made[right];
    return l != NOT_MADE && r != NOT_MADE && o->made[result] == NOT_MADE &&
           (l > rank || r > rank || o->model->token[result].len > WORD_MAX);
}

static int exceptions_listed(struct order *o, struct err *e)
{
    for (uint32_t i = 0; i < o->model->n_merges; i++) {
        const struct merge *g = &o->model->merge[i];
        if (could_happen(o, g->left, g->right, g->result, i) &&
            merge_table_exception(&o->kept.table, g->left, g->right, e))
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

static int exceptions_by_rank(struct order *o, struct err *e)
{
    for (uint32_t id = 0; id < o->model->n_ids; id++) {
        const struct model_token *t = &o->model->token[id];
        for (size_t i = 1; t->p && t->vocab && o->made[id] == NOT_MADE && i < t->len; i++) {
            uint32_t left = merge_lookup_token(o->all, t->p, i),
                     right = merge_lookup_token(o->all, t->p + i, t->len - i);
            if (left != MODEL_NO_ID && right != MODEL_NO_ID && could_happen(o, left, right, id, id) &&
                merge_table_exception(&o->kept.table, left, right, e))
                return -1;
        }
    }
    return 0;
}

/* Makes the table of R from the merges of `all`. No merge of R makes a token without a symbol in it, so the token's
 * bytes are encoded to other tokens. The same may be true of a token whose bytes meet an exception. With many
 * exceptions, *regular is false and there is no table. -1: out of memory. */
static int derive(struct merge_lookup *all, struct merge_table *t, bool *regular, struct err *e)
{
    const struct model *model = all->model;
    const size_t max = (size_t)model->n_ids + 1;
    struct order o = {.all = all, .model = model, .words = word_encoder_best()};
    int rc = -1;
    *regular = false;
    if (max > MERGES_MAX)
        return 0;
    o.merge = malloc(max * sizeof *o.merge);
    o.made = malloc(max * sizeof *o.made);
    if (!o.merge || !o.made) {
        err_mem(e, "the order of merges", max * (sizeof *o.merge + sizeof *o.made));
        goto out;
    }
    o.kept = (struct merge_lookup){.model = model, .merge = o.merge, .n_ranks = max};
    memset(o.made, 0xFF, max * sizeof *o.made);
    for (size_t b = 0; b < 256; b++)
        if (model->byte_id[b] != MODEL_NO_ID)
            o.made[model->byte_id[b]] = 0;
    if (merge_table_init(&o.kept.table, model, max, e) || keep_exception(&o, e) ||
        (model->by_rank ? keep_by_rank : keep_listed)(&o, e) ||
        (model->by_rank ? exceptions_by_rank : exceptions_listed)(&o, e))
        goto out;
    rc = 0;
    *regular = o.kept.table.n_exceptions <= o.kept.table.n / MERGES_PER_EXCEPTION;
out:
    if (*regular)
        *t = o.kept.table;
    else
        merge_table_free(&o.kept.table);
    free(o.merge);
    free(o.made);
    return rc;
}

/* ---- Lookup of whole tokens ---- */

enum { TOKEN_BATCH = 64 }; /* tokens that are encoded together */

static void look_up(struct merge_lookup *m, const struct model_token *t)
{
    const size_t i = merge_lookup_whole_bit(t->p, t->len);
    m->whole[i / 64] |= (uint64_t)1 << i % 64;
}

/* Encodes the bytes of these tokens, and marks those that do not become the token itself for lookup. ids: memory for
 * TOKEN_BATCH words. */
static void look_up_others(struct merge_lookup *m, const uint32_t *id, size_t n, uint32_t (*ids)[WORD_MAX])
{
    struct word words[TOKEN_BATCH] = {0}, *word[TOKEN_BATCH];
    for (size_t i = 0; i < n; i++) {
        const struct model_token *t = &m->model->token[id[i]];
        words[i] = (struct word){.p = t->p, .id = ids[i], .n = t->len};
        word[i] = &words[i];
    }
    word_encoder_best()->encode_batch(&m->derived, m->room, word, n);
    for (size_t i = 0; i < n; i++)
        if (words[i].n_ids != 1 || ids[i][0] != id[i])
            look_up(m, &m->model->token[id[i]]);
}

/* Only tokens whose bytes are encoded to something else must be looked up as a whole. These are few: those that R does
 * not make, and those that meet an exception. */
static int look_up_fewer(struct merge_lookup *m, struct err *e)
{
    uint32_t some[TOKEN_BATCH], (*ids)[WORD_MAX] = malloc(TOKEN_BATCH * sizeof *ids);
    size_t n = 0;
    if (!ids)
        return err_mem(e, "the ids of tokens", TOKEN_BATCH * sizeof *ids);
    memset(m->whole, 0, sizeof m->whole);
    for (uint32_t id = 0; id < m->model->n_ids; id++) {
        const struct model_token *t = &m->model->token[id];
        if (!t->p || !t->vocab || !t->len)
            continue;
        if (m->derived.symbol[id] == NO_SYMBOL || t->len > WORD_MAX)
            look_up(m, t);
        else if (m->derived.n_exceptions)
            some[n++] = id;
        if (n == TOKEN_BATCH) {
            look_up_others(m, some, n, ids);
            n = 0;
        }
    }
    look_up_others(m, some, n, ids);
    free(ids);
    for (size_t i = 0; i < m->model->n_special; i++) {
        if (m->model->special[i].whole)
            look_up(m, &m->model->token[m->model->special[i].id]);
    }
    return 0;
}

int prepare_merges(struct merge_lookup *m, struct err *e)
{
    bool regular = m->regular != NULL;
    if (!regular) {
        if (derive(m, &m->derived, &regular, e))
            return -1;
        if (!regular)
            return 0;
        m->regular = &m->derived;
        if ((m->model->by_rank || m->model->ignore_merges) && look_up_fewer(m, e))
            return -1;
    }
    return merge_triples_find(m->regular, e);
}
