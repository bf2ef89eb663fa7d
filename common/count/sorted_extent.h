/* sorted_extent.h - a part of a file that consists of whole words records of one sum, in order. Its pretokens are
 * sorted, and are read from the file when they are merged. */
#ifndef BPE_COUNT_SORTED_EXTENT_H
#define BPE_COUNT_SORTED_EXTENT_H

#include "base/sys/buf.h"
#include "count/external_merge.h"
#include "wire/word_sequence.h"

#include <stdint.h>

struct sorted_extent {
    const char *path;             /* borrowed */
    uint64_t begin, end;          /* bytes [begin, end) of the file */
    uint64_t n_records, checksum; /* the sum of their checksums, modulo 2^64 */
    uint64_t denominator;         /* of the counts */
    /* While it is read, by sorted_extent_source: */
    int fd;
    uint64_t at, sum_read;    /* the file offset of the next read; the sum of the checksums so far */
    struct buf data, payload; /* data.p[pos .. data.len): read, not yet used */
    size_t pos;
    struct word_sequence words;
};

/* An input that reads the extent (borrowed) in constant memory. It fails with EX_DATAERR if the file does not match the
 * extent: do not use what was read then. */
struct sorted_input sorted_extent_source(struct sorted_extent *x);

#endif
