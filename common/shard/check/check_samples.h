/* check_samples.h - documents of shards to re-encode: where each comes from, and a hash of its ids.
 *
 * The samples are the first and last documents of shards, whose origin the manifest records, including those that
 * continue in the next shard; and some documents from the tables of --docs.
 */
#ifndef BPE_SHARD_CHECK_CHECK_SAMPLES_H
#define BPE_SHARD_CHECK_CHECK_SAMPLES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/hash.h"
#include "input/input_form.h"
#include "shard/format/manifest.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_sample {
    const char *source; /* borrowed from the manifest, or owned by struct check_samples */
    bool by_line;       /* located by its line, else by its offset */
    uint64_t line, offset;
    uint64_t end; /* end of its text; 0: unknown. Unless `exact`, an upper bound */
    bool exact;
    bool whole; /* all of its ids were hashed */
    const struct manifest_shard *shard;
    uint64_t token, tokens;          /* index of its first id in the shard, and number of its ids */
    unsigned char hash[HASH128_LEN]; /* of the ids, widened to 4 bytes each */
};

/* A sample whose ids are being hashed. */
struct check_track {
    bool on;
    size_t sample;
    uint64_t from, to; /* range of the shard's ids; to UINT64_MAX: end not known yet */
    struct hash128 *hash;
};

enum { TRACK_FIRST, TRACK_LAST, TRACK_ROW, N_TRACKS };

struct check_samples {
    const struct manifest *manifest; /* borrowed */
    const struct input_form *form;
    struct check_sample *sample; /* owned */
    size_t n, cap;
    struct check_track track[N_TRACKS];
    const struct manifest_shard *shard; /* the shard being read */
    bool carries;                       /* TRACK_LAST continues in the next shard */
    size_t every;                       /* sample the edges of every Nth shard */
    uint64_t documents, next_row;       /* of the shard: documents begun so far; the next to sample */
    uint64_t step;                      /* sample about every Nth document */
    size_t row_before;                  /* the sample whose text ends where the next document begins; SIZE_MAX: none */
    char **name;                        /* owned: source names from tables */
    size_t n_names, cap_names;
};

int check_samples_init(struct check_samples *x, const struct manifest *m, const struct input_form *form, struct err *e);
void check_samples_free(struct check_samples *x); /* a zeroed one is fine */

/* Begins a shard; its documents and ids follow, as its format reads them. token: how many ids of the shard come before;
 * n: number of ids. */
int check_samples_shard(struct check_samples *x, const struct manifest_shard *s, struct err *e);
int check_samples_begin(struct check_samples *x, const struct document *d, uint64_t token, struct err *e);
void check_samples_ids(struct check_samples *x, const unsigned char *p, size_t n, unsigned width, uint64_t token);
void check_samples_end(struct check_samples *x, uint64_t token);

/* After the last shard: keeps only complete samples, sorted by source and in the order in which they can be read. */
void check_samples_finish(struct check_samples *x);

/* Adds ids to a hash as for the samples: 4 bytes each. */
void check_hash_ids(struct hash128 *h, const unsigned char *p, size_t n, unsigned width);

#endif
