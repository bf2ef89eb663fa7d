/* rules.c - see rules.h. */
#include "pretok/rules.h"

#include <stdlib.h>
#include <string.h>

static int set(struct str **to, size_t *n_to, const struct str *from, size_t n, const char *what, struct err *e)
{
    struct str *copy = calloc(n + 1, sizeof *copy);
    if (!copy)
        return err_mem(e, what, n * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = from[i];
    free(*to);
    *to = copy;
    *n_to = n;
    return 0;
}

int rules_set_regex(struct rules *r, const struct str *regex, size_t n, struct err *e)
{
    return set(&r->regex, &r->n_regex, regex, n, "the regexes", e);
}

int rules_set_special(struct rules *r, const struct str *special, size_t n, struct err *e)
{
    return set(&r->special, &r->n_special, special, n, "the special tokens", e);
}

static int by_bytes(const void *x, const void *y)
{
    return str_compare(*(const struct str *)x, *(const struct str *)y);
}

void rules_sort_special(struct rules *r)
{
    if (r->n_special)
        qsort(r->special, r->n_special, sizeof *r->special, by_bytes);
}

void rules_free(struct rules *r)
{
    free(r->regex);
    free(r->special);
    *r = (struct rules){0};
}

const struct pattern *rules_builtin(const struct rules *r)
{
    return r->n_regex ? NULL : pattern_find(r->pattern);
}

static bool strs_equal(const struct str *a, size_t n_a, const struct str *b, size_t n_b)
{
    bool equal = n_a == n_b;
    for (size_t i = 0; equal && i < n_a; i++)
        equal = str_equal(a[i], b[i]);
    return equal;
}

bool rules_same_pattern(const struct rules *a, const struct rules *b)
{
    return str_equal(a->pattern, b->pattern) && strs_equal(a->regex, a->n_regex, b->regex, b->n_regex);
}

const char *rules_difference(const struct rules *a, const struct rules *b)
{
    if (!rules_same_pattern(a, b))
        return "the pattern differs";
    return strs_equal(a->special, a->n_special, b->special, b->n_special) ? NULL : "the special tokens differ";
}
