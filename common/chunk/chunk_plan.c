/* chunk_plan.c - see chunk_plan.h. */
#include "chunk/chunk_plan.h"

#include <unistd.h>

/* Bytes of text in a range record: enough to be worth starting a process, but little enough to be redone quickly; a
 * terabyte makes thousands of records. */
enum { RECORD_MIN = 16 << 20, RECORD_MAX = 256 << 20 };
enum { PIECE_MAX = 64 << 20 }; /* bytes of text in a piece; bpe-count can end a batch only after a whole piece */
enum { VALUE = 256 << 10 };

/* Through a socket: bytes of text in a range record (with two processes, 256 KiB to 16 MiB took equally long), but more
 * if there would be more than DEALT_MANY records; and bytes of text by value, few enough that the record fits in one
 * message. */
enum { DEALT_MIN = 4 << 20, DEALT_MANY = 4096, DEALT_VALUE = 128 << 10 };

/* Longer rules are sent with more text by value. */
enum { RULES_SHORT = 32 << 10 };

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct chunk_plan plan_dealt(uint64_t bytes, size_t rules)
{
    uint64_t record = at_most(at_least(bytes / DEALT_MANY, DEALT_MIN), RECORD_MAX);
    return (struct chunk_plan){
        .record = record, .piece = at_most(record, PIECE_MAX), .value = rules > RULES_SHORT ? VALUE : DEALT_VALUE};
}

static struct chunk_plan plan_piped(uint64_t bytes)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n_most = cores > 1 ? 4 * (uint64_t)cores : 4; /* records, if that makes them neither too small nor too
                                                              large */
    uint64_t work = at_most(at_least(bytes / n_most, RECORD_MIN), RECORD_MAX);
    uint64_t n_records = (bytes + work - 1) / work;
    /* All records are about the same size. A record that holds everything must not become full before the last input,
     * so that it is known to be the only one. */
    uint64_t record = n_records > 1 ? (bytes + n_records - 1) / n_records : bytes + 1;
    return (struct chunk_plan){.record = record, .piece = at_most(record, PIECE_MAX), .value = VALUE};
}

struct chunk_plan chunk_plan_make(uint64_t bytes, uint64_t block, bool dealt, size_t rules)
{
    struct chunk_plan plan = dealt ? plan_dealt(bytes, rules) : plan_piped(bytes);
    if (block)
        plan.piece = plan.value = block;
    return plan;
}
