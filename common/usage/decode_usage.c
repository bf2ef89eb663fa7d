/* decode_usage.c - see decode_usage.h. */
#include "usage/decode_usage.h"

static int check(void *options, struct err *e)
{
    const struct decode_options *o = options;
    if (shared_options_model(o->model, e) || shared_options_stdin(o->model, o->files, o->n_files, "the ids", e))
        return -1;
    return o->format == DECODE_TEXT && o->dtype != DTYPE_BY_VOCABULARY
               ? err_set(e, EX_USAGE, "-d is for -f raw: ids in decimal have no type")
               : 0;
}

static const char *const formats[] = {"raw", "text", NULL};

static const struct option_row rows[] = {
    MODEL_OPTION(struct decode_options, model),
    {'f', "format", "FORMAT", "raw: ids, little-endian (default); text: in decimal, with spaces between",
     OPTION_TO(CHOICE, struct decode_options, format), .words = formats},
    DTYPE_OPTION(struct decode_options, dtype),
    {'s', "special-token", "TOKEN[=ID]", "a special token, for a .tiktoken file that has no PATH.json beside it",
     OPTION_TO(TEXTS, struct decode_options, special)},
    {'o', "output", "PATH", "the text goes to PATH, which appears when all is done",
     OPTION_TO(OUTPUT, struct decode_options, path)},
    {0},
};

const struct usage decode_usage = {
    .name = "bpe-decode",
    .synopsis = "-m MODEL [-f raw|text] [-d u16|u32] [-s TOKEN[=ID]]... [-o PATH] [FILE...]",
    .about = "Writes the text of ids. FILEs (standard input if none, or -) are what bpe-encode -f raw or\n"
             "-f text writes.",
    .options = rows,
    USAGE_FILES(struct decode_options, files, n_files),
    .check = check,
};
