/* model_extend.c - see model_extend.h. */
#include "model/model_extend.h"

#include "base/sys/huge.h"
#include "model/model_convert.h"
#include "model/model_renumber.h"

#include <stdlib.h>
#include <string.h>

/* Replaces *array, of *bytes bytes from base/sys/huge.h, by one of n bytes with the same beginning. */
static int resize(void *array, size_t *bytes, size_t used, size_t n, struct err *e)
{
    void *old, *new = huge_zeroed(n);
    if (!new)
        return err_mem(e, "the model", n);
    memcpy(&old, array, sizeof old);
    if (used)
        memcpy(new, old, used);
    memcpy(array, &new, sizeof new);
    huge_free(old, *bytes);
    *bytes = n;
    return 0;
}

/* Adds a token with the next id, of two parts. */
static int add_token(struct model *m, struct str left, struct str right, bool vocab, struct err *e)
{
    unsigned char *p = model_room(m, left.len + right.len, e);
    if (!p)
        return -1;
    memcpy(p, left.p, left.len);
    if (right.len)
        memcpy(p + left.len, right.p, right.len);
    model_keep(m, left.len + right.len);
    m->token[m->n_ids++] = (struct model_token){p, (uint32_t)(left.len + right.len), vocab};
    return 0;
}

static struct str token_str(const struct model *m, uint32_t id)
{
    return (struct str){m->token[id].p, m->token[id].len};
}

static int add_special(struct model *m, const struct special_token *s, struct err *e)
{
    const uint32_t id = m->n_ids;
    if (add_token(m, s->text, (struct str){0}, false, e))
        return -1;
    m->special[m->n_special++] = (struct model_special){
        .p = m->token[id].p, .len = m->token[id].len, .id = id, .flags = s->flags, .special = true, .keyed = true};
    return 0;
}

/* Makes room for more special tokens; eos and pad point to some. */
static int grow_special(struct model *m, size_t more, struct err *e)
{
    const size_t eos = m->eos ? (size_t)(m->eos - m->special) : 0, pad = m->pad ? (size_t)(m->pad - m->special) : 0;
    struct model_special *grown = realloc(m->special, (m->n_special + more + 1) * sizeof *grown);
    if (!grown)
        return err_mem(e, "the special tokens", (m->n_special + more) * sizeof *grown);
    m->special = grown;
    m->eos = m->eos ? &grown[eos] : NULL;
    m->pad = m->pad ? &grown[pad] : NULL;
    return 0;
}

struct model_size model_size(const struct model *m)
{
    struct model_size size = {m->n_ids, m->n_ids, m->n_merges, m->n_special};
    while (size.n_vocab && model_special(m, size.n_vocab - 1))
        size.n_vocab--;
    return size;
}

/* Moves the ids [first, middle) after [middle, end). */
static int rotate(struct model *m, uint32_t first, uint32_t middle, uint32_t end, struct err *e)
{
    if (first == middle || middle == end)
        return 0;
    uint32_t *new_id = malloc(m->n_ids * sizeof *new_id);
    if (!new_id)
        return err_mem(e, "the tokens", m->n_ids * sizeof *new_id);
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const bool moves = id >= first && id < end;
        new_id[id] = !moves ? id : id < middle ? id + (end - middle) : id - (middle - first);
    }
    int rc = model_renumber(m, new_id, m->n_ids, e);
    free(new_id);
    return rc;
}

int model_truncate(struct model *m, const struct model_size *size, bool special_last, struct err *e)
{
    const uint32_t end = m->n_ids - (uint32_t)(m->n_special - size->n_special), n_new = end - size->n_ids;
    if (special_last && rotate(m, size->n_vocab, size->n_vocab + n_new, end, e))
        return -1;
    token_index_free(&m->index); /* model_index makes it again */
    m->n_ids = size->n_ids;
    m->n_merges = size->n_merges;
    m->n_special = size->n_special;
    return 0;
}

int model_extend(struct model *m, const struct merge *merges, size_t n, const struct special_token *special,
                 size_t n_special, bool special_last, struct err *e)
{
    const struct model_size before = model_size(m);
    if (resize(&m->token, &m->token_bytes, m->n_ids * sizeof *m->token, (m->n_ids + n + n_special) * sizeof *m->token,
               e) ||
        resize(&m->merge, &m->merge_bytes, m->n_merges * sizeof *m->merge, (m->n_merges + n + 1) * sizeof *m->merge,
               e) ||
        grow_special(m, n_special, e))
        return -1;
    token_index_free(&m->index); /* model_index makes it again */
    free(m->merge_count);        /* those of the new merges are of another text */
    m->merge_count = NULL;
    for (size_t i = 0; i < n; i++) {
        m->merge[m->n_merges++] = merges[i];
        if (merges[i].result >= m->n_ids &&
            add_token(m, token_str(m, merges[i].left), token_str(m, merges[i].right), true, e))
            return -1;
    }
    if (special_last && rotate(m, before.n_vocab, before.n_ids, m->n_ids, e))
        return -1;
    for (size_t i = 0; i < n_special; i++)
        if (add_special(m, &special[i], e))
            return -1;
    convert_keys(m); /* a merge's token is a key, which changes the ids of those that are not */
    return 0;
}
