/* merge_usage.h - the command line of bpe-merge. */
#ifndef BPE_USAGE_MERGE_USAGE_H
#define BPE_USAGE_MERGE_USAGE_H

#include "base/cli/usage.h"
#include "model/formats.h"
#include "train/trainer.h"

enum merge_special { MERGE_SPECIAL_BY_FORMAT, MERGE_SPECIAL_FIRST, MERGE_SPECIAL_LAST };

struct merge_options {
    uint64_t vocab_size;
    bool has_vocab_size, partial;
    unsigned merges_as_strings; /* 0 or 1 */
    enum train_tie tie;
    uint64_t min_count, min_frequency, max_token_len;
    enum merge_special special;
    struct option_texts add_special;
    unsigned format_number; /* of model_format_names */
    const struct model_format *format;
    const char *path, *stats; /* NULL: standard output; none */
    char **files;
    int n_files;
};

extern const struct usage merge_usage;

/* Checks that --stats does not name this file of the model. -1: EX_USAGE. */
int merge_check_stats(const struct merge_options *o, const char *path, struct err *e);

#endif
