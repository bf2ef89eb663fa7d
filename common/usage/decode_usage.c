/* decode_usage.c - see decode_usage.h. */
#include "usage/decode_usage.h"

static int check(void *options, struct err *e)
{
    const struct decode_options *o = options;
    return shared_options_model(o->model, e) || shared_options_stdin(o->model, o->files, o->n_files, "the ids", e) ? -1
                                                                                                                   : 0;
}

static const struct option_row rows[] = {
    MODEL_OPTION(struct decode_options, model),
    DTYPE_OPTION(struct decode_options, dtype),
    {'s', "special-token", "TOKEN[=ID]", "a special token, for a .tiktoken file that has no PATH.json beside it",
     OPTION_TO(TEXTS, struct decode_options, special)},
    {0},
};

const struct usage decode_usage = {
    .name = "bpe-decode",
    .synopsis = "-m MODEL [-d u16|u32] [-s TOKEN[=ID]]... [FILE...]",
    .about = "Writes the text of ids: FILEs (standard input if none, or -) as bpe-encode -f raw writes them.",
    .options = rows,
    USAGE_FILES(struct decode_options, files, n_files),
    .check = check,
};
