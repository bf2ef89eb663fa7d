/* external_merge.h - adds up more counts than fit in memory: sorted segments on disk, which are merged.
 *
 * As in sort(1), a table that gets too large is written out sorted. At the end, the segments, the inputs that are
 * already sorted, and the table in memory are merged by bytes, and the counts of equal pretokens are added. A limited
 * number of segments and inputs is read at a time (if there are more, some are first merged into longer segments), so
 * memory is bounded however many there are.
 */
#ifndef BPE_COUNT_EXTERNAL_MERGE_H
#define BPE_COUNT_EXTERNAL_MERGE_H

#include "base/io/spill.h"
#include "base/sys/ratio.h"
#include "count/table.h"

#include <stddef.h>
#include <stdint.h>

/* An input of a merge, which gives pretokens in the order of str_compare: a segment on disk, the sorted table, or a sum
 * in a file. */
struct sorted_input {
    /* Acquires the memory and descriptors that reading needs; NULL: none. */
    int (*open)(void *self, struct err *e);
    /* Gets the next pretoken; its bytes are padded (PRETOKEN_PAD), and borrowed until the next call. 1; 0: there is
     * none left; -1: error. */
    int (*next)(void *self, struct pretoken *w, struct err *e);
    /* Releases what open acquired; also called if open failed, or was not called. NULL: nothing. */
    void (*close)(void *self);
    void *self;         /* borrowed */
    struct ratio worth; /* of a count of 1; zeroed: 1 */
};

struct segment {               /* a sorted sequence of pretokens on disk */
    struct spill_block *block; /* owned */
    size_t n, cap;
    uint64_t denominator; /* of its counts */
};

struct external_merge {
    struct spill spill;
    struct segment *segment; /* owned */
    size_t n, cap;
    struct sorted_input *input; /* owned array */
    size_t n_inputs, cap_inputs;
    size_t fan_in;        /* segments and inputs merged at a time */
    uint64_t denominator; /* of the counts in the table, and of the merged counts; see external_merge_divide */
    uint64_t n_spilled;   /* segments ever written, for reports */
};

/* dir: as for spill_init. memory: the bytes that merging may use, approximately; an input takes up to 128 KiB, and at
 * least two are merged at a time. */
void external_merge_init(struct external_merge *r, const char *dir, size_t memory);
void external_merge_free(struct external_merge *r);

/* Writes the table as one more segment. This sorts the table, which can then only be cleared or freed. */
int external_merge_spill(struct external_merge *r, struct table *t, struct err *e);

/* The same, and clears the table, if it takes more than `max` bytes. */
int external_merge_relieve(struct external_merge *r, struct table *t, uint64_t max, struct err *e);

/* Sets the denominator, which is 1 at first, to a multiple of it. If the table has counts, they are written as a
 * segment, and the table is cleared. At the end, all counts of all inputs must be multiples of 1 / denominator. */
int external_merge_divide(struct external_merge *r, struct table *t, uint64_t denominator, struct err *e);

/* Adds an input (copied; its self is borrowed), which external_merge_merge will open and read once. */
int external_merge_add(struct external_merge *r, const struct sorted_input *input, struct err *e);

/* Passes every distinct pretoken of all segments, inputs and the table to `consume`, sorted by bytes, with the sum of
 * its counts. Stops with -1 when `consume` returns -1, and when a sum would exceed 2^64-1 (EX_DATAERR). The pretokens
 * are borrowed during the call. The table is sorted, as by external_merge_spill. */
int external_merge_merge(struct external_merge *r, struct table *t,
                         int (*consume)(void *ctx, const struct pretoken *w, struct err *e), void *ctx, struct err *e);

#endif
