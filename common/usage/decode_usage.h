/* decode_usage.h - the command line of bpe-decode. */
#ifndef BPE_USAGE_DECODE_USAGE_H
#define BPE_USAGE_DECODE_USAGE_H

#include "base/cli/usage.h"
#include "usage/shared_options.h"

enum decode_format { DECODE_RAW, DECODE_TEXT };

struct decode_options {
    const char *model, *path;
    enum decode_format format;
    struct option_texts special;
    enum model_dtype dtype;
    char **files;
    int n_files;
};

extern const struct usage decode_usage;

#endif
