/* sum_usage.c - see sum_usage.h. */
#include "usage/sum_usage.h"

#include "base/sys/memory.h"
#include "usage/weight_option.h"

static void init(void *options)
{
    struct sum_options *o = options;
    o->memory = memory_limit() / 2;
}

static int check(void *options, struct err *e)
{
    const struct sum_options *o = options;
    return weight_option_check(&o->weights, o->files != usage_no_files, o->n_files, e);
}

static const struct option_row rows[] = {
    WEIGHT_OPTION(struct sum_options, weights),
    {'S', "memory", "SIZE", "use about SIZE of memory, then the disk (default 50%)",
     OPTION_TO(MEMORY, struct sum_options, memory)},
    {'T', "temp", "DIR", "write temporary files to DIR (default $TMPDIR, or /tmp)",
     OPTION_TO(TEXT, struct sum_options, temp)},
    {0, "missing", "FILE", "write the uncounted ranges to FILE, for bpe-count or bpe-chunk --only",
     OPTION_TO(TEXT, struct sum_options, missing)},
    {0, "partial", NULL, "write an incomplete sum too, to be completed later",
     OPTION_TO(FLAG, struct sum_options, partial)},
    {'q', "quiet", NULL, "do not warn about parts that are missing or were counted before",
     OPTION_TO(FLAG, struct sum_options, quiet)},
    {0},
};

const struct usage sum_usage = {
    .name = "bpe-sum",
    .synopsis = "[-S SIZE] [-T DIR] [--missing FILE] [--partial] [-q]\n"
                "[[--weight=WEIGHT] FILE...]...",
    .about = "Adds up counts (from bpe-count or bpe-sum); the sum goes to standard output, for bpe-merge.",
    .options = rows,
    USAGE_FILES(struct sum_options, files, n_files),
    .init = init,
    .check = check,
};
