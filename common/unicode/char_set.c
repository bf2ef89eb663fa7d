/* char_set.c - see char_set.h. */
#include "unicode/char_set.h"

#include "base/sys/buf.h"
#include "unicode/ucat.h"
#include "unicode/ugc.h"

#include <stdbool.h>
#include <stdlib.h>

enum { LAST_CHAR = 0x10FFFF, SURROGATES = 0xD800, SURROGATES_LAST = 0xDFFF, HAN_END = 0x40000 };

void char_set_free(struct char_set *s)
{
    free(s->range);
    *s = (struct char_set){0};
}

int char_set_add(struct char_set *s, uint32_t first, uint32_t last, struct err *e)
{
    if (array_grow(&s->range, &s->cap, s->n + 1, sizeof *s->range, "a class of characters", e))
        return -1;
    s->range[s->n++] = (struct char_range){first, last};
    return 0;
}

int char_set_add_all(struct char_set *s, const struct char_set *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++)
        if (char_set_add(s, from->range[i].first, from->range[i].last, e))
            return -1;
    return 0;
}

int char_set_add_categories(struct char_set *s, uint32_t mask, struct err *e)
{
    for (uint32_t c = 0, last; c <= LAST_CHAR; c = last + 1)
        if (mask >> ugc_run(c, &last) & 1 && char_set_add(s, c, last, e))
            return -1;
    return 0;
}

int char_set_add_space(struct char_set *s, struct err *e)
{
    static const struct char_range space[] = {{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                              {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                              {0x205F, 0x205F}, {0x3000, 0x3000}};
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        if (char_set_add(s, space[i].first, space[i].last, e))
            return -1;
    return 0;
}

int char_set_add_han(struct char_set *s, struct err *e)
{
    for (uint32_t c = 0; c < HAN_END; c++) {
        uint32_t first = c;
        while (c < HAN_END && ucat_han_of(c))
            c++;
        if (c > first && char_set_add(s, first, c - 1, e))
            return -1;
    }
    return 0;
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const struct char_range *)a)->first, y = ((const struct char_range *)b)->first;
    return (x > y) - (x < y);
}

/* Adds the code points in [at, first), except surrogates. */
static int add_gap(struct char_set *to, uint32_t at, uint32_t first, struct err *e)
{
    if (at < SURROGATES && first > SURROGATES && char_set_add(to, at, SURROGATES - 1, e))
        return -1;
    if (at < SURROGATES && first > SURROGATES)
        at = SURROGATES;
    if (at >= SURROGATES && at <= SURROGATES_LAST)
        at = SURROGATES_LAST + 1;
    return at < first ? char_set_add(to, at, first - 1, e) : 0;
}

int char_set_complement(struct char_set *s, struct err *e)
{
    struct char_set to = {0};
    uint32_t at = 0;
    int rc = 0;
    if (s->n)
        qsort(s->range, s->n, sizeof *s->range, by_first);
    for (size_t i = 0; i < s->n && !rc; i++) {
        if (s->range[i].first > at)
            rc = add_gap(&to, at, s->range[i].first, e);
        if (s->range[i].last >= at)
            at = s->range[i].last + 1;
    }
    if (!rc && at <= LAST_CHAR)
        rc = add_gap(&to, at, LAST_CHAR + 1, e);
    char_set_free(s);
    *s = to;
    return rc;
}

/* The intersection is the complement of the union of the complements. */
int char_set_intersect(struct char_set *s, const struct char_set *other, struct err *e)
{
    struct char_set out = {0};
    int rc = char_set_add_all(&out, other, e) || char_set_complement(&out, e) || char_set_complement(s, e) ||
                     char_set_add_all(s, &out, e) || char_set_complement(s, e)
                 ? -1
                 : 0;
    char_set_free(&out);
    return rc;
}
