/* describe_sum.c - sums as the input of bpe describe. They must have been counted by the rules of each model. */
#include "bpe/describe.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <string.h>

int describe_add_sum(struct describe *d, struct input *in, const struct buf *first, const char *path, struct err *e)
{
    struct record_reader reader;
    if (record_reader_over(&reader, in, first, e))
        return -1;
    int rc = 0;
    const char *given = source_options_given(&d->opt.source);
    if (given)
        rc = err_set(e, EX_USAGE, "%s: is a sum; --%s applies only to text", input_name(reader.in), given);
    else if (d->run)
        rc = err_set(e, EX_USAGE, "%s: cannot describe text and sums together", input_name(reader.in));
    else if (!d->sum) {
        d->sum = fd_is_stdin(path) ? "standard input" : path;
        rc = summing_init(&d->summing, d->opt.memory, d->opt.temp, e);
    }
    if (rc)
        record_reader_close(&reader);
    return rc ? -1 : summing_add(&d->summing, &reader, path, (struct ratio){0}, NULL, NULL, e);
}

/* ---- The rules ---- */

static int put_each(struct buf *out, const char *label, const struct str *s, size_t n, struct err *e)
{
    int rc = n ? 0 : buf_put_str(out, "none", e);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = (i && buf_put_byte(out, ' ', e)) || buf_put_str(out, label, e) || buf_put(out, s[i].p, s[i].len, e);
    return rc ? -1 : 0;
}

static int put_pattern(struct buf *out, const struct rules *r, struct err *e)
{
    if (r->normalizer && buf_printf(out, e, "normalize=%s ", normalizer_names[r->normalizer]))
        return -1;
    if (r->prefix.len && (put_each(out, "prefix=", &r->prefix, 1, e) || buf_put_byte(out, ' ', e)))
        return -1;
    if (!r->n_regex)
        return put_each(out, "pattern=", &r->pattern, 1, e);
    for (size_t i = 0; i < r->n_regex; i++) {
        const unsigned split = r->split.len ? r->split.p[i] : SPLIT_ISOLATED;
        if ((i && buf_put_byte(out, ' ', e)) || put_each(out, "regex=", &r->regex[i], 1, e) ||
            (split && buf_printf(out, e, " split=%s%s", split_names[split & SPLIT_MASK],
                                 split & SPLIT_BYTE_LEVEL ? "+byte-level" : "")))
            return -1;
    }
    return 0;
}

static int put_special(struct buf *out, const struct rules *r, struct err *e)
{
    int rc = r->n_special ? 0 : buf_put_str(out, "none", e);
    for (size_t i = 0; i < r->n_special && rc == 0; i++) {
        const struct special_token *t = &r->special[i];
        rc = (i && buf_put_byte(out, ' ', e)) || buf_put(out, t->text.p, t->text.len, e);
        for (unsigned k = 0; k < SPECIAL_N_FLAGS && rc == 0; k++)
            rc = t->flags >> k & 1 ? buf_printf(out, e, "+%s", special_flag_name[k]) : 0;
    }
    return rc ? -1 : 0;
}

/* Sets EX_DATAERR, which states the rules of the sum and of the model, as printed by `put`. */
static int refuse(const struct describe *d, const struct describe_model *m, const struct rules *sum, const char *with,
                  int (*put)(struct buf *out, const struct rules *r, struct err *e), struct err *e)
{
    struct buf its = {0}, own = {0};
    if (put(&its, sum, e) == 0 && put(&own, &m->rules, e) == 0)
        err_set(e, EX_DATAERR, "%s was counted %s %.*s, but %s %s %.*s; give the text instead of the sum", d->sum, with,
                its.len < 500 ? (int)its.len : 500, (const char *)its.p, m->name,
                put == put_pattern ? "splits text by" : "has", own.len < 500 ? (int)own.len : 500, (const char *)own.p);
    buf_free(&its);
    buf_free(&own);
    return -1;
}

/* The first token of a SentencePiece model that has a space behind another character; MODEL_NO_ID: none. */
static uint32_t spanning(const struct model *m)
{
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        for (uint32_t i = 1; i < t->len && t->vocab; i++)
            if (t->p[i] == ' ' && t->p[i - 1] != ' ')
                return id;
    }
    return MODEL_NO_ID;
}

/* A model that does not state how it splits text accepts any pretokens, as in bpe-encode. */
static int check_rules(const struct describe *d, const struct describe_model *m, const struct rules *sum, struct err *e)
{
    if (m->model.n_super)
        return err_set(
            e, EX_USAGE,
            "%s has superwords of whole pretokens (BoundlessBPE), and a sum does not show which pretokens are "
            "adjacent; give the text instead of the sum",
            m->name);
    const uint32_t spans = m->rules.metaspace.on ? spanning(&m->model) : MODEL_NO_ID;
    if (spans != MODEL_NO_ID)
        return err_set(
            e, EX_USAGE,
            "%s has tokens that span words, such as %.*s (id %u), but a sum counts words; give the text instead "
            "of the sum",
            m->name, (int)m->model.token[spans].len, (const char *)m->model.token[spans].p, spans);
    bool says = m->rules.n_regex || m->rules.pattern.len;
    if (says && !rules_same_pattern(&m->rules, sum))
        return refuse(d, m, sum, "by", put_pattern, e);
    const struct rules special = {.special = sum->special, .n_special = sum->n_special},
                       own = {.special = m->rules.special, .n_special = m->rules.n_special};
    return rules_difference(&special, &own) ? refuse(d, m, sum, "with the special tokens", put_special, e) : 0;
}

static int check_all(const struct describe *d, struct err *e)
{
    struct rules sum;
    int rc = rules_get(&sum, buf_str(&d->summing.ledger.coverage.rules), e);
    if (rc == 0)
        rules_sort_special(&sum);
    for (size_t i = 0; i < d->n_models && rc == 0; i++) {
        struct describe_model *m = &d->model[i];
        rc = model_rules_pattern(&m->rules, &m->model, m->how.pattern, e) ||
                     model_rules_special(&m->rules, &m->model, false, e)
                 ? -1
                 : 0;
        rules_sort_special(&m->rules);
        if (rc == 0)
            rc = check_rules(d, m, &sum, e);
    }
    rules_free(&sum);
    return rc;
}

/* ---- The figures ---- */

/* A sum that is only incomplete is described, with a note. */
static int check_complete(struct describe *d, struct err *e)
{
    char text[ERR_TEXT];
    struct ledger *l = &d->summing.ledger;
    if (ledger_finish(l, "", e) == 0)
        return 0;
    err_place(e, d->sum, ERR_NO_OFFSET);
    if (e->code != EX_TEMPFAIL || l->lost || l->coverage.rules.len == 0)
        return -1;
    d->incomplete = true;
    program_note(d->name, "%s; the figures are of what was counted so far", err_text(e, text));
    return 0;
}

int describe_end_sums(struct describe *d, struct err *e)
{
    const struct coverage *c = &d->summing.ledger.coverage;
    if (check_complete(d, e) || check_all(d, e))
        return -1;
    if (coverage_has_weights(c))
        return err_set(e, EX_DATAERR,
                       "%s has weights, so it does not show how often tokens occur in the text; describe "
                       "the sums from which it was made",
                       d->sum);
    d->text = c->text;
    d->files = c->covered;
    memset(d->split, 0, sizeof *d->split);
    d->split->rules = &d->model->rules;
    for (size_t i = 0; i < d->n_models; i++) {
        d->model[i].split = d->split;
        if (token_counts_begin(&d->model[i].tokens, false, e))
            return -1;
    }
    return describe_encode(d, d->split, e);
}
