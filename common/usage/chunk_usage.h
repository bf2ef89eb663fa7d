/* chunk_usage.h - the command line of bpe-chunk. */
#ifndef BPE_USAGE_CHUNK_USAGE_H
#define BPE_USAGE_CHUNK_USAGE_H

#include "base/cli/usage.h"
#include "usage/rules_options.h"
#include "usage/source_options.h"

struct chunk_options {
    struct rules_options rules;
    bool inline_text, dealt;
    struct source_options source;
    uint64_t block; /* 0: chosen by chunk_plan */
    struct option_placed weights;
    const char *only;
    uint64_t status; /* the descriptor of --input-status */
    bool has_status;
    char **files;
    int n_files;
};

extern const struct usage chunk_usage;

#endif
