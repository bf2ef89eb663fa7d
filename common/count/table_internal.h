/* table_internal.h - doubling the hash tables of table.h. For table.c only. */
#ifndef BPE_COUNT_TABLE_INTERNAL_H
#define BPE_COUNT_TABLE_INTERNAL_H

#include "count/table.h"

/* Whether a table with n slots in use has to grow. */
static inline bool too_full(size_t n, unsigned shift)
{
    return n > table_slots(shift) / 8 * 5;
}

/* Finds another spare slot, at `at` or after it. */
static inline void find_spare(struct table *t, size_t at)
{
    while (t->slots12[at].tail)
        at = table_next_slot(at, t->shift12);
    t->spare = at;
}

/* Each doubles one of the tables. -1: out of memory. */
int grow12(struct table *t, struct err *e);
int grow24(struct table *t, struct err *e);
int grow_long(struct table *t, struct err *e);

#endif
