/* encode_rules.c - see encode_rules.h. */
#include "encode/encode_rules.h"

#include "model/model.h"

#include <stdio.h>

enum { SHOWN = 300 }; /* maximum bytes of a string in a message */

static int shown(struct str s)
{
    return (int)(s.len < SHOWN ? s.len : SHOWN);
}

static struct str token_of(const struct model_special *s)
{
    return (struct str){s->p, s->len};
}

/* Whether it is known how the model splits text. */
static bool says_pattern(const struct encode_rules *er)
{
    return er->pattern || er->model->n_regex > 0;
}

/* Hugging Face also finds special tokens that are text, and skips them, so it does not find an added token that is not
 * special where it overlaps one of them. If that is possible, this is an error. */
static int check_as_text(const struct encode_rules *er, struct err *e)
{
    const struct model *m = er->model;
    const double max = 1e9; /* steps, about a second */
    double work = 0;
    for (size_t i = 0; er->special_is_text && i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        for (size_t k = 0; s->special && k < m->n_special; k++) {
            const struct model_special *other = &m->special[k];
            if (other->special)
                continue;
            work += 1 + (double)s->len * other->len;
            if (work > max)
                return err_set(e, EX_USAGE, "--special=text: %s has too many added tokens that are not special",
                               er->name);
            if (str_may_overlap(token_of(s), token_of(other)))
                return err_set(
                    e, EX_USAGE,
                    "--special=text: the special token %.*s of %s can overlap with %.*s, which is not special: not "
                    "supported",
                    shown(token_of(s)), (const char *)s->p, er->name, shown(token_of(other)), (const char *)other->p);
        }
    }
    return 0;
}

int encode_rules_for_text(const struct encode_rules *er, struct rules *r, struct err *e)
{
    if (!says_pattern(er))
        return err_set(e, EX_USAGE, "%s does not define how text splits into pretokens; see -p", er->name);
    if (check_as_text(er, e) || model_rules_pattern(r, er->model, er->pattern, e) ||
        model_rules_special(r, er->model, er->special_is_text, e))
        return -1;
    return 0;
}

/* ---- Chunks ---- */

static int match_pattern(const struct encode_rules *er, const struct rules *r, struct err *e)
{
    struct rules own = {0};
    int rc = model_rules_pattern(&own, er->model, er->pattern, e);
    bool same = rc == 0 && rules_same_pattern(r, &own);
    rules_free(&own);
    if (rc || same || !says_pattern(er))
        return rc;
    struct str is = r->n_regex ? r->regex[0] : r->pattern;
    return err_set(e, EX_DATAERR,
                   "the chunks were made with the pattern %.*s, not with that of %s; use bpe-chunk -m %s", shown(is),
                   (const char *)is.p, er->name, er->name);
}

/* The index of a special token in r, tried at `from` first; r->n_special: not in r. */
static size_t find_special(const struct rules *r, struct str text, size_t from)
{
    for (size_t i = 0; i < r->n_special; i++) {
        size_t k = (from + i) % r->n_special;
        if (str_equal(r->special[k].text, text))
            return k;
    }
    return r->n_special;
}

static int match_special(const struct encode_rules *er, const struct rules *r, uint32_t *id, struct err *e)
{
    const struct model *m = er->model;
    const char *hint =
        er->special_is_text ? "; --special=text needs bpe-chunk --no-special" : "; use bpe-chunk -m and the same model";
    for (size_t k = 0; k < r->n_special; k++)
        id[k] = MODEL_NO_ID;
    for (size_t i = 0, k = 0; i < m->n_special; i++) { /* usually in the same order */
        const struct model_special *s = &m->special[i];
        if (!model_finds(s, er->special_is_text))
            continue;
        k = find_special(r, token_of(s), k);
        if (k == r->n_special)
            return err_set(e, EX_DATAERR, "the chunks were made without the special token %.*s of %s%s", (int)s->len,
                           (const char *)s->p, er->name, hint);
        if (r->special[k].flags != s->flags)
            return err_set(e, EX_DATAERR,
                           "the chunks were made with flags of the special token %.*s that differ from those of %s%s",
                           shown(token_of(s)), (const char *)s->p, er->name, hint);
        id[k++] = s->id;
    }
    for (size_t k = 0; k < r->n_special; k++) {
        if (id[k] == MODEL_NO_ID)
            return err_set(e, EX_DATAERR,
                           "the chunks were made with the special token %.*s, which %s does not recognize%s",
                           shown(r->special[k].text), (const char *)r->special[k].text.p, er->name, hint);
    }
    return 0;
}

int encode_rules_match(const struct encode_rules *er, const struct rules *r, uint32_t *id, struct err *e)
{
    if (check_as_text(er, e) || match_pattern(er, r, e) || match_special(er, r, id, e))
        return -1;
    return 0;
}

/* ---- The separator ---- */

/* The special token requested by name, else the model's; NULL: none. It may be one that is not recognized in text. */
static const struct model_special *find_separator(const struct encode_rules *er)
{
    const struct model *m = er->model;
    if (!er->separator)
        return model_eos(m);
    for (size_t i = 0; i < m->n_special; i++)
        if (str_equal(token_of(&m->special[i]), str_of(er->separator)))
            return &m->special[i];
    return NULL;
}

static int no_separator(const struct encode_rules *er, struct err *e)
{
    const struct model *m = er->model;
    char list[SHOWN] = "none";
    for (size_t i = 0, n = 0; i < m->n_special && n < sizeof list - 80; i++) {
        int len = m->special[i].len < 60 ? (int)m->special[i].len : 60;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? " " : "", len, (const char *)m->special[i].p);
    }
    if (er->separator)
        return err_set(e, EX_USAGE, "--eot-token %s: not a special token of %s, which has: %s", er->separator, er->name,
                       list);
    return err_set(e, EX_USAGE,
                   "--eot: no special token of %s is known to separate documents; it has: %s; see --eot-token",
                   er->name, list);
}

int encode_rules_separator(const struct encode_rules *er, const struct rules *r, bool needed, uint32_t *id,
                           size_t *place, struct err *e)
{
    const struct model_special *s = find_separator(er);
    *place = SIZE_MAX;
    if (!s)
        return needed || er->separator ? no_separator(er, e) : 0;
    *id = s->id;
    *place = find_special(r, token_of(s), 0);
    return 0;
}

int encode_rules_refuse(const struct model *m, uint32_t id, struct err *e)
{
    const struct model_special *s = model_special(m, id);
    if (!s || !s->special)
        return 0;
    return err_set(e, EX_DATAERR, "special token %.*s in the text; see --special", shown(token_of(s)),
                   (const char *)s->p);
}
