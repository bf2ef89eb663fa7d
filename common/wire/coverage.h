/* coverage.h - for each run, what was promised and what is covered: the part of the ledger that does not deal with
 * batches.
 *
 * A run promises sources with their sizes. It is complete when the ranges entered tile all of them exactly, or when a
 * complete sum says so.
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
    struct buf rules;          /* encoded; the same for all that is added up; empty: none seen yet */
    struct coverage_run *runs; /* hash table by id */
    uint64_t covered;          /* bytes; of compressed files by reference, compressed ones */
    uint64_t text;             /* bytes of text in all that commits cover */
    uint64_t promised;         /* bytes, as far as known */
    uint64_t promise_parts;    /* records of promises that came, each once */
    bool tokens;               /* what is covered was encoded, not counted */
    bool by_value;             /* a promise has text by value: it was made when that had been read */
};

void coverage_free(struct coverage *c); /* a zeroed one is empty */

/* Notes that this run exists: it must be complete in the end. */
int coverage_see(struct coverage *c, const unsigned char *run, struct err *e);
size_t coverage_n_runs(const struct coverage *c);
const unsigned char *coverage_only_run(const struct coverage *c); /* NULL: several, or none */

/* Whether these rules equal all that came before. -1 with EX_DATAERR, placed at the stream, if not. */
int coverage_check_rules(struct coverage *c, struct str encoded, const char *stream, struct err *e);

/* Adds a promise record (one part of it). */
int coverage_promise(struct coverage *c, const struct record *rec, const char *stream, struct err *e);

/* How much of the ranges of a commit is covered already. */
int coverage_overlap(struct coverage *c, const struct commit *k, enum overlap *o, struct err *e);

/* Mark the ranges of a commit, all of them new, or one range of a run as covered. A range that comes twice is
 * EX_DATAERR. */
int coverage_enter(struct coverage *c, const struct commit *k, struct err *e);
int coverage_enter_range(struct coverage *c, const unsigned char *run, const struct commit_range *range,
                         uint64_t promised_bytes, struct err *e);

/* Marks all bytes of a source before `end` as covered. */
int coverage_fill(struct coverage *c, const unsigned char *run, uint64_t source, uint64_t end, struct err *e);

/* How much of one range of a run is covered. */
enum overlap coverage_overlap_range(const struct coverage *c, const unsigned char *run, const struct commit_range *x);

/* Notes what a commit says of a source (copied), before the promise has come. 1: it is new; 0: it was known; -1:
 * EX_DATAERR: it contradicts what was known, or out of memory. */
int coverage_learn(struct coverage *c, const unsigned char *run, const struct source_facts *s, struct err *e);

/* What is known of a source (borrowed). Its size may be 0 because it is not known: see coverage_size. */
bool coverage_source(const struct coverage *c, const unsigned char *run, uint64_t number, struct source_facts *to);

/* 1: the source has that size; 0: its size is not known; -1: the run has no such source. */
int coverage_size(const struct coverage *c, const unsigned char *run, uint64_t number, uint64_t *size);

/* Notes the bad lines that a commit says were left out; coverage_enter includes it. */
int coverage_note_skipped(struct coverage *c, const struct commit_run *in, struct err *e);

enum coverage_state {
    COVERAGE_COMPLETE,
    COVERAGE_MISSING,    /* ranges are missing in runs whose promise is known: coverage_missing */
    COVERAGE_UNPROMISED, /* the promise of some run never came */
    COVERAGE_NOTHING,    /* there is no run */
};
enum coverage_state coverage_state(const struct coverage *c);

/* What is missing of the runs whose promise is known, or some sources of which are (coverage_learn): of these, all
 * that is not covered of the sources known, and one range without an end (UINT64_MAX): from a byte of the last of
 * them on, and all sources after it. A source before that whose size, or even name, is not known lacks a range
 * without an end, too. */
struct coverage_gap {
    struct str name;       /* of the first range's source; borrowed */
    struct interval first; /* the first range */
    uint64_t n;            /* number of missing ranges; 0: nothing is missing */
    uint64_t bytes;        /* their bytes in all, without ranges that have no end */
};
struct coverage_gap coverage_missing(const struct coverage *c);

/* Append: range records for all missing ranges, so that they can be counted again; the runs with their covered ranges,
 * for batch_end, and their number; the promises of the runs that are not complete.
 *
 * Of tokens, if the promise has not come, a range whose file has size and end UINT64_MAX is all of a source from a byte
 * on, and for the last source of the list, all sources after it, too. A source in the midst of others, of which nothing
 * is known, has no name there. */
int coverage_put_missing(const struct coverage *c, struct buf *out, struct err *e);
int coverage_put_runs(const struct coverage *c, struct buf *runs, uint64_t *n_runs, struct err *e);
int coverage_put_promises(const struct coverage *c, struct buf *out, struct err *e);

/* Appends, for each run, a words record of a batch that has no end: so that whoever reads it knows of the run, if
 * nothing else is known of it, not even its rules. */
int coverage_put_seen(const struct coverage *c, struct buf *out, struct err *e);

/* Number of bad JSON lines left out, and where the first was ("name: line 7"; borrowed). */
uint64_t coverage_skipped(const struct coverage *c, struct str *where);

/* The same as text of at most n bytes; NULL: none was left out. none: there is no text but in these lines, so their
 * field may be a wrong one. */
const char *coverage_skipped_text(const struct coverage *c, bool none, char *text, size_t n);

#endif
