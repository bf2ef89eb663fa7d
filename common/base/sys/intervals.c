/* intervals.c - see intervals.h. */
#include "base/sys/intervals.h"

#include "base/sys/buf.h"

#include <stdlib.h>
#include <string.h>

/* The first interval that ends at or after x. */
static size_t find(const struct intervals *s, uint64_t x)
{
    size_t lo = 0, hi = s->n;
    if (hi && s->at[hi - 1].end < x) /* shortcut: pieces arrive nearly in order */
        return hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->at[mid].end < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

enum overlap intervals_overlap(const struct intervals *s, uint64_t begin, uint64_t end)
{
    size_t i = find(s, begin + 1);
    if (i == s->n || s->at[i].begin >= end)
        return OVERLAP_NONE;
    return s->at[i].begin <= begin && s->at[i].end >= end ? OVERLAP_ALL : OVERLAP_PART;
}

int intervals_add(struct intervals *s, uint64_t begin, uint64_t end, struct err *e)
{
    size_t i = find(s, begin), j = i; /* at[i .. j) touch or overlap the new one */
    for (; j < s->n && s->at[j].begin <= end; j++) {
        begin = s->at[j].begin < begin ? s->at[j].begin : begin;
        end = s->at[j].end > end ? s->at[j].end : end;
    }
    if (i == j && array_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, "the list of counted ranges", e))
        return -1;
    if (j != i + 1)
        memmove(s->at + i + 1, s->at + j, (s->n - j) * sizeof *s->at);
    s->n += 1 + i - j;
    s->at[i] = (struct interval){begin, end};
    return 0;
}

bool intervals_gap(const struct intervals *s, uint64_t from, uint64_t size, struct interval *gap)
{
    size_t i = find(s, from);
    while (i < s->n && s->at[i].begin <= from) {
        if (s->at[i].end > from)
            from = s->at[i].end;
        i++;
    }
    if (from >= size)
        return false;
    *gap = (struct interval){from, i < s->n && s->at[i].begin < size ? s->at[i].begin : size};
    return true;
}

uint64_t intervals_border(const struct intervals *s, uint64_t at)
{
    size_t i = find(s, at + 1);
    return i == s->n ? UINT64_MAX : s->at[i].begin > at ? s->at[i].begin : s->at[i].end;
}

void intervals_free(struct intervals *s)
{
    free(s->at);
    *s = (struct intervals){0};
}
