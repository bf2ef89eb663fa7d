/* character_model.c - see character_model.h. */
#include "model/character_model.h"

#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The multibyte characters that are tokens, sorted by their bytes. */
struct characters {
    uint32_t *id; /* owned */
    size_t n;
};

static bool is_character(const struct model_token *t)
{
    return t->p && t->vocab && t->len > 1 && t->len == utf8_char_len(t->p[0]);
}

static int by_bytes(const void *a, const void *b, void *tokens)
{
    const struct model_token *token = tokens;
    const struct model_token *s = &token[*(const uint32_t *)a], *t = &token[*(const uint32_t *)b];
    return str_compare((struct str){s->p, s->len}, (struct str){t->p, t->len});
}

static int find_characters(struct characters *s, const struct model *m, struct err *e)
{
    *s = (struct characters){0};
    for (uint32_t id = 0; id < m->n_ids; id++)
        s->n += is_character(&m->token[id]);
    s->id = malloc((s->n + 1) * sizeof *s->id);
    if (!s->id)
        return err_mem(e, "the characters", s->n * sizeof *s->id);
    for (uint32_t id = 0, n = 0; id < m->n_ids; id++)
        if (is_character(&m->token[id]))
            s->id[n++] = id;
    qsort_r(s->id, s->n, sizeof *s->id, by_bytes, m->token);
    return 0;
}

/* Adds an auxiliary token and returns its id. The caller has allocated enough. */
static uint32_t add_token(struct character_model *c, const unsigned char *p, size_t len)
{
    unsigned char *to = c->text.p + c->text.len;
    memcpy(to, p, len);
    c->text.len += len;
    c->token[c->bytes.n_ids] = (struct model_token){.p = to, .len = (uint32_t)len};
    return c->bytes.n_ids++;
}

static void add_bytes(struct character_model *c)
{
    struct model *m = &c->bytes;
    const uint32_t n_ids = m->n_ids;
    for (unsigned b = 0; b < 256; b++)
        m->byte_id[b] = MODEL_NO_ID;
    for (uint32_t id = 0; id < n_ids; id++)
        if (m->token[id].p && m->token[id].vocab && m->token[id].len == 1)
            m->byte_id[m->token[id].p[0]] = id;
    for (unsigned b = 0; b < 256; b++) {
        const unsigned char byte = (unsigned char)b;
        if (m->byte_id[b] == MODEL_NO_ID)
            m->byte_id[b] = add_token(c, &byte, 1);
    }
}

/* Adds the merges of all characters. They are sorted, so characters that begin with the same bytes are adjacent and
 * share parts. */
static void add_merges(struct character_model *c, const struct characters *s)
{
    struct model *m = &c->bytes;
    const unsigned char *last = (const unsigned char *)"\0\0\0\0";
    uint32_t part[4] = {0}; /* the parts of `last`, by length */
    for (size_t i = 0; i < s->n; i++) {
        const struct model_token *t = &c->token[s->id[i]];
        uint32_t left = m->byte_id[t->p[0]];
        for (uint32_t len = 2; len <= t->len; len++) {
            if (len < t->len && !memcmp(t->p, last, len)) {
                left = part[len];
                continue;
            }
            const uint32_t result = len == t->len ? s->id[i] : (part[len] = add_token(c, t->p, len));
            c->merge[m->n_merges++] = (struct merge){left, m->byte_id[t->p[len - 1]], result};
            left = result;
        }
        last = t->p;
    }
}

int character_model_init(struct character_model *c, const struct model *m, struct err *e)
{
    enum { LONGEST = 4, BYTES = 256 };
    struct characters s;
    *c = (struct character_model){.model = m, .bytes = *m};
    c->bytes.index = (struct token_index){0};
    c->bytes.spelling = SPELLING_BYTE_LEVEL;
    if (find_characters(&s, m, e))
        return -1;
    const size_t parts = s.n * (LONGEST - 2), merges = s.n * (LONGEST - 1) + m->n_merges;
    int rc = -1;
    c->token = malloc((m->n_ids + BYTES + parts) * sizeof *c->token);
    c->merge = malloc((merges + 1) * sizeof *c->merge);
    if (!c->token || !c->merge) {
        err_mem(e, "the characters", merges * sizeof *c->merge);
        goto out;
    }
    if (buf_reserve(&c->text, BYTES + parts * LONGEST + MODEL_PAD, e))
        goto out;
    memcpy(c->token, m->token, m->n_ids * sizeof *c->token);
    c->bytes.token = c->token;
    c->bytes.merge = c->merge;
    c->bytes.n_merges = 0;
    add_bytes(c);
    add_merges(c, &s);
    if (m->n_merges)
        memcpy(c->merge + c->bytes.n_merges, m->merge, m->n_merges * sizeof *c->merge);
    c->bytes.n_merges += m->n_merges;
    rc = m->ignore_merges ? model_index(&c->bytes, e) : 0;
out:
    free(s.id);
    return rc;
}

void character_model_free(struct character_model *c)
{
    token_index_free(&c->bytes.index);
    free(c->token);
    free(c->merge);
    buf_free(&c->text);
    *c = (struct character_model){0};
}

/* It expands from the end, because the ids may take more room than before. */
static size_t expand_bytes(const struct character_model *c, uint32_t *id, size_t n)
{
    const uint32_t own = c->model->n_ids;
    size_t n_all = 0;
    for (size_t i = 0; i < n; i++)
        n_all += id[i] < own ? 1 : c->token[id[i]].len;
    for (size_t i = n, at = n_all; i-- > 0;) {
        if (id[i] < own) {
            id[--at] = id[i];
            continue;
        }
        const struct model_token *t = &c->token[id[i]];
        for (size_t k = t->len; k-- > 0;)
            id[--at] = c->model->byte_id[t->p[k]];
    }
    return n_all;
}

/* An unknown character may have several ids, one for each byte. */
static size_t expand_unknown(const struct character_model *c, uint32_t *id, size_t n)
{
    const struct model_unknown *u = &c->model->unknown;
    size_t n_all = 0;
    bool after = false; /* whether the previous id was part of an unknown character */
    for (size_t i = 0; i < n; i++) {
        const bool unknown = id[i] >= c->model->n_ids;
        if (!unknown)
            id[n_all++] = id[i];
        else if (!after || (!u->fuse && (c->token[id[i]].p[0] & 0xC0) != 0x80))
            id[n_all++] = u->id;
        after = unknown;
    }
    return n_all;
}

size_t character_model_expand(const struct character_model *c, uint32_t *id, size_t n)
{
    bool unknown = false;
    for (size_t i = 0; i < n; i++)
        unknown |= id[i] >= c->model->n_ids;
    return !unknown ? n : c->model->unknown.bytes ? expand_bytes(c, id, n) : expand_unknown(c, id, n);
}
