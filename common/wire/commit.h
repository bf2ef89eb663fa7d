/* commit.h - the end of a batch: the type, number and checksum of its records, and which ranges of which runs they
 * cover. This is the content of commit and summary records (carried in fragments, see fragments.h). */
#ifndef BPE_WIRE_COMMIT_H
#define BPE_WIRE_COMMIT_H

#include "base/sys/bytes.h"
#include "base/sys/ratio.h"
#include "base/sys/str.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commit_range {
    uint64_t source, begin, end; /* bytes [begin, end) of a source */
};

/* A weight other than 1 that bpe-chunk gave to sources of a run, and how many bytes of them are covered. */
struct commit_weight {
    struct ratio weight;
    uint64_t bytes;
};

struct commit_run {
    const unsigned char *run;
    uint64_t promised_bytes;          /* as in range_head */
    uint64_t skipped;                 /* number of bad JSON lines left out */
    struct str where;                 /* the first of them: "name: line 7"; empty if none */
    bool whole;                       /* the run is complete, and has no ranges */
    uint64_t total;                   /* bytes covered */
    const struct commit_range *range; /* [n_ranges]; borrowed */
    size_t n_ranges;
    struct ratio weight;                 /* given to bpe-sum: of all counts of the run, besides those of its sources, */
    const struct commit_weight *sources; /* [n_sources], borrowed: in the order of ratio_order */
    size_t n_sources;
};

struct commit {
    enum record_type kind; /* of the batch's records: RECORD_WORDS or RECORD_TOKENS */
    struct str rules;      /* encoded */
    uint64_t n_records;
    uint64_t checksum;      /* of all records: the sum of their checksums, modulo 2^64 */
    uint64_t n_items;       /* the sum of all counts, or the number of ids */
    struct commit_run *run; /* owned array */
    size_t n_runs;
    struct commit_range *ranges;   /* owned: the ranges of all runs */
    struct commit_weight *weights; /* owned: the weights of the sources of all runs */
    bool has_weights;              /* extension "weights": a weight is not 1 */
    uint64_t denominator;          /* of the counts in the records */
    struct ratio weight;           /* by which they are multiplied: commit_weigh */
    struct str encoding;           /* of tokens: extension "encoding", for commit_encoding_get; empty: none */
    struct str sources;            /* extension "sources", to be read by commit_source_get until its end; empty: none */
    uint64_t text;                 /* bytes of text covered: extension "text", else commit_covered */
};

/* How the ids of a batch were made: settings that must be equal in all batches that belong together, and others worth
 * knowing. */
struct commit_encoding {
    uint64_t model;     /* fingerprint, as in struct tokens */
    uint64_t n_ids;     /* size of the vocabulary: all ids are smaller */
    struct str pattern; /* its name; empty: the model has regexes */
    unsigned eot;       /* separators: 0 only those in the text, 1 one before each document, 2 one after each */
    uint64_t separator; /* the id of the separator, plus 1; 0: not known */
    unsigned special;   /* how special tokens in the text are treated: 0 as tokens, 1 as text, 2 as errors */
};

/* Reads the content of a commit or summary, which is borrowed. -1 with EX_DATAERR: a damaged field, or an unknown
 * extension that is required. Call commit_free afterwards, also on failure. */
int commit_get(struct commit *k, struct str content, struct err *e);
void commit_free(struct commit *k); /* accepts a zeroed one */

/* Sets *denominator to the smallest one with which all counts are integers: the least common multiple of those of all
 * weights of the runs. EX_DATAERR: it does not fit. */
int commit_denominator(const struct commit *k, uint64_t *denominator, struct err *e);
int commit_no_denominator(struct err *e); /* sets that error */

/* Sets k->weight, and multiplies the weights of all runs by it. EX_DATAERR: a product does not fit. */
int commit_weigh(struct commit *k, struct ratio weight, struct err *e);

/* The bytes that the runs cover; compressed bytes for compressed files by reference. */
uint64_t commit_covered(const struct commit *k);

/* Append the fields before the runs (n_runs is used; run and ranges are not), and one run. */
int commit_put_head(struct buf *out, const struct commit *k, struct err *e);
int commit_put_run(struct buf *out, const struct commit_run *r, struct err *e);

/* Appends the weights of these n runs, in the order of the runs; nothing if all weights are 1. */
int commit_put_weights(struct buf *out, const struct commit_run *run, size_t n, struct err *e);

/* Append the other extensions, after the last run. `sources` is the output of commit_source_put for the sources whose
 * text is in the batch, with what the writer knows about them. */
int commit_put_encoding(struct buf *out, const struct commit_encoding *x, struct err *e);
int commit_put_sources(struct buf *out, const struct buf *sources, struct err *e);
int commit_put_text(struct buf *out, uint64_t text, struct err *e); /* only if it differs from commit_covered */
int commit_source_put(struct buf *sources, const struct source_facts *s, struct err *e);

/* Read them; strings are borrowed. -1 with EX_DATAERR. */
int commit_encoding_get(struct commit_encoding *x, struct str encoding, struct err *e);
int commit_source_get(struct source_facts *s, struct cursor *c, struct err *e);

#endif
