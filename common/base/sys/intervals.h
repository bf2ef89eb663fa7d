/* intervals.h - a set of byte offsets in one source, stored as sorted, disjoint, non-touching intervals [begin, end).
 */
#ifndef BPE_BASE_SYS_INTERVALS_H
#define BPE_BASE_SYS_INTERVALS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    uint64_t begin, end;
};

struct intervals {       /* zeroed: empty */
    struct interval *at; /* owned */
    size_t n, cap;
};

enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_ALL };

/* Whether none, part or all of [begin, end) is in the set; begin < end. */
enum overlap intervals_overlap(const struct intervals *s, uint64_t begin, uint64_t end);

/* Adds [begin, end); begin < end. -1: out of memory, the set is unchanged. */
int intervals_add(struct intervals *s, uint64_t begin, uint64_t end, struct err *e);

/* Finds the first interval in [from, size) that is not in the set; false if there is none. */
bool intervals_gap(const struct intervals *s, uint64_t from, uint64_t size, struct interval *gap);

/* The first offset after `at` where an interval begins or ends; UINT64_MAX if there is none. */
uint64_t intervals_border(const struct intervals *s, uint64_t at);

void intervals_free(struct intervals *s);

#endif
