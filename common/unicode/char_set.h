/* char_set.h - sets of code points, stored as ranges: for regex classes that are composed of other classes. */
#ifndef BPE_UNICODE_CHAR_SET_H
#define BPE_UNICODE_CHAR_SET_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct char_range {
    uint32_t first, last; /* both inclusive */
};

/* Zeroed: empty. */
struct char_set {
    struct char_range *range; /* owned */
    size_t n, cap;
};

void char_set_free(struct char_set *s);

/* These add to a set. -1: out of memory. */
int char_set_add(struct char_set *s, uint32_t first, uint32_t last, struct err *e);
int char_set_add_all(struct char_set *s, const struct char_set *from, struct err *e);
int char_set_add_categories(struct char_set *s, uint32_t mask, struct err *e); /* ugc.h */
int char_set_add_space(struct char_set *s, struct err *e);                     /* White_Space */
int char_set_add_han(struct char_set *s, struct err *e);                       /* the script Han */

/* Replaces a set by its complement in the code points that text can contain (all except surrogates). The ranges become
 * sorted and do not touch. */
int char_set_complement(struct char_set *s, struct err *e);

/* Keeps only code points that are also in `other`. Sorts the ranges likewise. */
int char_set_intersect(struct char_set *s, const struct char_set *other, struct err *e);

#endif
