/* count_usage.h - the command line of bpe-count. */
#ifndef BPE_USAGE_COUNT_USAGE_H
#define BPE_USAGE_COUNT_USAGE_H

#include "base/cli/usage.h"

struct count_options {
    uint64_t memory;
    char **files;
    int n_files;
};

extern const struct usage count_usage;

#endif
