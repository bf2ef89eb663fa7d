/* merge_usage.h - the command line of bpe-merge. */
#ifndef BPE_USAGE_MERGE_USAGE_H
#define BPE_USAGE_MERGE_USAGE_H

#include "base/cli/usage.h"
#include "model/formats.h"
#include "train/trainer.h"

enum merge_special { MERGE_SPECIAL_BY_FORMAT, MERGE_SPECIAL_FIRST, MERGE_SPECIAL_LAST };

enum { MERGE_SIZES = 64 }; /* maximum number of vocabulary sizes */

/* A vocabulary size, and how it was written. */
struct merge_size {
    uint64_t n;
    int len;
    const char *text;
};

struct merge_options {
    const char *sizes; /* as given; NULL: missing */
    struct merge_size size[MERGE_SIZES];
    size_t n_sizes;
    bool has_form, partial, quiet;
    unsigned merges_as_strings; /* 0 or 1 */
    enum train_tie tie;
    bool has_tie;
    const char *init;    /* a model to extend; NULL: none */
    const char *extend;  /* the same, given as --extend; it is also `init` */
    bool superwords;     /* --extend: by superwords, from runs of its ids */
    bool no_overlaps;    /* overlapping occurrences of a pair count once */
    uint64_t live_pairs; /* with --live: so many pairs are enough; 0: no limit */
    uint64_t live;       /* --live: choose pairs with this budget, instead of merging; 0: no */
    bool parity;
    struct option_placed dev; /* --parity: the FILEs after the first are development texts */
    const char *ratio_text, *alpha_text;
    double *ratio; /* the same: for each language; owned; NULL: not given */
    uint64_t global_merges, window;
    bool has_window; /* --window or --alpha */
    double alpha;
    int n_languages; /* the first FILEs; the others are development texts */
    uint64_t min_count, min_frequency, max_token_len;
    bool has_min_frequency;
    bool utf8_boundaries;
    struct option_texts veto; /* files */
    enum merge_special special;
    struct option_texts add_special;
    unsigned format_number; /* of model_format_names */
    const struct model_format *format;
    const char *path;  /* of the models, in which %v is a size; NULL: standard output */
    const char *stats; /* NULL: none */
    char **files;
    int n_files;
};

extern const struct usage merge_usage;

/* The largest of the sizes. */
const struct merge_size *merge_largest(const struct merge_options *o);

/* The path of the model of size[i]; %t in it becomes `first`, unless that is NULL. Owned by the caller; NULL: out of
 * memory. Only if o->path is not NULL. */
char *merge_path(const struct merge_options *o, size_t i, const char *first, struct err *e);

/* Calls `check` with the path of each output: of the models (NULL: standard output), and of the statistics. */
int merge_each_output(const struct merge_options *o, int (*check)(void *ctx, const char *path, struct err *e),
                      void *ctx, struct err *e);

/* Checks that --stats does not name this file of a model. -1: EX_USAGE. */
int merge_check_stats(const struct merge_options *o, const char *path, struct err *e);

#endif
