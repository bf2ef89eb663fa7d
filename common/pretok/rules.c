/* rules.c - see rules.h. */
#include "pretok/rules.h"

#include <stdlib.h>
#include <string.h>

const char *const normalizer_names[] = {"none", "nfc", NULL};

static void *copy_array(const void *from, size_t n, size_t size, const char *what, struct err *e)
{
    void *copy = calloc(n + 1, size);
    if (!copy)
        err_mem(e, what, n * size);
    else if (n)
        memcpy(copy, from, n * size);
    return copy;
}

int rules_set_regex(struct rules *r, const struct str *regex, size_t n, struct err *e)
{
    struct str *copy = copy_array(regex, n, sizeof *copy, "the regexes", e);
    if (!copy)
        return -1;
    free(r->regex);
    r->regex = copy;
    r->n_regex = n;
    return 0;
}

int rules_set_special(struct rules *r, const struct special_token *special, size_t n, struct err *e)
{
    struct special_token *copy = copy_array(special, n, sizeof *copy, "the special tokens", e);
    if (!copy)
        return -1;
    free(r->special);
    r->special = copy;
    r->n_special = n;
    return 0;
}

static int by_bytes(const void *x, const void *y)
{
    const struct special_token *a = x, *b = y;
    return str_compare(a->text, b->text);
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

static bool same_metaspace(const struct metaspace *a, const struct metaspace *b)
{
    return a->on == b->on && a->split == b->split && a->cut == b->cut && a->place == b->place;
}

bool rules_cut_inside(const struct rules *r)
{
    const struct pattern *known = rules_builtin(r);
    return r->metaspace.on ? r->metaspace.cut : known && known->cut_inside;
}

bool rules_same_pattern(const struct rules *a, const struct rules *b)
{
    return str_equal(a->pattern, b->pattern) && str_equal(a->split, b->split) &&
           strs_equal(a->regex, a->n_regex, b->regex, b->n_regex) && a->normalizer == b->normalizer &&
           str_equal(a->prefix, b->prefix) && same_metaspace(&a->metaspace, &b->metaspace);
}

const char *rules_difference(const struct rules *a, const struct rules *b)
{
    bool equal = a->n_special == b->n_special;
    if (!rules_same_pattern(a, b))
        return "the pattern differs";
    for (size_t i = 0; equal && i < a->n_special; i++)
        equal = str_equal(a->special[i].text, b->special[i].text);
    if (!equal)
        return "the special tokens differ";
    for (size_t i = 0; equal && i < a->n_special; i++)
        equal = a->special[i].flags == b->special[i].flags;
    if (!equal)
        return "the flags of special tokens differ";
    if (!a->superwords.len != !b->superwords.len)
        return "only one of them has the ids of a model";
    return str_equal(a->superwords, b->superwords) ? NULL
                                                   : "the model differs, or its live pairs, or the file of --among";
}
