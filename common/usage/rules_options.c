/* rules_options.c - see rules_options.h. */
#include "usage/rules_options.h"

#include "model/model_read.h"
#include "pretok/regex.h"
#include "usage/shared_options.h"

#include <stdlib.h>

const char *rules_options_given(const struct rules_options *o)
{
    return o->pattern      ? "-p"
           : o->regex      ? "-e"
           : o->model      ? "-m"
           : o->special.n  ? "-s"
           : o->no_special ? "--no-special"
           : o->normalizer ? "--normalize"
                           : NULL;
}

int rules_options_check(struct rules_options *o, struct err *e)
{
    if (o->regex && (o->pattern || o->model))
        return err_set(e, EX_USAGE, "-e and -%c cannot be combined", o->pattern ? 'p' : 'm');
    if (o->regex && regex_check(str_of(o->regex), REGEX_EVERYWHERE, 0, e))
        return -1;
    if (o->normalizer && o->model)
        return err_set(e, EX_USAGE, "--normalize and -m cannot be combined; the model determines the normalization");
    if (o->no_special && o->special.n)
        return err_set(e, EX_USAGE, "-s and --no-special cannot be combined");
    if ((o->pattern && !pattern_named(o->pattern, e)) ||
        (!o->model && shared_options_new_special(&o->special, "-s", e)))
        return -1;
    if (!o->pattern && !o->model)
        o->pattern = "gpt2";
    return o->no_special || o->special.n || o->model ? 0 : option_texts_add(&o->special, RULES_SPECIAL, e);
}

/* Sets the pattern: by name, by a regex, or the model's. */
static int set_pattern(const struct rules_options *o, const struct model *m, struct rules *r, struct err *e)
{
    if (o->model) {
        const char *name = model_pattern(m);
        if (!name && m->n_regex == 0)
            return err_set(e, EX_USAGE, "%s does not define how text splits into pretokens; see -p", o->model);
        return model_rules_pattern(r, m, name, e);
    }
    r->normalizer = (enum normalizer)o->normalizer;
    if (!o->regex) {
        const struct pattern *pattern = pattern_named(o->pattern, e);
        r->pattern = str_of(pattern ? pattern->name : "");
        return pattern ? 0 : -1;
    }
    const struct str regex = str_of(o->regex);
    return rules_set_regex(r, &regex, 1, e);
}

static int set_special(const struct rules_options *o, const struct model *m, struct rules *r, struct err *e)
{
    if (o->model && !o->special.n) /* added tokens of a model that are not special are always found */
        return model_rules_special(r, m, o->no_special, e);
    r->special = calloc(o->special.n + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "special tokens", o->special.n * sizeof *r->special);
    for (size_t i = 0; i < o->special.n; i++) {
        const struct str text = str_of(o->special.at[i]);
        r->special[r->n_special++] = (struct special_token){text, o->model ? model_special_flags(m, text) : 0};
    }
    return 0;
}

int rules_options_get(const struct rules_options *o, struct model *m, struct rules *r, struct err *e)
{
    const struct model_opts given = {.pattern = o->pattern, .rules_only = true};
    if ((o->model && model_read(m, o->model, &given, e)) || set_pattern(o, m, r, e) || set_special(o, m, r, e))
        return -1;
    return 0;
}
