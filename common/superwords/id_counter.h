/* id_counter.h - counts the ids of text: pairs of adjacent ones, or runs, for a round of training on superwords. The
 * counterpart of count/counter.h.
 *
 * Text is encoded by a model, each pretoken as a whole, and what is counted lies inside one pretoken, or sequence:
 *   pairs  every two adjacent ids whose tokens may be merged (train/superword_limits.h), "aaa" as two pairs;
 *          instead, if superwords join whole pretokens, in each sequence of pretokens of one id: ids with a letter,
 *          "aaa" as one pair; in a later round, perhaps only those that may be frequent (frequent_pairs.h);
 *   runs   the longest sequences of two ids or more in which all pairs are live (live_pairs.h).
 * Each id is counted, too. If rare pairs are left out, each time the counts are written, one more word says by how much
 * the count of any pair may be too low: SUPERWORDS_SLACK.
 */
#ifndef BPE_SUPERWORDS_ID_COUNTER_H
#define BPE_SUPERWORDS_ID_COUNTER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/chunk_reader.h"
#include "count/counter.h"
#include "encode/encoder.h"
#include "encode/superwords.h"
#include "model/model.h"
#include "superwords/frequent_pairs.h"
#include "superwords/id_store.h"
#include "superwords/live_pairs.h"
#include "superwords/pair_counts.h"
#include "train/superword_limits.h"
#include "wire/superword_round.h"

#include <stdbool.h>
#include <stdint.h>

/* What all counters of a process share. */
struct id_counting {
    struct model model;
    const char *name; /* of the model, for messages; borrowed */
    struct encoder encoder;
    struct live_pairs live;      /* for runs */
    struct frequent_pairs among; /* for pairs; zeroed: all are counted */
    struct superword_round round;
    uint64_t min; /* pairs that occur less often in a batch are left out: >= 1 */
    struct id_store store;
    struct superwords later;     /* the merges after those of the model whose ids are stored */
    uint64_t later_first;        /* the rank of the first of them; if later.runs is not NULL */
    struct superword *superword; /* owned: by id, of all that two bytes can express; what is no token is not allowed */
};

struct id_counting_files {
    const char *model;
    const char *live;  /* count runs: the live pairs, which must have been chosen for this model. NULL: count pairs */
    const char *among; /* only pairs on those in this file, which was made for the first merges of the model; or NULL */
    const char *cache; /* the directory of the id_store, or NULL */
};

/* Reads the files, whose names are borrowed. min: see above; 0: 1. -1: they cannot be read or used. Free it in any
 * case. */
int id_counting_open(struct id_counting *c, const struct id_counting_files *f, uint64_t min, struct err *e);
void id_counting_close(struct id_counting *c); /* a zeroed one is fine */

struct id_counter {
    struct counter counter; /* its pretokenizer passes pretokens to this counter; its table has runs */
    struct pair_counts pairs;
    struct id_counting *shared;    /* borrowed */
    struct buf rules;              /* those of the counts, encoded */
    bool whole;                    /* only whole documents have the same pretokens by the model's pattern */
    uint64_t *n_ids;               /* owned: how often each id occurred */
    struct ids stream;             /* to be counted: after each pretoken, an id of all ones */
    struct ids ids;                /* encoded, */
    struct id_borders borders;     /* and where pretokens end */
    struct ids read;               /* from the store, to be merged, with ends */
    unsigned char *waiting;        /* owned: runs to be put into the table, */
    uint32_t *ends;                /* where each ends, */
    size_t n_waiting, waiting_ids; /* how many there are, and their ids */
    struct id_store_key key;       /* of the piece */
    bool stores;                   /* its ids are being stored */
    uint64_t skipped;              /* bad lines before it, in the batch */
};

/* rules: those of the chunks. Text is split by the model's pattern, or the chunks' if that is the same pattern on
 * single lines. -1: EX_DATAERR: the chunks have other special tokens; or an error of counter_open. */
int id_counter_open(struct id_counter *c, struct id_counting *shared, const struct rules *rules, struct err *e);
void id_counter_close(struct id_counter *c); /* a zeroed one is fine */

/* For chunk_ops.recall, begin and end: counts a piece whose ids are stored, or stores those that are counted. */
int id_counter_recall(struct id_counter *c, struct chunk_run *r, const struct source_facts *f, struct piece *x,
                      struct err *e);
void id_counter_begin(struct id_counter *c, const struct chunk_run *r);
void id_counter_end(struct id_counter *c, const struct chunk_run *r, const struct piece *x);

/* Call it where a text ends or is cut, and at special tokens. -1: out of memory. */
int id_counter_end_text(struct id_counter *c, struct err *e);

/* As counter_is_full. */
bool id_counter_is_full(const struct id_counter *c, uint64_t memory, bool partly);

/* As counter_put. */
int id_counter_put(struct id_counter *c, struct ratio weight, struct batch *b, struct err *e);

#endif
