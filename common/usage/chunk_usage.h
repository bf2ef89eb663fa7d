/* chunk_usage.h - the command line of bpe-chunk. */
#ifndef BPE_USAGE_CHUNK_USAGE_H
#define BPE_USAGE_CHUNK_USAGE_H

#include "base/cli/usage.h"
#include "usage/source_options.h"

/* The special token if no option names one. */
#define CHUNK_SPECIAL "<|endoftext|>"

struct chunk_options {
    const char *pattern, *regex, *model;
    struct option_texts special;
    bool no_special, inline_text, dealt;
    unsigned normalizer; /* of enum normalizer */
    struct source_options source;
    uint64_t block; /* 0: chosen by chunk_plan */
    const char *only;
    uint64_t status; /* the descriptor of --input-status */
    bool has_status;
    char **files;
    int n_files;
};

extern const struct usage chunk_usage;

#endif
