/* count_usage.h - the command line of bpe-count. */
#ifndef BPE_USAGE_COUNT_USAGE_H
#define BPE_USAGE_COUNT_USAGE_H

#include "base/cli/usage.h"
#include "input/reading.h"
#include "usage/rules_options.h"

struct count_options {
    uint64_t memory;
    enum counts_order counts;
    bool raw;
    bool pairs;                 /* --pairs, or */
    uint64_t min;               /* its argument */
    const char *runs;           /* --runs: the live pairs; NULL: neither */
    const char *among;          /* with `pairs`: the file of live pairs of an earlier round; or NULL */
    const char *cache;          /* the same: where ids are kept; NULL: nowhere */
    struct rules_options rules; /* only with `counts`; only the model with pairs and runs */
    char **files;
    int n_files;
};

extern const struct usage count_usage;

#endif
