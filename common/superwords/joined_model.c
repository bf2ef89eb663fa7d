/* joined_model.c - see joined_model.h. */
#include "superwords/joined_model.h"

#include "model/model_extend.h"
#include "model/model_renumber.h"

#include <stdlib.h>
#include <string.h>

/* New ids, in order of give_next; then those of the special tokens, and of the bytes that UTF-8 never contains. Other
 * tokens are removed. */
struct renumbering {
    struct model *m;
    uint32_t *new_id; /* owned; by id; MODEL_NO_ID: none yet */
    uint32_t n;
};

static int renumbering_init(struct renumbering *r, struct model *m, struct err *e)
{
    const size_t bytes = ((size_t)m->n_ids + 1) * sizeof *r->new_id;
    *r = (struct renumbering){.m = m, .new_id = malloc(bytes)};
    if (!r->new_id)
        return err_mem(e, "the tokens", bytes);
    memset(r->new_id, 0xFF, bytes); /* MODEL_NO_ID */
    return 0;
}

static void give_next(struct renumbering *r, uint32_t id)
{
    if (r->new_id[id] == MODEL_NO_ID)
        r->new_id[id] = r->n++;
}

/* Gives the special tokens the next ids, and then the bytes that UTF-8 never contains; and renumbers. */
static int renumber(struct renumbering *r, struct err *e)
{
    struct model *m = r->m;
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (m->token[id].p && !m->token[id].vocab)
            give_next(r, id);
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (m->token[id].p && m->token[id].vocab && model_token_never(&m->token[id]))
            give_next(r, id);
    return model_renumber(m, r->new_id, r->n, e);
}

static bool is_ordinary(const struct model_token *t)
{
    return t->p && t->vocab && !model_token_never(t);
}

int joined_model_renumber(struct model *m, struct err *e)
{
    struct renumbering r;
    if (renumbering_init(&r, m, e))
        return -1;
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (is_ordinary(&m->token[id]))
            give_next(&r, id);
    int rc = renumber(&r, e);
    free(r.new_id);
    return rc;
}

int joined_model_extend(struct model *m, const struct merge *merges, const uint64_t *count, size_t n,
                        const struct special_token *special, size_t n_special, struct err *e)
{
    const size_t before = m->n_merges;
    uint64_t *all = calloc(before + n + 1, sizeof *all);
    if (!all)
        return err_mem(e, "the merges", (before + n) * sizeof *all);
    if (m->merge_count)
        memcpy(all, m->merge_count, before * sizeof *all);
    memcpy(all + before, count, n * sizeof *all);
    if (model_extend(m, merges, n, special, n_special, false, e)) {
        free(all);
        return -1;
    }
    m->merge_count = all;
    m->n_super += n;
    return joined_model_renumber(m, e);
}

/* How many merges of words had their turn before the last superword. */
static size_t words_until(const struct model *m)
{
    const size_t n_words = m->n_merges - m->n_super;
    size_t n = 0;
    while (n < n_words && m->merge_count[n] >= m->merge_count[m->n_merges - 1])
        n++;
    return n;
}

/* How many merges of words make parts of superwords. */
static size_t words_needed(const struct model *m, struct err *e)
{
    size_t n = m->n_merges - m->n_super;
    bool *part = calloc((size_t)m->n_ids + 1, sizeof *part);
    if (!part) {
        err_mem(e, "the tokens", m->n_ids);
        return SIZE_MAX;
    }
    for (size_t k = n; k < m->n_merges; k++)
        part[m->merge[k].left] = part[m->merge[k].right] = true;
    while (n && !part[m->merge[n - 1].result])
        n--;
    free(part);
    return n;
}

int joined_model_settle(struct model *m, bool full, struct err *e)
{
    struct renumbering r;
    const size_t n_words = m->n_merges - m->n_super, needed = words_needed(m, e);
    const uint64_t *count = m->merge_count;
    if (needed == SIZE_MAX || renumbering_init(&r, m, e))
        return -1;
    size_t kept = full ? n_words - m->n_super : m->n_super ? words_until(m) : n_words;
    kept = kept > needed ? kept : needed;
    bool *made = calloc((size_t)m->n_ids + 1, sizeof *made);
    if (!made) {
        free(r.new_id);
        return err_mem(e, "the tokens", m->n_ids);
    }
    for (size_t k = 0; k < m->n_merges; k++)
        made[m->merge[k].result] = true;
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (is_ordinary(&m->token[id]) && (!made[id] || m->token[id].len == 1))
            give_next(&r, id);
    free(made);
    for (size_t word = 0, super = n_words; word < kept || super < m->n_merges;) {
        const bool is_word = word < kept && (super == m->n_merges || count[word] >= count[super]);
        give_next(&r, m->merge[is_word ? word++ : super++].result);
    }
    memmove(m->merge + kept, m->merge + n_words, m->n_super * sizeof *m->merge);
    memmove(m->merge_count + kept, m->merge_count + n_words, m->n_super * sizeof *m->merge_count);
    m->n_merges = kept + m->n_super;
    int rc = renumber(&r, e);
    free(r.new_id);
    return rc;
}
