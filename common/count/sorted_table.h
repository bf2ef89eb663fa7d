/* sorted_table.h - the pretokens of a count table in order (str_compare). */
#ifndef BPE_COUNT_SORTED_TABLE_H
#define BPE_COUNT_SORTED_TABLE_H

#include "count/table.h"

#include <stdbool.h>

/* The sorted table, and the position up to which it has been read. */
struct sorted_table {
    struct table *table;           /* borrowed */
    size_t n12, n24, n_long;       /* for each of its tables: the number of pretokens read, */
    size_t end12, end24, end_long; /* and the total */
    struct key12 bytes12;          /* the bytes of the last pretoken returned, if it is from slots12 */
    uint64_t bytes24[3 + PRETOKEN_PAD / 8];
};

/* Sorts the table (borrowed) in place, which takes no memory (except if many long pretokens begin with the same 8
 * bytes). From then on the table may only be read through *s, cleared or freed. */
void sorted_table_init(struct sorted_table *s, struct table *t);

/* The next pretoken; false at the end. Its bytes are borrowed until the next call. */
bool sorted_table_next(struct sorted_table *s, struct pretoken *w);

#endif
