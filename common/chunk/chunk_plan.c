/* chunk_plan.c - see chunk_plan.h. */
#include "chunk/chunk_plan.h"

#include <unistd.h>

/* Bytes of text in a range record: enough to be worth starting a process, but little enough to be redone quickly, so
 * that a terabyte is thousands of records. */
static const uint64_t RECORD_MIN = 16 << 20, RECORD_MOST = 256 << 20;
static const uint64_t PIECE_MAX = 64 << 20; /* text in a piece; bpe-count may end a batch only after a whole piece */
static const uint64_t VALUE = 256 << 10;

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct chunk_plan chunk_plan_make(uint64_t bytes, uint64_t block)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n_most = cores > 1 ? 4 * (uint64_t)cores : 4; /* records, where these are neither small nor large */
    uint64_t work = at_most(at_least(bytes / n_most, RECORD_MIN), RECORD_MOST);
    uint64_t n_records = (bytes + work - 1) / work;
    /* All of about the same size; a single one is not full before the last input: so it is known to be the only one. */
    uint64_t record = n_records > 1 ? (bytes + n_records - 1) / n_records : bytes + 1;
    return (struct chunk_plan){
        .record = record, .piece = block ? block : at_most(record, PIECE_MAX), .value = block ? block : VALUE};
}
