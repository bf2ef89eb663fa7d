/* coverage.h - for each run, the expected input and the part of it that is covered. The part of the ledger that does
 * not deal with batches.
 *
 * The promise of a run lists its sources with their sizes. The run is complete when the ranges entered tile all sources
 * exactly, or when a complete sum covers it.
 */
#ifndef BPE_WIRE_COVERAGE_H
#define BPE_WIRE_COVERAGE_H

#include "base/sys/buf.h"
#include "base/sys/intervals.h"
#include "wire/commit.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct coverage_run;

struct coverage {
    struct buf rules;          /* encoded; the same for everything that is added up; empty: none seen yet */
    bool counted;              /* they are those of counts, and not only of a promise, which has no `superwords` */
    struct coverage_run *runs; /* hash table by id */
    uint64_t covered;          /* bytes; compressed bytes for compressed files by reference */
    uint64_t text;             /* bytes of text in everything that commits cover */
    uint64_t promised;         /* bytes, as far as known */
    uint64_t promise_parts;    /* promise records received, without repeated ones */
    bool tokens;               /* the text was encoded, not counted */
    bool by_value;             /* a promise lists text by value, so it was written after that text was read */
};

void coverage_free(struct coverage *c); /* a zeroed one is empty */

/* Notes that this run exists, so it must be complete in the end. */
int coverage_see(struct coverage *c, const unsigned char *run, struct err *e);
size_t coverage_n_runs(const struct coverage *c);
const unsigned char *coverage_only_run(const struct coverage *c); /* NULL if there are several or none */

/* Checks that these rules equal all earlier ones. promised: they are those of a promise or of a chunk, which says
 * nothing about what is counted (struct rules: superwords). -1 with EX_DATAERR, naming the stream, if not. */
int coverage_check_rules(struct coverage *c, struct str encoded, bool promised, const char *stream, struct err *e);

/* Checks that the weights of the runs of a commit equal those of what is covered. -1 with EX_DATAERR. */
int coverage_check_weights(const struct coverage *c, const struct commit *k, struct err *e);

/* Whether any weight is not 1. */
bool coverage_has_weights(const struct coverage *c);

/* Adds one record of a promise, a fragment of it. */
int coverage_promise(struct coverage *c, const struct record *rec, const char *stream, struct err *e);

/* Sets *o: how much of the ranges of a commit is already covered. */
int coverage_overlap(struct coverage *c, const struct commit *k, enum overlap *o, struct err *e);

/* Mark the ranges of a commit, all of which must be new, or one range of a run, as covered. EX_DATAERR if a range is
 * covered already. */
int coverage_enter(struct coverage *c, const struct commit *k, struct err *e);
int coverage_enter_range(struct coverage *c, const unsigned char *run, const struct commit_range *range,
                         uint64_t promised_bytes, struct err *e);

/* Marks all bytes of a source before `end` as covered. */
int coverage_fill(struct coverage *c, const unsigned char *run, uint64_t source, uint64_t end, struct err *e);

/* How much of one range of a run is covered. */
enum overlap coverage_overlap_range(const struct coverage *c, const unsigned char *run, const struct commit_range *x);

/* Notes what a commit states about a source (copied), for runs whose promise has not come yet. 1: it is new; 0: it was
 * known; -1: EX_DATAERR if it contradicts what was known, or out of memory. */
int coverage_learn(struct coverage *c, const unsigned char *run, const struct source_facts *s, struct err *e);

/* Gets what is known of a source (borrowed). A size of 0 may mean that it is not known: see coverage_size. */
bool coverage_source(const struct coverage *c, const unsigned char *run, uint64_t number, struct source_facts *to);

/* 1: *size is the size of the source; 0: the size is not known; -1: the run has no such source. */
int coverage_size(const struct coverage *c, const unsigned char *run, uint64_t number, uint64_t *size);

/* Notes the number of bad lines that a commit reports as left out; coverage_enter includes this. */
int coverage_note_skipped(struct coverage *c, const struct commit_run *in, struct err *e);

enum coverage_state {
    COVERAGE_COMPLETE,
    COVERAGE_MISSING,    /* runs whose promise is known lack ranges: see coverage_missing */
    COVERAGE_UNPROMISED, /* the promise of some run never arrived */
    COVERAGE_NOTHING,    /* no run was seen */
};
enum coverage_state coverage_state(const struct coverage *c);

/* What is missing in the runs whose promise, or at least some sources (coverage_learn), are known. If only sources are
 * known, everything in them that is not covered is missing, and the last range has no end (UINT64_MAX): it stands for
 * the rest of the last known source and all sources after it. A range of an earlier source whose size, or even name, is
 * not known has no end either. */
struct coverage_gap {
    struct str name;       /* of the first range's source; borrowed */
    struct interval first; /* the first range */
    uint64_t n;            /* number of missing ranges */
    uint64_t bytes;        /* their total bytes, without ranges that have no end */
};
struct coverage_gap coverage_missing(const struct coverage *c);

/* coverage_put_missing appends range records for all missing ranges, so that they can be counted again;
 * coverage_put_runs appends the runs with their covered ranges and their weights, for batch_end, and sets *n_runs to
 * their number; coverage_put_promises appends the promises of incomplete runs.
 *
 * If the promise has not come, sources are known only from batches of tokens. A range whose end and file size are
 * UINT64_MAX then stands for the rest of its source and, if that is the last one in the list, for all sources after it
 * as well. An unknown source among known ones has an empty name. */
int coverage_put_missing(const struct coverage *c, struct buf *out, struct err *e);
int coverage_put_runs(const struct coverage *c, struct buf *runs, uint64_t *n_runs, struct err *e);
int coverage_put_promises(const struct coverage *c, struct buf *out, struct err *e);

/* Appends, for each run, a words record of a batch without an end, so that a reader learns that the run exists even if
 * nothing else is known of it, not even its rules. */
int coverage_put_seen(const struct coverage *c, struct buf *out, struct err *e);

/* The number of bad JSON lines left out; *where is set to the place of the first ("name: line 7"; borrowed). */
uint64_t coverage_skipped(const struct coverage *c, struct str *where);

/* The same as reading_skipped_text formats it; NULL: no line was left out. */
const char *coverage_skipped_text(const struct coverage *c, bool none, char *text, size_t n);

#endif
