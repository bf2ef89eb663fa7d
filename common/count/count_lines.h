/* count_lines.h - reads lines of counts, as other programs write them, and adds the counts to a table.
 *
 * A line is `count TAB pretoken`, as bpe-view writes it; blanks, count, space, pretoken, as uniq -c does; or `pretoken
 * TAB count`. The first line decides between the first two, for the whole input; the third is an option. Unless the
 * lines are raw, pretokens have the escapes of bpe-view and of databases, such as `\n` and `\xC3`; see unescape_byte.
 */
#ifndef BPE_COUNT_COUNT_LINES_H
#define BPE_COUNT_COUNT_LINES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "count/counter.h"
#include "count/pretoken_check.h"
#include "input/reading.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct count_lines {
    /* Borrowed, but for the first two. */
    enum counts_order order; /* not COUNTS_NONE */
    bool raw;                /* a backslash stands for itself */
    struct str rules;        /* as bpe-view shows them, to compare with what it showed; see record_text_rules */
    struct table *table;
    struct pretoken_check *check;
    /* Of the current input. */
    const char *name;        /* for messages; borrowed */
    unsigned char separator; /* after the count, with COUNTS_FIRST; 0: no count has come */
    uint64_t n_lines;
    uint64_t total;      /* the sum of all counts */
    uint64_t text;       /* bytes of the text that was counted: the sum of count times length */
    bool text_overflows; /* that is more than 2^64-1, so `text` is wrong */
    struct buf unescaped;
};

/* Sets the fields of the first group. check must have been initialized, and is used only for these lines. */
void count_lines_init(struct count_lines *c, enum counts_order order, bool raw, struct str rules, struct table *table,
                      struct pretoken_check *check);
void count_lines_free(struct count_lines *c); /* a zeroed one is fine */

/* Begins an input. */
void count_lines_begin(struct count_lines *c, const char *name);

/* Takes the lines in a window p[0 .. n), which begins where the used part of the previous one ended; SCAN_PAD bytes
 * after it must be readable. last: the input ends with it. Returns the number of bytes used: all whole lines. -1:
 * EX_DATAERR, with the line's place, and *where is its offset in the window; out of memory. */
ptrdiff_t count_lines_take(struct count_lines *c, const unsigned char *p, size_t n, bool last, size_t *where,
                           struct err *e);

#endif
