/* chunk_run.h - a run whose records are being read: its rules, how the current source is read, and which bytes of which
 * sources have been read. These are kept for the process, so that repeated pieces are processed once, and for the open
 * batch, so that its commit can list them.
 */
#ifndef BPE_CHUNK_CHUNK_RUN_H
#define BPE_CHUNK_CHUNK_RUN_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/intervals.h"
#include "base/sys/str.h"
#include "input/input_form.h"
#include "input/reading.h"
#include "pretok/pretokenize.h"
#include "pretok/rules.h"
#include "pretok/special.h"
#include "wire/commit.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

/* The state of a source of a run. */
struct chunk_source {
    uint64_t number;
    struct intervals seen;              /* bytes read in this process */
    struct intervals batch;             /* bytes in the open batch */
    struct chunk_source *next_in_batch; /* list of the sources with bytes in the batch; borrowed */
    struct line_place line;             /* the last place whose line number was counted */
    UT_hash_handle hh;
};

struct chunk_run {
    unsigned char id[ID_LEN];
    struct buf rules_bytes; /* rules and special point into it; empty: the run does not come from a record */
    struct rules rules;
    struct special_set special;
    struct buf reading_bytes; /* of the current source; reading points into it */
    struct reading reading;
    const struct input_form *form; /* that of `reading` */
    struct doc_reader *reader;     /* of that form, owned */
    struct chunk_source *sources;  /* hash table by number, owned */
    uint64_t promised_bytes;       /* see struct range_head */
    /* The open batch. */
    struct chunk_source *batch, **batch_end; /* list of its sources in order of arrival, and the end of the list */
    size_t n_ranges;                         /* number of their ranges */
    uint64_t n_bytes;                        /* bytes in these ranges */
    uint64_t n_text;                         /* bytes of their text, which is more for compressed files */
    struct bad_lines skipped;                /* lines left out */
    struct ratio weight;                     /* of all sources in it */
    bool weighs;                             /* set by the program: sources may have weights */
    bool provenance;          /* set by the program: commits list the sources of a batch, and documents have ids */
    struct buf batch_sources; /* if so: the sources' facts (commit_source_put) */
    void *work;               /* the program's state; set by its open, freed by its close */
    UT_hash_handle hh;
};

/* Initialize a run with these rules, copied; or one that does not come from a record, with a copy of *rules (strings
 * are borrowed), whose sources are read as *how. -1: EX_DATAERR or out of memory; call chunk_run_free in this case as
 * well. */
int chunk_run_init(struct chunk_run *r, const unsigned char *id, struct str rules_bytes, struct err *e);
int chunk_run_init_own(struct chunk_run *r, const unsigned char *id, const struct rules *rules,
                       const struct reading *how, struct err *e);
void chunk_run_free(struct chunk_run *r); /* frees everything except `work` */

/* Sets how the following sources are read. */
int chunk_run_set_reading(struct chunk_run *r, struct str encoded, struct err *e);

/* Tells a pretokenizer how the current source is read. */
static inline void chunk_run_pretokenizer(const struct chunk_run *r, struct pretokenizer *t)
{
    t->invalid = r->reading.invalid;
    t->valid = r->reader->valid;
}

/* Finds the source with that number, or adds it. NULL: out of memory. */
struct chunk_source *chunk_run_source(struct chunk_run *r, uint64_t number, struct err *e);

/* Adds bytes [begin, end), begin < end, of a source to the open batch. facts: what is known of the source, copied.
 * text: the number of bytes of their text. again: some of the bytes have been read before. */
int chunk_run_add(struct chunk_run *r, struct chunk_source *s, const struct source_facts *facts, uint64_t begin,
                  uint64_t end, uint64_t text, bool again, struct err *e);

/* Appends the ranges of the open batch, for batch_end, and with `provenance` its sources; then starts a new batch. */
int chunk_run_put(struct chunk_run *r, struct buf *runs, struct err *e);

#endif
