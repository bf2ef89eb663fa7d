/* count_histogram.c - see count_histogram.h. */
#include "bpe/count_histogram.h"

#include <math.h>

static size_t class_of(uint64_t count)
{
    if (count < HISTOGRAM_EXACT)
        return count;
    const unsigned log = 63 - (unsigned)__builtin_clzll(count); /* 10 or more */
    return HISTOGRAM_EXACT + (size_t)(log - 10) * HISTOGRAM_PARTS + (count >> (log - 6) & (HISTOGRAM_PARTS - 1));
}

void count_histogram_add(struct count_histogram *h, uint64_t count)
{
    const size_t k = class_of(count);
    h->n[k]++;
    h->sum[k] += count;
}

double count_histogram_distinct(const struct count_histogram *h, double share)
{
    const double absent = log1p(-share); /* of one word that was drawn: that it is not in the part */
    double n = 0;
    for (size_t k = 1; k < HISTOGRAM_CLASSES; k++)
        if (h->n[k])
            n -= (double)h->n[k] * expm1((double)h->sum[k] / (double)h->n[k] * absent);
    return n;
}

int count_histogram_next(const struct count_histogram *h, size_t *at, uint64_t *rank, double *count)
{
    while (*at < HISTOGRAM_CLASSES) {
        const size_t k = HISTOGRAM_CLASSES - ++*at;
        if (h->n[k]) {
            *rank += h->n[k];
            *count = (double)h->sum[k] / (double)h->n[k];
            return 1;
        }
    }
    return 0;
}
