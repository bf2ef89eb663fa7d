/* encode_usage.h - the command line of bpe-encode. */
#ifndef BPE_USAGE_ENCODE_USAGE_H
#define BPE_USAGE_ENCODE_USAGE_H

#include "base/cli/usage.h"
#include "encode/id_writer.h"
#include "encode/tokenize.h"
#include "usage/shared_options.h"
#include "usage/source_options.h"

enum encode_special { SPECIAL_TOKEN, SPECIAL_TEXT, SPECIAL_ERROR };

struct encode_options {
    const char *model, *pattern, *eot_token, *path;
    struct option_texts special_token;
    enum id_format format;
    enum model_dtype dtype;
    enum tokenize_eot eot;
    enum encode_special special;
    struct source_options source;
    char **files;
    int n_files;
};

extern const struct usage encode_usage;

/* -1 with EX_USAGE if the output at a path (NULL: standard output) would replace the model or one of the FILEs. */
int encode_options_keep_apart(const struct encode_options *o, const char *path, struct err *e);

#endif
