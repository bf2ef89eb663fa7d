/* encode_usage.c - see encode_usage.h. */
#include "usage/encode_usage.h"

#include "base/io/fd.h"
#include "pretok/pattern.h"

/* -p is checked later, with the model: by then the output is known, so a reader of records can receive the error. */
static int check(void *options, struct err *e)
{
    const struct encode_options *o = options;
    const struct source_options *s = &o->source;
    if (shared_options_model(o->model, e) || source_options_check(s, o->files != usage_no_files, e) ||
        source_options_stdin(s, o->model, o->files, o->n_files, e))
        return -1;
    return 0;
}

static const char *const formats[] = {"raw", "records", "text", "turns", NULL},
                         *const eots[] = {"none", "before", "after", NULL},
                         *const specials[] = {"token", "text", "error", NULL};

static const struct option_row rows[] = {
    MODEL_OPTION(struct encode_options, model),
    {'f', "format", "FORMAT",
     "raw: little-endian ids (default for text); records (default for chunks);\n"
     "text: decimal ids, one line per document;\n"
     "turns: raw, but written only when another program (bpe encode) permits it",
     OPTION_TO(CHOICE, struct encode_options, format), .words = formats, .first = IDS_RAW},
    DTYPE_OPTION(struct encode_options, dtype),
    {0, "eot", "WHERE",
     "write one separator before or after each document, instead of those in\n"
     "the text; none (default): only those in the text",
     OPTION_TO(CHOICE, struct encode_options, eot), .words = eots},
    {0, "eot-token", "TOKEN", "separator (default: <|endoftext|> or similar, or the only special token)",
     OPTION_TO(TEXT, struct encode_options, eot_token)},
    {0, "special", "WHAT",
     "special tokens in the text: token (they become their ids; default), text\n"
     "(encode them like any other text) or error",
     OPTION_TO(CHOICE, struct encode_options, special), .words = specials},
    INVALID_OPTION(struct encode_options, source, "becomes its token"),
    SOURCE_OPTIONS(struct encode_options, source),
    {'p', "pattern", "NAME", "the pattern, for a .tiktoken file without a PATH.json",
     OPTION_TO(TEXT, struct encode_options, pattern), .get_words = pattern_names},
    {'s', "special-token", "TOKEN[=ID]", "a special token of such a model; repeat for several",
     OPTION_TO(TEXTS, struct encode_options, special_token)},
    {'o', "output", "PATH", "write the ids to PATH, which appears when it is complete",
     OPTION_TO(OUTPUT, struct encode_options, path)},
    {0},
};

const struct usage encode_usage = {
    .name = "bpe-encode",
    .synopsis = "-m MODEL [-f raw|records|text|turns] [-d u16|u32]\n"
                "[--eot=none|before|after] [--eot-token=TOKEN]\n"
                "[--special=token|text|error] [--invalid=error|replace|skip|bytes]\n"
                "[-0] [--jsonl[=FIELD]] [--wet] [--fe] [--on-error=fail|skip]\n"
                "[--files-from LIST | --files0-from LIST]\n"
                "[-p NAME] [-s TOKEN[=ID]]... [-o PATH] [FILE...]",
    .about = "Encodes text as token ids of a model. FILEs (default, or -: standard input) are plain text,\n"
             "which may be compressed with zstd or gzip, or chunks from bpe-chunk -m MODEL.",
    .options = rows,
    USAGE_FILES(struct encode_options, files, n_files),
    .check = check,
};

int encode_options_keep_apart(const struct encode_options *o, const char *path, struct err *e)
{
    char *const model[] = {(char *)(uintptr_t)o->model};
    if (fd_keep_apart(path, model, 1, e) || fd_keep_apart(path, o->files, (size_t)o->n_files, e))
        return -1;
    return 0;
}
