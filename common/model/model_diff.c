/* model_diff.c - see model_diff.h. */
#include "model/model_diff.h"

#include "base/sys/hash.h"
#include "base/sys/hash_index.h"
#include "model/model_convert.h"
#include "model/model_text.h"
#include "model/vocab_json.h"

#include <stdlib.h>
#include <string.h>

/* One of the models. */
struct side {
    char sign;           /* before what only this model has */
    struct model *m;     /* borrowed */
    bool ignores_merges; /* a pretoken can become a token that merging never makes */
    uint32_t *same;      /* owned; by id: the other model's token with the same bytes, or MODEL_NO_ID */
    const struct model_special **special; /* owned; sorted by text */
    struct hash_index pairs;              /* the merges, by the ids of their pair */
    uint64_t key;
};

static struct str text_of(const struct model_special *s)
{
    return (struct str){s->p, s->len};
}

static int by_text(const void *x, const void *y)
{
    const struct model_special *const *a = x, *const *b = y;
    return str_compare(text_of(*a), text_of(*b));
}

/* The added token with the same text, or NULL. */
static const struct model_special *find_special(const struct side *s, const struct model_special *of)
{
    const struct model_special **found =
        s->m->n_special ? bsearch(&of, s->special, s->m->n_special, sizeof *s->special, by_text) : NULL;
    return found ? *found : NULL;
}

static uint32_t hash_pair(const struct side *s, uint32_t left, uint32_t right)
{
    const uint32_t pair[2] = {left, right};
    return (uint32_t)hash_bytes(pair, sizeof pair, s->key);
}

/* The rank of the merge of this pair, or MODEL_NO_ID. */
static uint32_t find_pair(const struct side *s, uint32_t left, uint32_t right)
{
    const struct hash_slot *at = hash_index_first(&s->pairs, hash_pair(s, left, right));
    for (; at->n1; at = hash_index_next(&s->pairs, at)) {
        const struct merge *g = &s->m->merge[at->n1 - 1];
        if (g->left == left && g->right == right)
            break;
    }
    return at->n1 - 1;
}

/* Leaves out of a list of merges those that never happen. */
static int drop_unused(struct model *m, struct err *e)
{
    struct merge *split;
    size_t n = 0;
    if (model_splits(m, &split, e))
        return -1;
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct merge g = m->merge[k], *own = &split[g.result];
        if (own->left == g.left && own->right == g.right)
            m->merge[n++] = g;
    }
    m->n_merges = n;
    free(split);
    return 0;
}

/* by_rank: one of the models merges by rank. */
static int prepare(struct side *s, bool by_rank, struct err *e)
{
    struct model *m = s->m;
    size_t missing;
    uint32_t first;
    if (m->by_rank ? convert_by_ranks(m, NULL, &missing, e) : model_unreached(m, &missing, &first, e))
        return -1;
    s->ignores_merges = m->ignore_merges && missing;
    if ((by_rank && !m->by_rank && drop_unused(m, e)) || model_index(m, e) ||
        hash_index_grow(&s->pairs, m->n_merges + 1, "the merges", e))
        return -1;
    s->key = hash_secret();
    for (size_t k = 0; k < m->n_merges; k++) {
        const uint32_t hash = hash_pair(s, m->merge[k].left, m->merge[k].right);
        struct hash_slot *at = hash_index_first(&s->pairs, hash);
        while (at->n1)
            at = hash_index_next(&s->pairs, at);
        *at = (struct hash_slot){hash, (uint32_t)k + 1};
    }
    s->same = malloc(((size_t)m->n_ids + 1) * sizeof *s->same);
    s->special = calloc(m->n_special + 1, sizeof *s->special);
    if (!s->same || !s->special)
        return err_mem(e, "the tokens", m->n_ids * sizeof *s->same + m->n_special * sizeof *s->special);
    for (size_t i = 0; i < m->n_special; i++)
        s->special[i] = &m->special[i];
    if (m->n_special)
        qsort(s->special, m->n_special, sizeof *s->special, by_text);
    return 0;
}

static void match(struct side *s, const struct side *other)
{
    const struct model *o = other->m;
    for (uint32_t id = 0; id < s->m->n_ids; id++) {
        const struct model_token *t = &s->m->token[id];
        s->same[id] = t->p ? token_find(&o->index, o->token, t->p, t->len, t->vocab) : MODEL_NO_ID;
    }
}

static void side_free(struct side *s)
{
    free(s->same);
    free(s->special);
    hash_index_free(&s->pairs);
}

/* ---- Properties ---- */

static int put_properties(struct buf *out, const struct side *s, bool regexes, struct err *e)
{
    const struct model *m = s->m;
    size_t tokens = 0;
    for (uint32_t id = 0; id < m->n_ids; id++)
        tokens += m->token[id].p != NULL;
    return model_put_rules(out, m, regexes, e) ||
                   buf_printf(out, e, "ids: %lu\ntokens: %zu\nmerges: %zu\nignore-merges: %s\n",
                              (unsigned long)m->n_ids, tokens, m->n_merges, s->ignores_merges ? "yes" : "no") ||
                   model_put_role(out, "eos", m->eos, e) || model_put_role(out, "pad", m->pad, e) ||
                   buf_printf(out, e, "special-tokens: %zu\n", m->n_special)
               ? -1
               : 0;
}

/* The first line of [p, end), which ends with a newline. */
static struct str first_line(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *newline = memchr(p, '\n', (size_t)(end - p));
    return (struct str){p, (size_t)(newline - p) + 1};
}

static bool has_line(struct str text, struct str line)
{
    const unsigned char *end = text.p + text.len;
    for (struct str own = {text.p, 0}; own.p < end; own.p += own.len) {
        own = first_line(own.p, end);
        if (str_equal(own, line))
            return true;
    }
    return false;
}

/* Appends the lines that the other text does not have. */
static int put_lines(struct buf *out, char sign, struct str text, struct str other, struct err *e)
{
    const unsigned char *end = text.p + text.len;
    for (struct str line = {text.p, 0}; line.p < end; line.p += line.len) {
        line = first_line(line.p, end);
        if (!has_line(other, line) && (buf_printf(out, e, "%c ", sign) || buf_put(out, line.p, line.len, e)))
            return -1;
    }
    return 0;
}

static int diff_properties(struct buf *out, const struct side *a, const struct side *b, struct err *e)
{
    struct buf in_a = {0}, in_b = {0};
    const char *one = model_pattern(a->m), *other = model_pattern(b->m);
    const bool regexes = !one || !other || strcmp(one, other) != 0;
    int rc = put_properties(&in_a, a, regexes, e) || put_properties(&in_b, b, regexes, e) ||
                     put_lines(out, a->sign, buf_str(&in_a), buf_str(&in_b), e) ||
                     put_lines(out, b->sign, buf_str(&in_b), buf_str(&in_a), e)
                 ? -1
                 : 0;
    buf_free(&in_a);
    buf_free(&in_b);
    return rc;
}

/* ---- Tokens ---- */

static int put_token(struct buf *out, const struct model *m, uint32_t id, struct err *e)
{
    struct buf key = {0};
    int rc = vocab_json_key(&key, m, id, e) || model_put_text(out, key.p, key.len, e) ? -1 : 0;
    buf_free(&key);
    return rc;
}

static int put_changed_id(struct buf *out, const struct model *m, uint32_t id, uint32_t other, struct err *e)
{
    return buf_printf(out, e, "id: %lu %lu ", (unsigned long)id, (unsigned long)other) || put_token(out, m, id, e) ||
                   buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

static int put_flags(struct buf *out, char sign, const struct model_special *s, struct err *e)
{
    struct buf line = {0};
    int rc = model_put_flags(&line, s, e);
    if (rc == 0 && line.len)
        rc = buf_printf(out, e, "%c ", sign) || buf_put(out, line.p, line.len, e) ? -1 : 0;
    buf_free(&line);
    return rc;
}

/* Appends an added token that only one model has, or, if `both`, what differs. */
static int diff_special(struct buf *out, const struct side *s, const struct side *other, bool both,
                        const struct model_special *t, struct err *e)
{
    const struct model_special *o = find_special(other, t);
    if (!o)
        return buf_printf(out, e, "%c special: %lu ", s->sign, (unsigned long)t->id) ||
                       model_put_text(out, t->p, t->len, e) || buf_put_byte(out, '\n', e) ||
                       put_flags(out, s->sign, t, e)
                   ? -1
                   : 0;
    if (both && t->id != o->id && put_changed_id(out, s->m, t->id, o->id, e))
        return -1;
    if (both && (t->flags != o->flags || t->special != o->special))
        return put_flags(out, s->sign, t, e) || put_flags(out, other->sign, o, e) ? -1 : 0;
    return 0;
}

/* Appends the tokens that only one model has; if `both`, also those whose ids differ. */
static int diff_tokens(struct buf *out, const struct side *s, const struct side *other, bool both, struct err *e)
{
    int rc = 0;
    for (uint32_t id = 0; id < s->m->n_ids && rc == 0; id++) {
        const struct model_special *special = model_special(s->m, id);
        const uint32_t same = s->same[id];
        if (special)
            rc = diff_special(out, s, other, both, special, e);
        else if (!s->m->token[id].p)
            continue;
        else if (same == MODEL_NO_ID || model_special(other->m, same))
            rc = buf_printf(out, e, "%c token: %lu ", s->sign, (unsigned long)id) || put_token(out, s->m, id, e) ||
                 buf_put_byte(out, '\n', e);
        else if (both && same != id)
            rc = put_changed_id(out, s->m, id, same, e);
    }
    return rc ? -1 : 0;
}

/* ---- Merges ---- */

static int put_merge(struct buf *out, const struct side *s, const char *what, size_t k, struct err *e)
{
    const struct merge *g = &s->m->merge[k];
    return buf_printf(out, e, "%c %s: %zu ", s->sign, what, k) || put_token(out, s->m, g->left, e) ||
                   buf_put_byte(out, ' ', e) || put_token(out, s->m, g->right, e) || buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

/* The rank of the other model's merge of the same two tokens, or MODEL_NO_ID. */
static uint32_t same_merge(const struct side *s, const struct side *other, size_t k)
{
    const struct merge *g = &s->m->merge[k];
    const uint32_t left = s->same[g->left], right = s->same[g->right];
    return left == MODEL_NO_ID || right == MODEL_NO_ID ? MODEL_NO_ID : find_pair(other, left, right);
}

static int diff_first_merge(struct buf *out, const struct side *a, const struct side *b, struct err *e)
{
    size_t k = 0;
    while (k < a->m->n_merges && k < b->m->n_merges && same_merge(a, b, k) == k)
        k++;
    if ((k < a->m->n_merges && put_merge(out, a, "first-merge", k, e)) ||
        (k < b->m->n_merges && put_merge(out, b, "first-merge", k, e)))
        return -1;
    return 0;
}

static int diff_merges(struct buf *out, const struct side *s, const struct side *other, struct err *e)
{
    for (size_t k = 0; k < s->m->n_merges; k++)
        if (same_merge(s, other, k) == MODEL_NO_ID && put_merge(out, s, "merge", k, e))
            return -1;
    return 0;
}

int model_diff(struct buf *out, struct model *a, struct model *b, struct err *e)
{
    struct side one = {.sign = '-', .m = a}, other = {.sign = '+', .m = b};
    const bool by_rank = a->by_rank || b->by_rank;
    int rc = prepare(&one, by_rank, e) || prepare(&other, by_rank, e) ? -1 : 0;
    if (rc == 0) {
        match(&one, &other);
        match(&other, &one);
        rc = diff_properties(out, &one, &other, e) || diff_first_merge(out, &one, &other, e) ||
                     diff_tokens(out, &one, &other, true, e) || diff_tokens(out, &other, &one, false, e) ||
                     diff_merges(out, &one, &other, e) || diff_merges(out, &other, &one, e)
                 ? -1
                 : 0;
    }
    side_free(&one);
    side_free(&other);
    return rc;
}
