/* char_set.h - sets of code points, as ranges: for the classes of regexes that are made of others. */
#ifndef BPE_UNICODE_CHAR_SET_H
#define BPE_UNICODE_CHAR_SET_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct char_range {
    uint32_t first, last; /* included */
};

/* Zeroed: empty. The ranges are owned. */
struct char_set {
    struct char_range *range;
    size_t n, cap;
};

void char_set_free(struct char_set *s);

/* Each adds to a set. -1: out of memory. */
int char_set_add(struct char_set *s, uint32_t first, uint32_t last, struct err *e);
int char_set_add_all(struct char_set *s, const struct char_set *from, struct err *e);
int char_set_add_categories(struct char_set *s, uint32_t mask, struct err *e); /* ugc.h */
int char_set_add_space(struct char_set *s, struct err *e);                     /* White_Space */
int char_set_add_han(struct char_set *s, struct err *e);                       /* the script Han */

/* What is not in it of the code points that text can have (no surrogates), in order, without ranges that touch. */
int char_set_complement(struct char_set *s, struct err *e);

/* Keeps what is in `other` as well; in order, as above. */
int char_set_intersect(struct char_set *s, const struct char_set *other, struct err *e);

#endif
