/* count_usage.c - see count_usage.h. */
#include "usage/count_usage.h"

static void init(void *options)
{
    struct count_options *o = options;
    o->memory = 512 << 20;
}

static const struct option_row rows[] = {
    {'S', "memory", "SIZE", "write out the counts when the table exceeds SIZE (default 512M)",
     OPTION_TO(MEMORY, struct count_options, memory)},
    {0},
};

const struct usage count_usage = {
    .name = "bpe-count",
    .synopsis = "[-S SIZE] [FILE...]",
    .about = "Counts the pretokens of chunks (from bpe-chunk); counts go to standard output, for bpe-sum.",
    .options = rows,
    USAGE_FILES(struct count_options, files, n_files),
    .init = init,
};
