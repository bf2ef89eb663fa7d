/* model_grow.c - see model_grow.h. */
#include "model/model_grow.h"

#include "base/sys/buf.h"
#include "base/sys/huge.h"
#include "model/model_build.h"
#include "model/model_convert.h"
#include "model/spelling.h"
#include "unicode/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grower {
    struct model *m; /* with its index */
    struct err *e;
    size_t special_cap;
};

/* ---- The vocabulary ---- */

/* Whether text can become this token of the vocabulary. */
static bool may_be_made(const struct model *m, uint32_t id)
{
    const struct model_token *t = &m->token[id];
    bool made = m->ignore_merges || t->len == 1 || (model_of_characters(m) && t->len == utf8_char_len(t->p[0]));
    for (unsigned b = 0; b < 256; b++)
        made |= m->byte_id[b] == id;
    for (size_t k = 0; k < m->n_merges && !made; k++)
        made = m->merge[k].left == id || m->merge[k].right == id || m->merge[k].result == id;
    return made || (model_of_characters(m) && m->unknown.id == id);
}

/* Finds the token that a vocabulary of strings would have under this key, or MODEL_NO_ID. */
static int find_key(const struct grower *g, struct str text, uint32_t *id)
{
    struct model *m = g->m;
    const size_t room = text.len + BYTE_LEVEL_PAD + MODEL_PAD;
    unsigned char *spelled = model_room(m, 2 * room, g->e); /* not kept */
    if (!spelled)
        return -1;
    unsigned char *copy = spelled + room;
    memcpy(copy, text.p, text.len);
    size_t n = spelling_get(m->spelling, spelled, copy, text.len);
    *id = n == BYTE_LEVEL_NOT || !n ? MODEL_NO_ID : model_find(m, spelled, n);
    if (*id == MODEL_NO_ID)
        *id = token_find(&m->index, m->token, copy, text.len, false);
    return 0;
}

static int add_to_index(const struct grower *g, uint32_t id)
{
    struct token_index *x = &g->m->index;
    const struct model_token *t = &g->m->token[id];
    if (token_index_grow(x, (size_t)id + 1, g->e))
        return -1;
    const uint32_t hash = token_hash(x, t->p, t->len, t->vocab);
    struct hash_slot *s = token_slot(x, g->m->token, t->p, t->len, t->vocab, hash);
    if (!s->n1)
        *s = (struct hash_slot){hash, id + 1};
    return 0;
}

/* Adds a token with the next id. */
static int add_token(const struct grower *g, const unsigned char *p, size_t len)
{
    struct model *m = g->m;
    while ((m->n_ids + (size_t)1) * sizeof *m->token > m->token_bytes) {
        void *more = huge_double(m->token, m->token_bytes);
        if (!more)
            return err_mem(g->e, "the tokens", 2 * m->token_bytes);
        m->token = more;
        m->token_bytes *= 2;
    }
    if (m->n_ids >= INT32_MAX - 1)
        return err_set(g->e, EX_USAGE, "more tokens than 31-bit ids allow");
    m->token[m->n_ids] = (struct model_token){p, (uint32_t)len, false};
    return add_to_index(g, m->n_ids++);
}

/* ---- Special tokens ---- */

static int put_special(struct grower *g, struct model_special s)
{
    struct model *m = g->m;
    if (array_grow(&m->special, &g->special_cap, m->n_special + 1, sizeof s, "the special tokens", g->e))
        return -1;
    m->special[m->n_special++] = s;
    return 0;
}

/* Makes a key of the vocabulary, which no text becomes, a special token. */
static int take_key(struct grower *g, uint32_t id, struct model_special s)
{
    struct model *m = g->m;
    s.id = id;
    s.keyed = true;
    m->token[id] = (struct model_token){s.p, s.len, false};
    token_index_free(&m->index); /* it has the token by its bytes in the vocabulary */
    m->index = (struct token_index){0};
    return model_index(m, g->e) || put_special(g, s) ? -1 : 0;
}

/* Adds a special token that the model does not have. */
static int add_special(struct grower *g, struct str text)
{
    struct build b = {.m = g->m, .e = g->e};
    const unsigned char *p = build_copy(&b, text.p, text.len);
    struct model_special s = {.p = p, .len = (uint32_t)text.len, .id = g->m->n_ids, .special = true};
    char show[60];
    uint32_t id;
    if (!p || find_key(g, text, &id))
        return -1;
    if (id != MODEL_NO_ID && g->m->token[id].vocab && may_be_made(g->m, id))
        return err_set(
            g->e, EX_USAGE,
            "--add-special %s: the vocabulary spells token %lu like this, so one id would mean both; choose another",
            build_show(show, sizeof show, p, text.len, false), (unsigned long)id);
    return id != MODEL_NO_ID ? take_key(g, id, s) : put_special(g, s) || add_token(g, p, text.len) ? -1 : 0;
}

/* Adds reserved tokens, without those whose name is a key. */
static int pad(struct grower *g, uint64_t multiple)
{
    char name[40];
    for (unsigned long i = 0; g->m->n_ids % multiple; i++) {
        uint32_t id;
        const int len = snprintf(name, sizeof name, "<|reserved_%lu|>", i);
        const struct str text = {(const unsigned char *)name, (size_t)len};
        if (find_key(g, text, &id) || (id == MODEL_NO_ID && add_special(g, text)))
            return -1;
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct model_special *s = a, *t = b;
    return (s->id > t->id) - (s->id < t->id);
}

/* The id of a token with a role, or MODEL_NO_ID. */
static uint32_t role_id(const struct model_special *s)
{
    return s ? s->id : MODEL_NO_ID;
}

/* Restores a role. role: the model's, which points into the old array, or is NULL if the role was `assumed` by name. */
static void keep_role(const struct model *m, const struct model_special **role, uint32_t id,
                      const struct model_special *(*assumed)(const struct model *m))
{
    const bool named = *role;
    *role = id == MODEL_NO_ID ? NULL : model_special(m, id);
    if (!named && *role == assumed(m))
        *role = NULL;
}

int model_add_special(struct model *m, const struct str *text, size_t n, uint64_t multiple, struct err *e)
{
    struct grower g = {.m = m, .e = e, .special_cap = m->n_special};
    const uint32_t eos = role_id(model_eos(m)), padding = role_id(model_pad(m));
    int rc = model_index(m, e);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_special(&g, text[i]);
    if (rc == 0)
        rc = pad(&g, multiple);
    if (m->n_special)
        qsort(m->special, m->n_special, sizeof *m->special, by_id);
    keep_role(m, &m->pad, padding, model_assumed_pad);
    keep_role(m, &m->eos, eos, model_assumed_eos);
    convert_keys(m);
    return rc;
}
