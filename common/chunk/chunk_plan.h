/* chunk_plan.h - how much text goes into a piece and into a record.
 *
 * By reference, GNU parallel gives one range record to one process: it must be enough text to be worth starting a
 * process, but little enough for each core to get several. By value, a record has to pass through a pipe. If the kernel
 * deals records from a socket to long-running processes (base/io/packet.h), a record costs almost nothing, so records
 * are small enough for all processes to finish at about the same time.
 */
#ifndef BPE_CHUNK_CHUNK_PLAN_H
#define BPE_CHUNK_CHUNK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_plan {
    uint64_t record; /* by reference: bytes of text after which a range record ends */
    uint64_t piece;  /* by reference: bytes of a piece */
    uint64_t value;  /* by value: bytes of a piece; each piece is a record */
};

/* bytes: the size of all text by reference. block: the size of pieces; 0: chosen here. dealt: records go through such a
 * socket. rules: the length of the rules, which are sent with each text by value. */
struct chunk_plan chunk_plan_make(uint64_t bytes, uint64_t block, bool dealt, size_t rules);

#endif
