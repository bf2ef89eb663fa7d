/* model_pattern.c - see model_pattern.h. */
#include "bpe/model_pattern.h"

#include "bpe/scan.h"

#include <stdbool.h>
#include <string.h>

const char *model_pattern(const struct model *m, const char *given)
{
    bool tiktoken = given && m->format == MODEL_TIKTOKEN && strcmp(given, "cl100k") == 0;
    const char *name = tiktoken ? "cl100k-tiktoken" : given ? given : m->pattern;
    const struct pattern *pattern = name ? pattern_find(name) : NULL;
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
