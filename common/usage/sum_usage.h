/* sum_usage.h - the command line of bpe-sum. */
#ifndef BPE_USAGE_SUM_USAGE_H
#define BPE_USAGE_SUM_USAGE_H

#include "base/cli/usage.h"

struct sum_options {
    uint64_t memory;
    const char *temp, *missing;
    bool partial, quiet;
    struct option_placed weights;
    char **files;
    int n_files;
};

extern const struct usage sum_usage;

#endif
