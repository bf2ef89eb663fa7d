/* assign_ids.c - see assign_ids.h. */
#include "model/assign_ids.h"

#include "base/sys/huge.h"
#include "model/model_build.h"
#include "model/token_index.h"
#include "pretok/byte_level.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N_BYTES = 256 };

/* The special tokens, then the symbols. Entries with equal keys are the same token. The key of a symbol is its bytes
 * (vocab is true). The key of a special token whose text is the byte-to-unicode form of some bytes is these bytes
 * (vocab is true); that of any other special token is its text unchanged (vocab is false). */
struct tokens {
    struct str *bytes;
    struct model_token *key;
    uint32_t *first; /* the first entry with the same key, usually the token itself */
    uint32_t *id;
    size_t n_special, n;
    uint32_t *by_id; /* [0 .. n_ids): the first entry with this id */
    size_t n_ids;
};

static int tokens_init(struct tokens *all, const struct learned *l, struct err *e)
{
    size_t n = l->n_special + N_BYTES + l->n_merges;
    *all = (struct tokens){.n_special = l->n_special, .n = n};
    all->bytes = calloc(n, sizeof *all->bytes);
    all->key = calloc(n, sizeof *all->key);
    all->first = calloc(n, sizeof *all->first);
    all->id = calloc(n, sizeof *all->id);
    all->by_id = calloc(n, sizeof *all->by_id);
    return all->bytes && all->key && all->first && all->id && all->by_id
               ? 0
               : err_mem(e, "the vocabulary", (unsigned long long)n * (sizeof *all->bytes + sizeof *all->key + 12));
}

static void tokens_free(struct tokens *all)
{
    free(all->bytes);
    free(all->key);
    free(all->first);
    free(all->id);
    free(all->by_id);
}

/* ---- Bytes of the tokens ---- */

/* Sets the lengths of all symbols. Returns their sum, or SIZE_MAX if it does not fit into memory. */
static size_t measure(struct str *symbol, const struct learned *l)
{
    size_t sum = 0;
    for (size_t s = 0; s < N_BYTES + l->n_merges; s++) {
        symbol[s].len = 1;
        if (s >= N_BYTES) {
            const struct merge *g = &l->merges[s - N_BYTES];
            assert(g->left < s && g->right < s);
            symbol[s].len = symbol[g->left].len + symbol[g->right].len;
        }
        if (symbol[s].len > INT32_MAX || symbol[s].len > SIZE_MAX / 2 - sum)
            return SIZE_MAX;
        sum += symbol[s].len;
    }
    return sum;
}

/* Writes the bytes of each symbol from those of its two parts, which are already written. */
static void write_symbols(struct tokens *all, const struct learned *l, unsigned char *to)
{
    struct str *symbol = all->bytes + all->n_special;
    for (size_t s = 0; s < N_BYTES + l->n_merges; s++) {
        symbol[s].p = to;
        all->key[all->n_special + s] = (struct model_token){to, (uint32_t)symbol[s].len, true};
        if (s < N_BYTES) {
            to[0] = (unsigned char)s;
        } else {
            struct str left = symbol[l->merges[s - N_BYTES].left], right = symbol[l->merges[s - N_BYTES].right];
            memcpy(to, left.p, left.len);
            memcpy(to + left.len, right.p, right.len);
        }
        to += symbol[s].len;
    }
}

/* Writes special token i. apart: a special token is never the same as a symbol, even with the same text. */
static int write_special(struct build *b, struct tokens *all, size_t i, struct str s, bool apart)
{
    const unsigned char *p = build_copy(b, s.p, s.len);
    all->bytes[i] = (struct str){p, s.len};
    all->key[i] = (struct model_token){p, (uint32_t)s.len, false};
    if (!p || apart)
        return p ? 0 : -1;
    unsigned char *key = model_room(b->m, s.len + BYTE_LEVEL_PAD, b->e);
    if (!key)
        return -1;
    size_t n = byte_level_get(key, p, s.len);
    if (n != BYTE_LEVEL_NOT) {
        all->key[i] = (struct model_token){key, (uint32_t)n, true};
        model_keep(b->m, n);
    }
    return 0;
}

static int write_tokens(struct build *b, struct tokens *all, const struct learned *l, bool apart)
{
    size_t total = measure(all->bytes + all->n_special, l);
    unsigned char *to;
    if (total == SIZE_MAX)
        return err_mem(b->e, "the text of all tokens", total);
    if (!(to = model_room(b->m, total, b->e)))
        return -1;
    write_symbols(all, l, to);
    model_keep(b->m, total);
    for (size_t i = 0; i < all->n_special; i++) {
        if (write_special(b, all, i, l->special[i].text, apart))
            return -1;
    }
    return 0;
}

/* ---- Ids ---- */

static int find_first(struct tokens *all, struct err *e)
{
    struct token_index x = {0};
    if (token_index_grow(&x, all->n, e))
        return -1;
    for (size_t i = 0; i < all->n; i++) {
        const struct model_token *k = &all->key[i];
        uint32_t hash = token_hash(&x, k->p, k->len, k->vocab);
        struct hash_slot *s = token_slot(&x, all->key, k->p, k->len, k->vocab, hash);
        if (!s->n1)
            *s = (struct hash_slot){hash, (uint32_t)i + 1};
        all->first[i] = s->n1 - 1;
    }
    token_index_free(&x);
    return 0;
}

/* Gives token i the next id, unless an earlier token is the same. */
static void list_token(struct tokens *all, size_t i)
{
    if (all->first[i] == i)
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
        all->id[all->by_id[id]] = (uint32_t)id;
    for (size_t i = 0; i < all->n; i++)
        all->id[i] = all->id[all->first[i]];
}

/* ---- The model ---- */

static int fill_special(struct build *b, const struct tokens *all, const struct learned *l, bool apart)
{
    for (size_t i = 0; i < all->n_special; i++) {
        const struct str *s = &all->bytes[i];
        if (all->first[i] == i && build_special(b, (struct model_special){.p = s->p,
                                                                          .len = (uint32_t)s->len,
                                                                          .id = all->id[i],
                                                                          .flags = l->special[i].flags,
                                                                          .special = true,
                                                                          .keyed = !apart}))
            return -1;
    }
    return 0;
}

static int fill(struct build *b, const struct tokens *all, const struct learned *l, bool apart)
{
    struct model *m = b->m;
    const uint32_t *symbol = all->id + all->n_special;
    m->token_bytes = all->n_ids * sizeof *m->token;
    m->token = huge_zeroed(m->token_bytes);
    m->merge_bytes = (l->n_merges + 1) * sizeof *m->merge;
    m->merge = huge_zeroed(m->merge_bytes);
    if (!m->token || !m->merge)
        return err_mem(b->e, "the model", m->token_bytes + m->merge_bytes);
    m->n_ids = (uint32_t)all->n_ids;
    m->n_merges = l->n_merges;
    for (size_t i = 0; i < all->n; i++) /* symbols come last, so that a symbol that is also special keeps its bytes */
        m->token[all->id[i]] = (struct model_token){all->bytes[i].p, (uint32_t)all->bytes[i].len, i >= all->n_special};
    for (size_t c = 0; c < N_BYTES; c++)
        m->byte_id[c] = symbol[c];
    for (size_t k = 0; k < l->n_merges; k++)
        m->merge[k] = (struct merge){symbol[l->merges[k].left], symbol[l->merges[k].right], symbol[N_BYTES + k]};
    if (l->merge_count) {
        m->merge_count = malloc((l->n_merges + 1) * sizeof *m->merge_count);
        if (!m->merge_count)
            return err_mem(b->e, "the merges", l->n_merges * sizeof *m->merge_count);
        memcpy(m->merge_count, l->merge_count, l->n_merges * sizeof *m->merge_count);
    }
    m->merges_as_strings = l->merges_as_strings;
    m->normalizer = l->normalizer;
    if (l->pattern && !(m->pattern = (const char *)build_copy(b, l->pattern, strlen(l->pattern))))
        return -1;
    if (l->prefix.len && build_prefix(b, l->prefix))
        return -1;
    for (size_t i = 0; i < l->n_regex; i++) {
        if (build_split(b, l->regex[i], l->split.len ? l->split.p[i] : SPLIT_ISOLATED))
            return -1;
    }
    return fill_special(b, all, l, apart);
}

int learned_set_rules(struct learned *l, const struct rules *r, struct err *e)
{
    const struct pattern *pattern = rules_builtin(r);
    if (!pattern && !r->n_regex)
        return err_set(e, EX_DATAERR, "pattern \"%.*s\" is not known to this bpe-merge; use one version everywhere",
                       (int)(r->pattern.len < 60 ? r->pattern.len : 60), (const char *)r->pattern.p);
    l->special = r->special;
    l->n_special = r->n_special;
    l->n_regex = pattern ? pattern->n_regex : r->n_regex;
    l->regex = pattern ? pattern->regex : r->regex;
    l->pattern = pattern ? pattern->name : NULL;
    l->prefix = r->prefix;
    l->split = r->split;
    l->normalizer = r->normalizer;
    return 0;
}

int assign_ids(struct model *m, const struct learned *l, const struct model_format *format, struct err *e)
{
    struct build b = {.m = m, .e = e};
    struct tokens all;
    bool apart = format->special_apart;
    *m = (struct model){.format = format, .dialect = format->dialect};
    if (apart && l->special_first && l->n_special)
        return err_set(e, EX_USAGE, "a .%s file cannot have special tokens before the others: use --special-last",
                       format->name);
    if (l->n_special > INT32_MAX - N_BYTES || l->n_merges > INT32_MAX - N_BYTES - l->n_special)
        return err_set(e, EX_USAGE, "%zu merges and %zu special tokens: more tokens than the %ld that 32-bit ids allow",
                       l->n_merges, l->n_special, (long)INT32_MAX);
    int rc = tokens_init(&all, l, e);
    if (!rc && (rc = write_tokens(&b, &all, l, apart) || find_first(&all, e) ? -1 : 0) == 0) {
        give_ids(&all, l->special_first && !apart);
        rc = fill(&b, &all, l, apart);
    }
    tokens_free(&all);
    if (rc)
        model_free(m);
    return rc;
}

int assign_ids_check(const struct model *m, struct err *e)
{
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        const struct model_token *t = &m->token[s->id];
        if (t->len != s->len || memcmp(t->p, s->p, s->len))
            return err_set(
                e, EX_USAGE,
                "the special token %.*s is how the vocabulary spells another token, so one id would mean both; choose "
                "another, or -f tiktoken",
                (int)(s->len < 60 ? s->len : 60), (const char *)s->p);
    }
    return 0;
}
