/* sorted_sums.h - adding up sums of any size in constant memory: what comes sorted from a file that can be read again
 * is not stored.
 *
 * A ledger_content, in front of the batch_stores. The words of a batch that come in order (one record after the other
 * in a regular file that is not compressed, each pretoken after the one before it) are only noted, as an extent of that
 * file. When the batch counts, the extent becomes an input of the external merge, which reads the file again. All other
 * words go to the batch_stores: counts, which are not sorted, sums from pipes, small sums, and what follows where the
 * order breaks off.
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
    const char *path; /* to be set before the first record of each input: the file that it is, in which the records'
                         offsets count (borrowed until sorted_sums_free); NULL: it cannot be read again */
    struct kept_extent *kept; /* list of the extents of batches that count, which `merge` reads */
    uint64_t min;             /* bytes of an extent */
};

/* memory: the bytes that the stores may use, approximately. */
void sorted_sums_init(struct sorted_sums *s, struct batch_stores *stores, struct external_merge *merge, size_t memory);
void sorted_sums_free(struct sorted_sums *s); /* after ledger_free; then nothing can be merged */

/* For ledger_init, with the sorted_sums as its ctx. */
extern const struct ledger_content sorted_sums_content;

#endif
