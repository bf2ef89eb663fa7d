/* chunk_plan.h - how much text goes into a piece and into a record.
 *
 * By reference, a range record is what GNU parallel gives to one process: enough text to be worth starting one, but so
 * little that each core gets several. By value, a record has to pass through a pipe. Where the kernel deals records
 * from a socket to processes that stay (base/io/packet.h), one costs next to nothing: they are so small that all
 * processes end at about the same time.
 */
#ifndef BPE_CHUNK_CHUNK_PLAN_H
#define BPE_CHUNK_CHUNK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_plan {
    uint64_t record; /* by reference: bytes of text after which a range record ends */
    uint64_t piece;  /* by reference: bytes of a piece */
    uint64_t value;  /* by value: bytes of a piece, each of which is a record */
};

/* bytes: the size of all text by reference; block: the size that pieces should have, 0: chosen here. dealt: through
 * such a socket. rules: the length of what comes with each text by value. */
struct chunk_plan chunk_plan_make(uint64_t bytes, uint64_t block, bool dealt, size_t rules);

#endif
