/* counter.h - from text to counts: special tokens, invalid UTF-8, pretokens, table. One counter for one set of rules.
 */
#ifndef BPE_BPE_COUNTER_H
#define BPE_BPE_COUNTER_H

#include "bpe/scan.h"
#include "bpe/special.h"
#include "bpe/table.h"

#include <stddef.h>
#include <stdint.h>

enum counter_invalid { COUNTER_ERROR, COUNTER_REPLACE, COUNTER_SKIP }; /* what to do with bytes that are not UTF-8 */

enum counter_end {
    COUNTER_MORE,   /* the document goes on: the caller comes back with the rest and more */
    COUNTER_DOC,    /* a document ends at the window's end */
    COUNTER_LETTER, /* the source was cut here inside a document, before a letter (cut.h) */
};

struct counter {
    struct scanner *scanner;
    struct special_set special;
    enum counter_invalid invalid;
    struct table table; /* the counts: read it, clear it */
    struct buf clean;
};

/* pattern or (NULL) regex as for scanner_open; the special tokens' bytes are borrowed until counter_close. */
int counter_open(struct counter *c, const struct pattern *pattern, const unsigned char *regex, size_t regex_len,
                 const struct special_token *special, size_t n_special, enum counter_invalid invalid, struct err *e);
void counter_close(struct counter *c); /* a zeroed counter is fine */

/* Counts p[0 .. n), a window of a source that begins where the last one was used up; p[n .. n + SCAN_PAD) must be
 * readable. Returns how many bytes were used: all of them, unless COUNTER_MORE. -1: *where is the offset in p of what
 * is wrong (EX_DATAERR: invalid UTF-8, a regex that takes too long, no such cut; message without a place), or out of
 * memory. */
ptrdiff_t counter_feed(struct counter *c, const unsigned char *p, size_t n, enum counter_end end, size_t *where,
                       struct err *e);

#endif
