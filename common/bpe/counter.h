/* counter.h - from text to counts: a walk whose pretokens go to a table. One counter for one set of rules. */
#ifndef BPE_BPE_COUNTER_H
#define BPE_BPE_COUNTER_H

#include "bpe/table.h"
#include "bpe/walk.h"

struct counter {
    struct walk walk;   /* count by walk_text */
    struct table table; /* the counts: read it, clear it */
};

/* As walk_open. The counter must stay where it is. */
int counter_open(struct counter *c, struct str pattern, const struct str *regex, size_t n_regex,
                 const struct str *special, size_t n_special, enum invalid_policy invalid, struct err *e);
void counter_close(struct counter *c); /* a zeroed counter is fine */

#endif
