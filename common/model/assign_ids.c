/* assign_ids.c - see assign_ids.h. */
#include "model/assign_ids.h"

#include "core/byte_level.h"
#include "model/model_build.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N_BYTES = 256 };

/* A special token, or a symbol. */
struct token {
    const unsigned char *p;
    size_t len;
    const unsigned char *key; /* what the special token would be the spelling of, if it is one; else p */
    size_t key_len;
    bool spelling;  /* key is what is spelled (a symbol's always is); else key is text as it is */
    uint32_t first; /* index of the first one of the same string: most often its own */
    uint32_t id;
};

/* The special tokens, then the symbols. */
struct tokens {
    struct token *token;
    size_t n_special, n;
    uint32_t *by_id; /* [0 .. n_ids) index of the first one that has this id */
    size_t n_ids;
};

/* ---- Bytes of the tokens ---- */

/* Lengths of all symbols. Returns their sum, or SIZE_MAX when that is too much for any memory. */
static size_t measure(struct token *symbol, const struct trained *t)
{
    size_t sum = 0;
    for (size_t s = 0; s < N_BYTES + t->n_merges; s++) {
        symbol[s].len = 1;
        if (s >= N_BYTES) {
            const struct trained_merge *g = &t->merges[s - N_BYTES];
            assert(g->left < s && g->right < s);
            symbol[s].len = symbol[g->left].len + symbol[g->right].len;
        }
        if (symbol[s].len > INT32_MAX || symbol[s].len > SIZE_MAX / 2 - sum)
            return SIZE_MAX;
        sum += symbol[s].len;
    }
    return sum;
}

/* Each symbol is put together from two that are there already. */
static void write_symbols(struct token *symbol, const struct trained *t, unsigned char *to)
{
    for (size_t s = 0; s < N_BYTES + t->n_merges; s++) {
        symbol[s].p = symbol[s].key = to;
        symbol[s].key_len = symbol[s].len;
        symbol[s].spelling = true;
        if (s < N_BYTES) {
            to[0] = (unsigned char)s;
        } else {
            const struct token *left = &symbol[t->merges[s - N_BYTES].left];
            const struct token *right = &symbol[t->merges[s - N_BYTES].right];
            memcpy(to, left->p, left->len);
            memcpy(to + left->len, right->p, right->len);
        }
        to += symbol[s].len;
    }
}

/* apart: no special token is what a symbol is, whatever it looks like. */
static int write_special(struct build *b, struct token *to, const struct str *s, bool apart)
{
    to->p = to->key = build_copy(b, s->p, s->len);
    to->len = to->key_len = s->len;
    if (!to->p || apart)
        return to->p ? 0 : -1;
    unsigned char *key = build_room(b, s->len + BYTE_LEVEL_PAD);
    if (!key)
        return -1;
    size_t n = byte_level_get(key, to->p, s->len);
    if (n != BYTE_LEVEL_NOT) {
        to->key = key;
        to->key_len = n;
        to->spelling = true;
        build_keep(b, n);
    }
    return 0;
}

static int write_tokens(struct build *b, struct tokens *all, const struct trained *t, bool apart)
{
    size_t total = measure(all->token + all->n_special, t);
    unsigned char *to;
    if (total == SIZE_MAX)
        return err_mem(b->e, "the text of all tokens", total);
    if (!(to = build_room(b, total)))
        return -1;
    write_symbols(all->token + all->n_special, t, to);
    build_keep(b, total);
    for (size_t i = 0; i < all->n_special; i++) {
        if (write_special(b, &all->token[i], &t->special[i], apart))
            return -1;
    }
    return 0;
}

/* ---- Ids ---- */

/* Sets `first` of all tokens, with an open-addressing table of indices that is at most half full. */
static int find_first(struct tokens *all, struct err *e)
{
    enum { FREE = 0 }; /* else index + 1: n < UINT32_MAX */
    size_t cap = 1;
    while (cap < 2 * all->n)
        cap *= 2;
    uint32_t *slot = calloc(cap, sizeof *slot);
    if (!slot)
        return err_mem(e, "the table of tokens", (unsigned long long)cap * sizeof *slot);
    for (size_t i = 0; i < all->n; i++) {
        struct token *t = &all->token[i];
        size_t h = hash_bytes(t->key, t->key_len, hash_secret()) & (cap - 1);
        for (; slot[h] != FREE; h = (h + 1) & (cap - 1)) {
            const struct token *u = &all->token[slot[h] - 1];
            if (u->key_len == t->key_len && u->spelling == t->spelling && !memcmp(u->key, t->key, t->key_len))
                break;
        }
        if (slot[h] == FREE)
            slot[h] = (uint32_t)i + 1;
        t->first = slot[h] - 1;
    }
    free(slot);
    return 0;
}

/* The next id for token i, unless an earlier one is the same. */
static void list_token(struct tokens *all, size_t i)
{
    if (all->token[i].first == i)
        all->by_id[all->n_ids++] = (uint32_t)i;
}

static void list_special(struct tokens *all)
{
    for (size_t i = 0; i < all->n_special; i++)
        list_token(all, i);
}

static void give_ids(struct tokens *all, bool special_first)
{
    unsigned char order[N_BYTES];
    byte_level_order(order);
    if (special_first)
        list_special(all);
    for (size_t i = 0; i < N_BYTES; i++)
        list_token(all, all->n_special + order[i]);
    for (size_t i = all->n_special + N_BYTES; i < all->n; i++)
        list_token(all, i);
    if (!special_first)
        list_special(all);

    for (size_t id = 0; id < all->n_ids; id++)
        all->token[all->by_id[id]].id = (uint32_t)id;
    for (size_t i = 0; i < all->n; i++)
        all->token[i].id = all->token[all->token[i].first].id;
}

/* ---- The model ---- */

static int fill_special(struct build *b, const struct tokens *all, bool apart)
{
    for (size_t i = 0; i < all->n_special; i++) {
        const struct token *t = &all->token[i];
        if (t->first == i && build_special(b, (struct model_special){t->p, (uint32_t)t->len, t->id, true, !apart}))
            return -1;
    }
    return 0;
}

static int fill(struct build *b, const struct tokens *all, const struct trained *t, bool apart)
{
    struct model *m = b->m;
    const struct token *symbol = all->token + all->n_special;
    m->token_bytes = all->n_ids * sizeof *m->token;
    m->token = huge_zeroed(m->token_bytes);
    m->merge_bytes = (t->n_merges + 1) * sizeof *m->merge;
    m->merge = huge_zeroed(m->merge_bytes);
    if (!m->token || !m->merge)
        return err_mem(b->e, "the model", m->token_bytes + m->merge_bytes);
    m->n_ids = (uint32_t)all->n_ids;
    m->n_merges = t->n_merges;
    for (size_t i = 0; i < all->n; i++) /* symbols last: a special token of the same string is what they are */
        m->token[all->token[i].id] =
            (struct model_token){all->token[i].p, (uint32_t)all->token[i].len, i >= all->n_special};
    for (size_t c = 0; c < N_BYTES; c++)
        m->byte_id[c] = symbol[c].id;
    for (size_t k = 0; k < t->n_merges; k++)
        m->merge[k] =
            (struct model_merge){symbol[t->merges[k].left].id, symbol[t->merges[k].right].id, symbol[N_BYTES + k].id};
    m->merges_as_strings = t->merges_as_strings;
    if (t->pattern && !(m->pattern = (const char *)build_copy(b, t->pattern, strlen(t->pattern))))
        return -1;
    for (size_t i = 0; i < t->n_regex; i++) {
        if (build_regex(b, t->regex[i]))
            return -1;
    }
    return fill_special(b, all, apart);
}

int trained_model(struct model *m, const struct trained *t, enum model_format format, struct err *e)
{
    struct build b = {.m = m, .e = e};
    bool apart = format == MODEL_TIKTOKEN;
    *m = (struct model){.format = format};
    if (apart && t->special_first && t->n_special)
        return err_set(e, EX_USAGE,
                       "a .tiktoken file has no room for special tokens before the others: use --special-last");
    if (t->n_special > INT32_MAX - N_BYTES || t->n_merges > INT32_MAX - N_BYTES - t->n_special)
        return err_set(e, EX_USAGE, "%zu merges and %zu special tokens: more tokens than the %ld that 32-bit ids allow",
                       t->n_merges, t->n_special, (long)INT32_MAX);
    struct tokens all = {.n_special = t->n_special, .n = t->n_special + N_BYTES + t->n_merges};
    all.token = calloc(all.n, sizeof *all.token);
    all.by_id = calloc(all.n, sizeof *all.by_id);
    int rc = -1;
    if (!all.token || !all.by_id) {
        err_mem(e, "the vocabulary", (unsigned long long)all.n * (sizeof *all.token + sizeof *all.by_id));
    } else if (!write_tokens(&b, &all, t, apart) && !find_first(&all, e)) {
        give_ids(&all, t->special_first && !apart);
        rc = fill(&b, &all, t, apart);
    }
    free(all.token);
    free(all.by_id);
    if (rc)
        model_free(m);
    return rc;
}
