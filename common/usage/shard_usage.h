/* shard_usage.h - the command line of bpe-shard. */
#ifndef BPE_USAGE_SHARD_USAGE_H
#define BPE_USAGE_SHARD_USAGE_H

#include "base/cli/usage.h"
#include "shard/shard_pipeline.h"

struct shard_options {
    struct shard_pipeline_options pipeline;
    unsigned format, shuffle;
    const char *fraction;
    bool drop, pad;
    bool convert;
    const char *check, *list, *model; /* --check DIR, --list DIR, -m */
    char **files;
    int n_files;
};

extern const struct usage shard_usage;

#endif
