/* check_samples.h - documents of shards that are to be encoded anew: where each comes from, and a hash of its ids.
 *
 * They are the first and last documents of shards, of which the manifest says where they are, also those that run on
 * from one shard to the next; and some from the tables of --docs.
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
    const char *source; /* borrowed from the manifest, or owned by the samples */
    bool by_line;       /* it is known by its line; else by its offset */
    uint64_t line, offset;
    uint64_t end; /* of its text; 0: not known. exact: it is, and not only that it is not before the document's end */
    bool exact;
    bool whole; /* all its ids were seen */
    const struct manifest_shard *shard;
    uint64_t token, tokens;          /* where its ids begin in the shard, and their number */
    unsigned char hash[HASH128_LEN]; /* of the ids, as 4 bytes each */
};

/* Ids that are being hashed. */
struct check_track {
    bool on;
    size_t sample;
    uint64_t from, to; /* of the shard's ids; to UINT64_MAX: not known yet */
    struct hash128 *hash;
};

enum { TRACK_FIRST, TRACK_LAST, TRACK_ROW, N_TRACKS };

struct check_samples {
    const struct manifest *manifest; /* borrowed */
    const struct input_form *form;
    struct check_sample *sample; /* owned */
    size_t n, cap;
    struct check_track track[N_TRACKS];
    const struct manifest_shard *shard; /* that is read now */
    bool carries;                       /* TRACK_LAST goes on in the next shard */
    size_t every;                       /* edges of each shard, or of each so-many-th */
    uint64_t documents, next_row;       /* of the shard: begun so far; the next to be taken from the table */
    uint64_t step;                      /* about every so many documents */
    size_t row_before;                  /* the sample whose text ends where the next document begins; SIZE_MAX: none */
    char **name;                        /* owned: names from tables */
    size_t n_names, cap_names;
};

int check_samples_init(struct check_samples *x, const struct manifest *m, const struct input_form *form, struct err *e);
void check_samples_free(struct check_samples *x); /* a zeroed one is fine */

/* A shard begins; its documents and ids follow, as its format reads them. token: the number of ids of the shard before
 * these; n: their number. */
int check_samples_shard(struct check_samples *x, const struct manifest_shard *s, struct err *e);
int check_samples_begin(struct check_samples *x, const struct document *d, uint64_t token, struct err *e);
void check_samples_ids(struct check_samples *x, const unsigned char *p, size_t n, unsigned width, uint64_t token);
void check_samples_end(struct check_samples *x, uint64_t token);

/* All shards are read: only the samples that are whole stay, by source, and in the order in which they can be read. */
void check_samples_finish(struct check_samples *x);

/* Adds ids to a hash as the samples have them. */
void check_hash_ids(struct hash128 *h, const unsigned char *p, size_t n, unsigned width);

#endif
