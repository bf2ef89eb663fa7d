/* coverage_internal.h - what is known of a run: coverage.c records it, and coverage_report.c reports what is missing.
 */
#ifndef BPE_WIRE_COVERAGE_INTERNAL_H
#define BPE_WIRE_COVERAGE_INTERNAL_H

#include "wire/coverage.h"
#include "wire/fragments.h"

/* If a macro of uthash runs out of memory, it does not add the item; the caller checks for that and reports it. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct coverage_source {
    struct source_facts facts; /* borrowed from the run's promise, or from `own`; name.p NULL: not known */
    unsigned char *own;        /* owned: facts from a commit, used until the promise comes; or NULL */
    struct intervals done;
};

struct coverage_run {
    unsigned char id[ID_LEN];
    bool complete; /* a complete sum covers it, or every promised byte is covered */
    bool promised;
    bool learned; /* some sources are known from commits */
    struct fragments promise;
    struct buf promise_records;     /* as received */
    struct coverage_source *source; /* owned */
    size_t n_source, cap_source;
    uint64_t covered, total, promised_bytes;
    uint64_t skipped;
    struct buf where;
    struct ratio weight;           /* as in struct commit_run; den 0: nothing is covered */
    struct commit_weight *weights; /* owned: those of its sources, with the bytes covered */
    size_t n_weights, cap_weights;
    UT_hash_handle hh;
};

#endif
