/* model_open.c - see model_open.h. */
#include "model/model_open.h"

#include "core/pattern.h"

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
            given.pattern = known;
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
    const struct pattern *pattern = m->pattern ? pattern_find(str_of(m->pattern)) : NULL;
    if (!pattern)
        pattern = pattern_by_regex(m->regex, m->n_regex, m->format == MODEL_JSON ? PATTERN_ONIGURUMA : PATTERN_PCRE);
    return pattern ? pattern->name : NULL;
}
