/* chunk_usage.c - see chunk_usage.h. */
#include "usage/chunk_usage.h"

#include "usage/shared_options.h"
#include "usage/weight_option.h"
#include "wire/record.h"

#include <limits.h>

static int check(void *options, struct err *e)
{
    struct chunk_options *o = options;
    if (o->only && (rules_options_given(&o->rules) || source_options_given(&o->source) || o->weights.n))
        return err_set(e, EX_USAGE, "--only takes the rules from its file; leave out options that set them");
    if (rules_options_check(&o->rules, e) || source_options_check(&o->source, o->files != usage_no_files, e) ||
        weight_option_check(&o->weights, o->files != usage_no_files, o->n_files, e))
        return -1;
    return o->rules.model ? source_options_stdin(&o->source, o->rules.model, o->files, o->n_files, e) : 0;
}

static int check_special(const char *token, void *options, struct err *e)
{
    (void)token;
    return shared_options_special(&((struct chunk_options *)options)->rules.special, "-s", e);
}

static int check_block(const char *size, void *options, struct err *e)
{
    uint64_t block = ((const struct chunk_options *)options)->block;
    return block == 0 || block > RECORD_MAX / 4 ? err_set(e, EX_USAGE, "-b %s: must be between 1 and 256M", size) : 0;
}

/* A standard stream cannot be the status descriptor. */
static int check_status(const char *fd, void *options, struct err *e)
{
    uint64_t status = ((const struct chunk_options *)options)->status;
    return status < 3 || status > INT_MAX
               ? err_set(e, EX_USAGE, "--input-status %s: must be a descriptor, at least 3", fd)
               : 0;
}

static const struct option_row rows[] = {
    RULES_OPTIONS(struct chunk_options, rules, check_special),
    {'b', "block", "SIZE", "split the text into pieces of about SIZE (default: depends on the input)",
     OPTION_TO(SIZE, struct chunk_options, block), .check = check_block},
    {0, "dealt", NULL,
     "write records for a program that distributes them one at a time, not\n"
     "for GNU parallel: 4 MiB of text each, without padding",
     OPTION_TO(FLAG, struct chunk_options, dealt)},
    {0, "inline", NULL, "include the text of regular files, instead of references to it",
     OPTION_TO(FLAG, struct chunk_options, inline_text)},
    SOURCE_OPTIONS(struct chunk_options, source),
    SOURCE_ID(struct chunk_options, source.id),
    INVALID_OPTION(struct chunk_options, source, "is a pretoken"),
    WEIGHT_OPTION(struct chunk_options, weights),
    {0, "only", "FILE", "read only the ranges of FILEs that FILE lists (from --missing)",
     OPTION_TO(TEXT, struct chunk_options, only)},
    {0, "input-status", "FD",
     "treat standard input as complete only if descriptor FD then delivers a\n"
     "zero byte; for a program that also starts the writer of the input",
     OPTION_TO(COUNT, struct chunk_options, status), OPTION_GIVEN(struct chunk_options, has_status),
     .check = check_status},
    {0},
};

const struct usage chunk_usage = {
    .name = "bpe-chunk",
    .synopsis = "[-p NAME | -e REGEX] [-m MODEL] [-s TOKEN]... [--no-special]\n"
                "[--normalize=none|nfc] [-b SIZE] [--dealt] [--inline] [-0]\n"
                "[--jsonl[=FIELD] [--id=FIELD]] [--wet] [--fe] [--on-error=fail|skip]\n"
                "[--files-from LIST | --files0-from LIST] [--invalid=error|replace|skip|bytes]\n"
                "[--only FILE] [[--weight=WEIGHT] FILE...]...",
    .about = "Cuts text into chunks for bpe-count. FILEs (default, or -: standard input) are plain text,\n"
             "which may be compressed with zstd or gzip.",
    .options = rows,
    USAGE_FILES(struct chunk_options, files, n_files),
    .check = check,
};
