/* model_rules.c - see model_rules.h. */
#include "model/model_rules.h"

#include <stdlib.h>

int model_rules_pattern(struct rules *r, const struct model *m, const char *pattern, struct err *e)
{
    r->pattern = str_of(pattern ? pattern : "");
    return rules_set_regex(r, m->regex, pattern ? 0 : m->n_regex, e);
}

int model_rules_special(struct rules *r, const struct model *m, bool special_is_text, struct err *e)
{
    r->n_special = 0;
    r->special = calloc(m->n_special + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "special tokens", m->n_special * sizeof *r->special);
    for (size_t i = 0; i < m->n_special; i++)
        if (model_finds(&m->special[i], special_is_text))
            r->special[r->n_special++] = (struct str){m->special[i].p, m->special[i].len};
    return 0;
}
