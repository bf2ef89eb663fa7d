/* model_shrink.c - see model_shrink.h. */
#include "model/model_shrink.h"

#include "base/sys/buf.h"
#include "model/model_convert.h"
#include "model/model_renumber.h"
#include "unicode/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct shrink {
    struct model *m;
    struct merge *split; /* owned; by id: model_splits */
    bool *fixed;         /* owned; by id: a byte, a character or an added token, or no token at all */
    bool *gone;          /* owned; by id: the token will be removed */
    size_t n_tokens, n_fixed;
};

static bool is_unit(const struct model *m, const struct model_token *t)
{
    return t->vocab && (t->len == 1 || (model_of_characters(m) && t->len == utf8_char_len(t->p[0])));
}

static void find_fixed(struct shrink *s)
{
    const struct model *m = s->m;
    for (uint32_t id = 0; id < m->n_ids; id++)
        s->fixed[id] = !m->token[id].p || is_unit(m, &m->token[id]);
    for (size_t i = 0; i < m->n_special; i++)
        s->fixed[m->special[i].id] = true;
    for (unsigned b = 0; b < 256; b++)
        if (m->byte_id[b] != MODEL_NO_ID)
            s->fixed[m->byte_id[b]] = true;
    if (model_of_characters(m) && m->unknown.id != MODEL_NO_ID)
        s->fixed[m->unknown.id] = true;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        s->n_tokens += m->token[id].p != NULL;
        s->n_fixed += m->token[id].p && s->fixed[id];
    }
}

static int shrink_init(struct shrink *s, struct model *m, struct err *e)
{
    *s = (struct shrink){.m = m, .fixed = calloc((size_t)m->n_ids + 1, 1), .gone = calloc((size_t)m->n_ids + 1, 1)};
    if (!s->fixed || !s->gone)
        return err_mem(e, "the tokens", 2 * (unsigned long long)m->n_ids);
    find_fixed(s);
    return model_splits(m, &s->split, e);
}

static void shrink_free(struct shrink *s)
{
    free(s->split);
    free(s->fixed);
    free(s->gone);
}

/* ---- Removal ---- */

/* Drops the merges from a limit on, and those of tokens that are gone. */
static void drop_merges(struct shrink *s, size_t limit)
{
    struct model *m = s->m;
    size_t kept = 0;
    for (size_t k = 0; k < m->n_merges && k < limit; k++) {
        const struct merge g = m->merge[k];
        if (s->gone[g.left] || s->gone[g.right] || s->gone[g.result])
            continue;
        if (m->merge_count)
            m->merge_count[kept] = m->merge_count[k];
        m->merge[kept++] = g;
    }
    m->n_merges = kept;
}

/* Removes the tokens that are gone. */
static int apply(struct shrink *s, size_t limit, struct err *e)
{
    struct model *m = s->m;
    uint32_t n = 0, *new_id = malloc(((size_t)m->n_ids + 1) * sizeof *new_id);
    if (!new_id)
        return err_mem(e, "the tokens", m->n_ids * sizeof *new_id);
    for (uint32_t id = 0; id < m->n_ids; id++)
        new_id[id] = !m->token[id].p || s->gone[id] ? MODEL_NO_ID : n++;
    drop_merges(s, limit);
    int rc = model_renumber(m, new_id, n, e);
    free(new_id);
    return rc;
}

/* ---- The last tokens ---- */

/* A token that may be removed. Those of a higher level go first; of equal ones the longer, because the shorter may be
 * its part. */
struct candidate {
    uint32_t level, len, id;
};

static int by_level(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    return a->level != b->level ? (a->level > b->level) - (a->level < b->level)
           : a->len != b->len   ? (a->len > b->len) - (a->len < b->len)
                                : (a->id > b->id) - (a->id < b->id);
}

#define NO_LEVEL UINT32_MAX

/* Sets the level of each token: its id, or (by_id false) the rank of the merge that makes it. */
static void set_levels(const struct shrink *s, bool by_id, uint32_t *level)
{
    const struct model *m = s->m;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const bool made = s->split[id].left != MODEL_NO_ID;
        level[id] = !made && s->fixed[id] ? 0 : by_id ? id : NO_LEVEL;
    }
    for (size_t k = 0; k < m->n_merges && !by_id; k++) {
        const struct merge *g = &m->merge[k], *own = &s->split[g->result];
        if (own->left == g->left && own->right == g->right)
            level[g->result] = (uint32_t)k;
    }
}

/* Raises the level of each token to those of its parts, without which it is never made. In the lists that trainers
 * write, parts come first anyway. */
static void raise_levels(const struct shrink *s, uint32_t *level)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t id = 0; id < s->m->n_ids; id++) {
            const struct merge *g = &s->split[id];
            if (g->left == MODEL_NO_ID)
                continue;
            const uint32_t part = level[g->left] > level[g->right] ? level[g->left] : level[g->right];
            if (part > level[id]) {
                level[id] = part;
                changed = true;
            }
        }
    }
}

/* The number of merges up to this level. */
static size_t merges_up_to(const struct model *m, bool by_id, uint32_t level)
{
    size_t n = by_id ? 0 : (size_t)level + 1;
    while (by_id && n < m->n_merges && m->merge[n].result <= level)
        n++;
    return n;
}

static int cut(struct shrink *s, size_t n, struct err *e)
{
    const struct model *m = s->m;
    const bool by_id = m->by_rank || model_in_order_of_ids(m);
    size_t n_all = 0, excess = s->n_tokens - n;
    uint32_t *level = malloc(((size_t)m->n_ids + 1) * sizeof *level);
    struct candidate *all = malloc(((size_t)m->n_ids + 1) * sizeof *all);
    int rc = -1;
    if (!level || !all) {
        err_mem(e, "the tokens", m->n_ids * (sizeof *level + sizeof *all));
        goto out;
    }
    set_levels(s, by_id, level);
    if (!by_id ||
        !m->ignore_merges) /* otherwise the ids decide: a pretoken can still become a token whose parts are gone */
        raise_levels(s, level);
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (!s->fixed[id] && level[id] != NO_LEVEL)
            all[n_all++] = (struct candidate){level[id], m->token[id].len, id};
    if (excess > n_all) {
        err_set(e, EX_USAGE, "-v %zu: too small; %zu tokens cannot be removed (%s, special tokens)", n,
                s->n_tokens - n_all, model_of_characters(m) ? "characters" : "bytes");
        goto out;
    }
    qsort(all, n_all, sizeof *all, by_level);
    for (size_t i = 0; i < excess; i++)
        s->gone[all[n_all - 1 - i].id] = true;
    rc = apply(s, excess < n_all ? merges_up_to(m, by_id, all[n_all - 1 - excess].level) : 0, e);
out:
    free(level);
    free(all);
    return rc;
}

int model_cut(struct model *m, uint64_t n, struct err *e)
{
    struct shrink s;
    if (m->n_super)
        return err_set(e, EX_USAGE,
                       "-v: cutting a model with superwords of whole pretokens (BoundlessBPE) is not supported");
    int rc = shrink_init(&s, m, e);
    if (rc == 0 && n > s.n_tokens)
        rc = err_set(e, EX_USAGE, "-v %llu: the model has only %zu tokens", (unsigned long long)n, s.n_tokens);
    if (rc == 0 && n < s.n_tokens)
        rc = cut(&s, (size_t)n, e);
    shrink_free(&s);
    return rc;
}

/* ---- Leaf pruning ---- */

/* The leaves, as a heap: the first has the lowest count and, of equal ones, the largest id. */
struct leaves {
    const uint64_t *count;
    uint32_t *id; /* owned; has room for all tokens */
    size_t n;
};

static bool goes_first(const struct leaves *l, uint32_t a, uint32_t b)
{
    return l->count[a] != l->count[b] ? l->count[a] < l->count[b] : a > b;
}

static void push(struct leaves *l, uint32_t id)
{
    size_t i = l->n++;
    for (; i && goes_first(l, id, l->id[(i - 1) / 2]); i = (i - 1) / 2)
        l->id[i] = l->id[(i - 1) / 2];
    l->id[i] = id;
}

static uint32_t pop(struct leaves *l)
{
    const uint32_t first = l->id[0], last = l->id[--l->n];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < l->n; i = c) {
        if (c + 1 < l->n && goes_first(l, l->id[c + 1], l->id[c]))
            c++;
        if (!goes_first(l, l->id[c], last))
            break;
        l->id[i] = l->id[c];
    }
    l->id[i] = last;
    return first;
}

/* Whether a token can become a leaf. An added token that merges make is no longer made after that, but stays. */
static bool can_be_leaf(const struct shrink *s, uint32_t id)
{
    return s->split[id].left != MODEL_NO_ID || !s->fixed[id];
}

/* Marks n tokens as gone; returns how many could be. n_splits[id]: the number of splits that it is a part of, twice for
 * both parts of one. */
static uint64_t prune(struct shrink *s, uint64_t n, uint64_t *count, uint32_t *n_splits, struct leaves *l)
{
    const struct model *m = s->m;
    uint64_t done = 0;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        if (s->split[id].left == MODEL_NO_ID)
            continue;
        n_splits[s->split[id].left]++;
        n_splits[s->split[id].right]++;
    }
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (n_splits[id] == 0 && can_be_leaf(s, id))
            push(l, id);
    while (done < n && l->n) {
        const uint32_t id = pop(l), part[2] = {s->split[id].left, s->split[id].right};
        s->gone[id] = !s->fixed[id];
        done += s->gone[id];
        for (size_t i = 0; i < 2 && part[i] != MODEL_NO_ID; i++) {
            count[part[i]] += count[id];
            if (--n_splits[part[i]] == 0 && can_be_leaf(s, part[i]))
                push(l, part[i]);
        }
    }
    return done;
}

int model_prune(struct model *m, uint64_t n, uint64_t *count, struct err *e)
{
    struct shrink s;
    if (m->n_super)
        return err_set(e, EX_USAGE,
                       "--prune: pruning a model with superwords of whole pretokens (BoundlessBPE) is not supported");
    struct leaves l = {.count = count, .id = malloc(((size_t)m->n_ids + 1) * sizeof *l.id)};
    uint32_t *n_splits = calloc((size_t)m->n_ids + 1, sizeof *n_splits);
    assert(!model_of_characters(m));
    int rc = shrink_init(&s, m, e);
    if (rc == 0 && (!l.id || !n_splits))
        rc = err_mem(e, "the tokens", m->n_ids * (sizeof *l.id + sizeof *n_splits));
    if (rc == 0) {
        const uint64_t done = prune(&s, n, count, n_splits, &l);
        if (done < n)
            rc = err_set(e, EX_USAGE, "--prune=%llu: only %llu tokens can be removed; the others are bytes or special",
                         (unsigned long long)n, (unsigned long long)done);
        else if (n)
            rc = apply(&s, m->n_merges, e);
    }
    shrink_free(&s);
    free(l.id);
    free(n_splits);
    return rc;
}

/* ---- Unused merges ---- */

int model_keep_used(struct model *m, const bool *used, struct err *e)
{
    struct shrink s;
    int rc = shrink_init(&s, m, e);
    size_t kept = 0;
    for (size_t k = 0; k < m->n_merges && !rc; k++)
        s.gone[m->merge[k].result] = !s.fixed[m->merge[k].result];
    for (size_t k = 0; k < m->n_merges && !rc; k++)
        if (used[k])
            s.gone[m->merge[k].result] = false;
    for (size_t k = 0; k < m->n_merges && !rc; k++)
        if (used[k])
            m->merge[kept++] = m->merge[k];
    if (!rc) {
        m->n_merges = kept;
        rc = apply(&s, kept, e);
    }
    shrink_free(&s);
    return rc;
}
