/* chunk_run.h - a run whose records are read: its rules, how the source is read that is read now, and which bytes of
 * which sources came: in this process, so that what comes twice is done once, and in the batch that is open, so that
 * its commit says them.
 */
#ifndef BPE_READER_CHUNK_RUN_H
#define BPE_READER_CHUNK_RUN_H

#include "core/rules.h"
#include "reader/line_reader.h"
#include "records/payload.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "sys/intervals.h"
#include "sys/str.h"
#include "text/special.h"

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

/* What is known of a source of a run. */
struct chunk_source {
    uint64_t number;
    struct intervals seen;              /* bytes that came in this process */
    struct intervals batch;             /* bytes of the open batch */
    struct chunk_source *next_in_batch; /* list of the sources that have some; borrowed */
    struct line_place line;             /* where lines were counted last */
    UT_hash_handle hh;
};

struct chunk_run {
    unsigned char id[ID_LEN];
    struct buf encoded_rules; /* rules and special point into it */
    struct rules rules;
    struct special_set special;
    struct buf encoded_reading; /* of the source that is read now; reading points into it */
    struct reading reading;
    struct line_reader lines;     /* JSON Lines: of that source */
    struct chunk_source *sources; /* hash table by number, owned */
    uint64_t promised_bytes;      /* see struct range_head */
    /* The open batch. */
    struct chunk_source *batch, **batch_end; /* its sources, as they came; where the next one goes */
    size_t n_ranges;                         /* of all of them */
    uint64_t n_bytes;                        /* in these */
    struct bad_lines skipped;                /* lines left out of it */
    void *work;                              /* of the program; set by its open, freed by its close */
    UT_hash_handle hh;
};

/* A run with these rules, copied. -1: EX_DATAERR or out of memory; free it all the same. */
int chunk_run_init(struct chunk_run *r, const unsigned char *id, struct str encoded_rules, struct err *e);
void chunk_run_free(struct chunk_run *r); /* all but work */

/* From now on sources are read in this way. */
int chunk_run_set_reading(struct chunk_run *r, struct str encoded, struct err *e);

/* The source of that number. NULL: out of memory. */
struct chunk_source *chunk_run_source(struct chunk_run *r, uint64_t number, struct err *e);

/* Bytes [begin, end), begin < end, of a source are in the open batch. again: some of them came before. */
int chunk_run_add(struct chunk_run *r, struct chunk_source *s, uint64_t begin, uint64_t end, bool again, struct err *e);

/* Appends what the open batch covers, for batch_end; a new batch is open then. */
int chunk_run_put(struct chunk_run *r, struct buf *runs, struct err *e);

#endif
