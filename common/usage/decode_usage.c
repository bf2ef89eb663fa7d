/* decode_usage.c - see decode_usage.h. */
#include "usage/decode_usage.h"

static int check(void *options, struct err *e)
{
    const struct decode_options *o = options;
    if (shared_options_model(o->model, e) || shared_options_stdin(o->model, o->files, o->n_files, "the ids", e))
        return -1;
    return o->format == DECODE_TEXT && o->dtype != DTYPE_BY_VOCABULARY
               ? err_set(e, EX_USAGE, "-d applies only to -f raw: decimal ids have no type")
               : 0;
}

static const char *const formats[] = {"raw", "text", NULL};

static const struct option_row rows[] = {
    MODEL_OPTION(struct decode_options, model),
    {'f', "format", "FORMAT", "raw: little-endian ids (default); text: decimal ids, separated by spaces",
     OPTION_TO(CHOICE, struct decode_options, format), .words = formats},
    DTYPE_OPTION(struct decode_options, dtype),
    {'s', "special-token", "TOKEN[=ID]", "a special token, for a .tiktoken file without a PATH.json",
     OPTION_TO(TEXTS, struct decode_options, special)},
    {'o', "output", "PATH", "write the text to PATH, which appears when it is complete",
     OPTION_TO(OUTPUT, struct decode_options, path)},
    {0},
};

const struct usage decode_usage = {
    .name = "bpe-decode",
    .synopsis = "-m MODEL [-f raw|text] [-d u16|u32] [-s TOKEN[=ID]]... [-o PATH] [FILE...]",
    .about = "Decodes ids to text. FILEs (default, or -: standard input) are the output of bpe-encode -f raw\n"
             "or -f text.",
    .options = rows,
    USAGE_FILES(struct decode_options, files, n_files),
    .check = check,
};
