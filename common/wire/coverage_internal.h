/* coverage_internal.h - what is known of a run, for coverage.c, which notes it, and coverage_report.c, which says what
 * of it is missing. */
#ifndef BPE_WIRE_COVERAGE_INTERNAL_H
#define BPE_WIRE_COVERAGE_INTERNAL_H

#include "wire/coverage.h"
#include "wire/fragments.h"

/* If a macro of uthash is out of memory, the item is in no table; the caller sees that and reports it. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct coverage_source {
    struct source_facts facts; /* borrowed from the run's promise, or from `own`; name.p NULL: not known */
    unsigned char *own;        /* owned: what a commit said, before the promise came; or NULL */
    struct intervals done;
};

struct coverage_run {
    unsigned char id[ID_LEN];
    bool complete; /* a complete sum says so, or all that was promised is covered */
    bool promised;
    bool learned; /* sources are known by commits */
    struct fragments promise;
    struct buf promise_records;     /* as they came */
    struct coverage_source *source; /* owned */
    size_t n_source, cap_source;
    uint64_t covered, total, promised_bytes;
    uint64_t skipped;
    struct buf where;
    UT_hash_handle hh;
};

#endif
