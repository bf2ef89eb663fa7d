/* sorted_source.h - something that gives pretokens in the order of pretoken_compare, when they are merged: a segment on
 * disk, the sorted table, a sum in a file. */
#ifndef BPE_COUNT_SORTED_SOURCE_H
#define BPE_COUNT_SORTED_SOURCE_H

#include "base/sys/err.h"
#include "pretok/pretoken.h"

struct sorted_source {
    /* Gets the memory and descriptors that reading takes; NULL: none. */
    int (*open)(void *self, struct err *e);
    /* The next pretoken, whose bytes are padded (PRETOKEN_PAD), and borrowed until the next call. 1; 0: there is none
     * left; -1: error. */
    int (*next)(void *self, struct pretoken *w, struct err *e);
    /* Frees what open got; also after an error of open, or without open. NULL: nothing. */
    void (*close)(void *self);
    void *self; /* borrowed */
};

#endif
