/* count_usage.c - see count_usage.h. */
#include "usage/count_usage.h"

#include "usage/shared_options.h"

static void init(void *options)
{
    struct count_options *o = options;
    o->memory = 512 << 20;
}

static int check(void *options, struct err *e)
{
    struct count_options *o = options;
    const char *given = rules_options_given(&o->rules);
    if (!o->counts && given)
        return err_set(e, EX_USAGE,
                       "%s is for --counts; for text it is an option of bpe-chunk, and comes with the chunks", given);
    if (!o->counts)
        return o->raw ? err_set(e, EX_USAGE, "--raw is for --counts") : 0;
    if (rules_options_check(&o->rules, e))
        return -1;
    return o->rules.model ? shared_options_stdin(o->rules.model, o->files, o->n_files, "the counts", e) : 0;
}

static int check_special(const char *token, void *options, struct err *e)
{
    (void)token;
    return shared_options_special(&((struct count_options *)options)->rules.special, "-s", e);
}

static const struct option_row rows[] = {
    {'S', "memory", "SIZE", "write out the counts when the table exceeds SIZE (default 512M)",
     OPTION_TO(MEMORY, struct count_options, memory)},
    {0, "counts", "ORDER",
     "FILEs are lines of counts that other programs made. first (default):\n"
     "`count TAB pretoken`, as from bpe-view, or as from uniq -c; last:\n"
     "`pretoken TAB count`. The following options apply only to these",
     OPTION_TO(CHOICE, struct count_options, counts), .if_none = "first", .words = counts_order_names,
     .first = COUNTS_FIRST},
    {0, "raw", NULL, "a backslash in them stands for itself; by default, \\n and so on are escapes",
     OPTION_TO(FLAG, struct count_options, raw)},
    RULES_OPTIONS(struct count_options, rules, check_special),
    {0},
};

const struct usage count_usage = {
    .name = "bpe-count",
    .synopsis = "[-S SIZE] [FILE...]\n"
                "bpe-count --counts[=first|last] [--raw] [-p NAME | -e REGEX] [-m MODEL]\n"
                "[-s TOKEN]... [--no-special] [--normalize=none|nfc] [-S SIZE] [FILE...]",
    .about = "Counts the pretokens of chunks (from bpe-chunk); counts go to standard output, for bpe-sum.",
    .options = rows,
    USAGE_FILES(struct count_options, files, n_files),
    .init = init,
    .check = check,
};
