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
    struct rules_options rules; /* only with `counts` */
    char **files;
    int n_files;
};

extern const struct usage count_usage;

#endif
