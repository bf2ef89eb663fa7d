/* counter.h - from text to counts: a pretokenizer whose pretokens go to a table. One counter for one set of rules. */
#ifndef BPE_COUNT_COUNTER_H
#define BPE_COUNT_COUNTER_H

#include "count/table.h"
#include "text/pretokenize.h"

struct counter {
    struct pretokenizer pretokenizer; /* count by pretokenize_text; its policy for invalid bytes may be set anew */
    struct table table;               /* the counts: read it, clear it */
};

/* As pretokenizer_open. The counter must stay where it is. */
int counter_open(struct counter *c, const struct rules *rules, enum invalid_policy invalid, struct err *e);
void counter_close(struct counter *c); /* a zeroed counter is fine */

#endif
