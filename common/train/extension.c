/* extension.c - see extension.h. */
#include "train/extension.h"

#include "base/sys/hash.h"
#include "model/model_build.h"
#include "pretok/byte_level.h"

#include <stdlib.h>
#include <string.h>

/* ---- The merges, by pair ---- */

static uint32_t pair_hash(uint32_t left, uint32_t right)
{
    return (uint32_t)token_mix(((uint64_t)left << 32 | right) ^ hash_secret(), 0x9E3779B97F4A7C15u);
}

/* The slot of a merge, or the free one where it belongs. */
static struct hash_slot *find_merge(const struct extension *x, uint32_t left, uint32_t right)
{
    const uint32_t hash = pair_hash(left, right);
    struct hash_slot *s = hash_index_first(&x->rank, hash);
    while (s->n1 && !(s->hash == hash && x->merge[s->n1 - 1].left == left && x->merge[s->n1 - 1].right == right))
        s = hash_index_next(&x->rank, s);
    return s;
}

static int add_merge(struct extension *x, struct merge m, struct err *e)
{
    if (array_grow(&x->merge, &x->merges_cap, x->n_merges + 1, sizeof *x->merge, "the merges", e) ||
        hash_index_grow(&x->rank, x->n_merges + 1, "the merges", e))
        return -1;
    struct hash_slot *s = find_merge(x, m.left, m.right);
    x->merge[x->n_merges++] = m;
    *s = (struct hash_slot){pair_hash(m.left, m.right), (uint32_t)x->n_merges};
    return 0;
}

/* ---- The tokens ---- */

static uint32_t find_token(const struct extension *x, const unsigned char *p, size_t len)
{
    return token_find(&x->index, x->token, p, len, true);
}

/* A copy of x->text and MODEL_PAD bytes after it; NULL: out of memory. */
static unsigned char *copy_text(const struct extension *x)
{
    unsigned char *copy = malloc(x->text.len + MODEL_PAD);
    return copy ? memcpy(copy, x->text.p, x->text.len + MODEL_PAD) : NULL;
}

static void put_in_index(struct extension *x, uint32_t id)
{
    const struct model_token t = x->token[id];
    if (!t.p || !t.vocab)
        return;
    uint32_t hash = token_hash(&x->index, t.p, t.len, true);
    struct hash_slot *s = token_slot(&x->index, x->token, t.p, t.len, true, hash);
    if (!s->n1)
        *s = (struct hash_slot){hash, id + 1};
}

/* Adds a token with the next id, whose text is *taken*. */
static int add_token(struct extension *x, struct model_token t, struct err *e)
{
    if (!t.p)
        return err_mem(e, "a token", t.len);
    if (array_grow(&x->token, &x->cap, x->n + 1, sizeof *x->token, "the vocabulary", e) ||
        token_index_grow(&x->index, x->n + 1, e)) {
        free((unsigned char *)t.p);
        return -1;
    }
    x->token[x->n] = t;
    put_in_index(x, (uint32_t)x->n++);
    return 0;
}

static void mark_inert(struct extension *x)
{
    const struct model *m = x->base;
    for (uint32_t id = 0; id < m->n_ids; id++)
        x->inert[id] = !m->token[id].vocab;
    if (!model_of_characters(m))
        return;
    if (!m->unknown.bytes)
        x->inert[m->unknown.id] = true;
    for (unsigned i = 0; m->unknown.bytes && i < 256; i++)
        if (m->byte_id[i] != MODEL_NO_ID)
            x->inert[m->byte_id[i]] = true;
}

/* The model's tokens as they are spelled in its file, where their order and their characters are those of the spelling:
 * with U+2581 for a space. */
static int spell_tokens(struct extension *x, struct err *e)
{
    const struct model *m = x->base;
    if (m->spelling != SPELLING_SPACES)
        return 0;
    struct buf all = {0};
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        const size_t before = all.len;
        if (t->p && t->vocab && spelling_put(m->spelling, &all, t->p, t->len, e))
            goto fail;
        x->token[id].len = t->vocab ? (uint32_t)(all.len - before) : t->len;
    }
    if (buf_reserve(&all, MODEL_PAD, e))
        goto fail;
    memset(all.p + all.len, 0, MODEL_PAD);
    x->spelled = (struct str){all.p, all.len};
    for (uint32_t id = 0, at = 0; id < m->n_ids; id++) {
        if (!x->token[id].p || !x->token[id].vocab)
            continue;
        x->token[id].p = x->spelled.p + at;
        at += x->token[id].len;
    }
    return 0;
fail:
    buf_free(&all);
    return -1;
}

int extension_init(struct extension *x, const struct model *base, struct err *e)
{
    *x = (struct extension){.base = base, .n_base = base->n_ids};
    x->inert = malloc((size_t)base->n_ids + 1);
    if (!x->inert)
        return err_mem(e, "the vocabulary", base->n_ids);
    if (array_grow(&x->token, &x->cap, (size_t)base->n_ids + 1, sizeof *x->token, "the vocabulary", e))
        return -1;
    memcpy(x->token, base->token, base->n_ids * sizeof *x->token);
    mark_inert(x);
    if (spell_tokens(x, e) || token_index_grow(&x->index, (size_t)base->n_ids + 1, e) ||
        hash_index_grow(&x->rank, base->n_merges + 1, "the merges", e))
        return -1;
    while (x->n < base->n_ids)
        put_in_index(x, (uint32_t)x->n++);
    for (size_t i = 0; i < base->n_merges; i++)
        if (add_merge(x, base->merge[i], e))
            return -1;
    return 0;
}

void extension_free(struct extension *x)
{
    for (size_t id = x->n_base; id < x->n; id++)
        free((unsigned char *)x->token[id].p);
    free(x->token);
    free(x->inert);
    token_index_free(&x->index);
    free(x->merge);
    hash_index_free(&x->rank);
    free((unsigned char *)x->spelled.p);
    buf_free(&x->text);
    free(x->unit);
    *x = (struct extension){0};
}

/* ---- Deciding on a merge ---- */

/* Sets x->unit to the tokens from which the string p[0 .. len) starts: bytes or characters. Returns their number; 0: a
 * character is not a token; -1: out of memory. */
static ptrdiff_t start(struct extension *x, const unsigned char *p, size_t len, struct err *e)
{
    const bool characters = model_of_characters(x->base);
    ptrdiff_t n = 0;
    if (array_grow(&x->unit, &x->units_cap, len, sizeof *x->unit, "a token", e))
        return -1;
    for (size_t i = 0, width; i < len; i += width, n++) {
        for (width = 1; characters && i + width < len && (p[i + width] & 0xC0) == 0x80;)
            width++;
        unsigned char padded[MODEL_PAD + 1];
        if (width > sizeof padded)
            return 0;
        memset(padded, 0, sizeof padded);
        memcpy(padded, p + i, width);
        x->unit[n] = characters ? find_token(x, padded, width) : x->base->byte_id[p[i]];
        if (x->unit[n] == MODEL_NO_ID)
            return 0;
    }
    return n;
}

/* Whether the merges so far turn the string into exactly these two tokens, so that their merge, which ranks last, makes
 * the string. -1: out of memory. */
static int is_reached(struct extension *x, const unsigned char *p, size_t len, uint32_t left, uint32_t right,
                      struct err *e)
{
    ptrdiff_t n = start(x, p, len, e);
    while (n > 1) {
        uint32_t lowest = UINT32_MAX;
        ptrdiff_t at = 0;
        for (ptrdiff_t i = 0; i + 1 < n; i++) {
            const struct hash_slot *s = find_merge(x, x->unit[i], x->unit[i + 1]);
            if (s->n1 && s->n1 < lowest) {
                lowest = s->n1;
                at = i;
            }
        }
        if (lowest == UINT32_MAX)
            break;
        x->unit[at] = x->merge[lowest - 1].result;
        memmove(&x->unit[at + 1], &x->unit[at + 2], (size_t)(n - at - 2) * sizeof *x->unit);
        n--;
    }
    return n < 0 ? -1 : n == 2 && x->unit[0] == left && x->unit[1] == right;
}

/* Whether a special token has this text. -1: out of memory. */
static int is_reserved(const struct extension *x, const unsigned char *p, size_t len, struct err *e)
{
    const struct model *m = x->base;
    struct buf key = {0};
    int rc = m->spelling == SPELLING_BYTE_LEVEL ? byte_level_put(&key, p, len, e) : buf_put(&key, p, len, e);
    const struct str text = buf_str(&key);
    for (size_t i = 0; i < m->n_special && !rc; i++)
        rc = str_equal(text, (struct str){m->special[i].p, m->special[i].len});
    for (size_t i = 0; i < x->n_special && !rc; i++)
        rc = str_equal(text, x->special[i].text);
    buf_free(&key);
    return rc;
}

static int not_new(const struct extension *x, uint32_t id, struct err *e)
{
    char text[60];
    const struct model_token *t = &x->token[id];
    return err_set(e, EX_DATAERR,
                   "the superword \"%s\" is also a token of words: not supported; split text by another pattern",
                   build_show(text, sizeof text, t->p, t->len, true));
}

int extension_merge(struct extension *x, uint32_t left, uint32_t right, uint32_t *result, struct err *e)
{
    const struct hash_slot *known = find_merge(x, left, right);
    if (known->n1) {
        *result = x->merge[known->n1 - 1].result;
        return x->joins ? not_new(x, *result, e) : EXTENSION_KNOWN;
    }
    const struct model_token *l = &x->token[left], *r = &x->token[right];
    x->text.len = 0;
    if (buf_put(&x->text, l->p, l->len, e) || buf_put(&x->text, r->p, r->len, e) || buf_reserve(&x->text, MODEL_PAD, e))
        return -1;
    memset(x->text.p + x->text.len, 0, MODEL_PAD);
    const unsigned char *p = x->text.p;
    const size_t len = x->text.len;
    *result = find_token(x, p, len);
    if (*result != MODEL_NO_ID && x->joins)
        return not_new(x, *result, e);
    if (*result != MODEL_NO_ID) {
        x->encoded = false;
        return add_merge(x, (struct merge){left, right, *result}, e) ? -1 : EXTENSION_ADDED;
    }
    int reserved = is_reserved(x, p, len, e);
    int reached = reserved ? 0 : x->joins || x->encoded ? 1 : is_reached(x, p, len, left, right, e);
    if (reserved < 0 || reached < 0)
        return -1;
    if (!reached)
        return EXTENSION_BARRED;
    *result = (uint32_t)x->n;
    if (add_token(x, (struct model_token){copy_text(x), (uint32_t)len, true}, e))
        return -1;
    return add_merge(x, (struct merge){left, right, *result}, e) ? -1 : EXTENSION_NEW;
}
