/* count_histogram.h - how many words have which count: enough for the curve of frequencies by rank, and for how many
 * distinct words a part of the text would have.
 *
 * Counts below 1024 are exact. Larger ones share a class with those that differ by less than 1.6 %, and every word of a
 * class is taken to have its mean. So the memory is fixed, however many words there are.
 */
#ifndef BPE_CMD_COUNT_HISTOGRAM_H
#define BPE_CMD_COUNT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_EXACT = 1024, HISTOGRAM_PARTS = 64, HISTOGRAM_CLASSES = HISTOGRAM_EXACT + 54 * HISTOGRAM_PARTS };

struct count_histogram {             /* zeroed: empty */
    uint64_t n[HISTOGRAM_CLASSES];   /* words in the class */
    uint64_t sum[HISTOGRAM_CLASSES]; /* of their counts */
};

void count_histogram_add(struct count_histogram *h, uint64_t count);

/* How many distinct words there are, on average, in a random part of the text that has this share (0 to 1) of its words
 * (rarefaction: Heck, van Belle and Simberloff, 1975; drawn with replacement, which makes no difference for such
 * numbers). */
double count_histogram_distinct(const struct count_histogram *h, double share);

/* Sets *rank and *count to a point of the curve of counts by rank, from the most frequent on: `rank` words have this
 * count (the mean of a class) or more. Begin with *at = 0, *rank = 0. Returns 0 after the last. */
int count_histogram_next(const struct count_histogram *h, size_t *at, uint64_t *rank, double *count);

#endif
