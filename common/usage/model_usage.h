/* model_usage.h - the command line of bpe-model. */
#ifndef BPE_USAGE_MODEL_USAGE_H
#define BPE_USAGE_MODEL_USAGE_H

#include "base/cli/usage.h"
#include "model/formats.h"

struct model_options {
    bool info, diff, has_format, has_form;
    uint64_t vocab_size, prune, multiple;
    bool has_vocab_size, has_prune, has_multiple, partial;
    struct option_texts add_special;
    const char *eos, *pad;
    unsigned superwords; /* of enum superword_kind */
    bool has_superwords;
    bool drop_unused;
    unsigned merges_as_strings; /* 0 or 1 */
    unsigned format_number;     /* of model_format_names */
    const struct model_format *format;
    const char *path, *pattern;
    struct option_texts special;
    char **files;
    int n_files;
};

extern const struct usage model_usage;

#endif
