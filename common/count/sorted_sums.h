/* sorted_sums.h - adds up sums of any size in constant memory: sorted words in a file that can be read again are not
 * stored.
 *
 * A ledger_content, in front of the batch_stores. If the words of a batch come in order (one record after the other in
 * a regular file that is not compressed, each pretoken after the one before it), only their extent in that file is
 * recorded. When the batch counts, the extent becomes an input of the external merge, which reads the file again. All
 * other words go to the batch_stores: counts, which are not sorted; sums from pipes; small sums; and the words after
 * the point where the order breaks off.
 */
#ifndef BPE_COUNT_SORTED_SUMS_H
#define BPE_COUNT_SORTED_SUMS_H

#include "count/external_merge.h"
#include "wire/batch_store.h"
#include "wire/ledger.h"

struct kept_extent;

struct sorted_sums {
    struct batch_stores *stores;  /* borrowed */
    struct external_merge *merge; /* borrowed */
    /* Set this before the first record of each input, to the file to which the offsets of the records refer (borrowed
     * until sorted_sums_free); NULL: the input cannot be read again. */
    const char *path;
    struct kept_extent *kept; /* list of the extents of batches that count, which `merge` reads */
    uint64_t min;             /* smallest extent, in bytes */
    struct ratio worth;       /* of a count of 1, while the words of a batch are consumed */
};

/* memory: the bytes that the stores may use, approximately. */
void sorted_sums_init(struct sorted_sums *s, struct batch_stores *stores, struct external_merge *merge, size_t memory);
void sorted_sums_free(struct sorted_sums *s); /* call it after ledger_free; nothing can be merged after it */

/* For ledger_init, with the sorted_sums as its ctx. */
extern const struct ledger_content sorted_sums_content;

#endif
