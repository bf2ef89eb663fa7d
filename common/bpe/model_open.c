/* model_open.c - see model_open.h. */
#include "bpe/model_open.h"

#include "bpe/scan.h"

#include <stdbool.h>
#include <string.h>

int model_open(struct model *m, const char *path, const char *pattern, const char *const *special, size_t n_special,
               struct err *e)
{
    struct model_opts given = {.special = special, .n_special = n_special};
    for (const char *name = pattern;; name = "cl100k-tiktoken") {
        if (name) {
            const struct pattern *known = pattern_named(name, e);
            if (!known)
                return -1;
            given.pattern = known->name;
            given.regex = known->regex;
        }
        if (model_read(m, path, &given, e))
            return -1;
        if (!name || strcmp(name, "cl100k") != 0 || m->format != MODEL_TIKTOKEN)
            return 0;
        model_free(m);
    }
}

const char *model_pattern(const struct model *m)
{
    const struct pattern *pattern = m->pattern ? pattern_find(m->pattern) : NULL;
    struct scan_text regex[8];
    if (pattern)
        return pattern->name;
    if (m->n_regex == 0 || m->n_regex > sizeof regex / sizeof regex[0])
        return NULL;
    for (size_t i = 0; i < m->n_regex; i++)
        regex[i] = (struct scan_text){m->regex[i].p, m->regex[i].len};
    pattern = pattern_by_regex(regex, m->n_regex, m->format == MODEL_JSON ? SCAN_ONIGURUMA : SCAN_PCRE);
    return pattern ? pattern->name : NULL;
}
