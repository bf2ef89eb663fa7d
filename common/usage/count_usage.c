/* count_usage.c - see count_usage.h. */
#include "usage/count_usage.h"

#include "usage/shared_options.h"

static void init(void *options)
{
    struct count_options *o = options;
    o->memory = 512 << 20;
}

/* Checks that standard input, which is the chunks, is not also a file. */
static int check_files(const struct count_options *o, struct err *e)
{
    const char *file[] = {o->rules.model, o->runs, o->among};
    for (int i = 0; i < 3; i++)
        if (file[i] && shared_options_stdin(file[i], o->files, o->n_files, "the chunks", e))
            return -1;
    return 0;
}

static int check(void *options, struct err *e)
{
    struct count_options *o = options;
    struct rules_options others = o->rules;
    const char *given = rules_options_given(&o->rules), *ids = o->pairs ? "--pairs" : o->runs ? "--runs" : NULL;
    others.model = NULL;
    if (o->cache && !ids)
        return err_set(e, EX_USAGE, "--cache is for --pairs and --runs");
    if (o->among && !o->pairs)
        return err_set(e, EX_USAGE, "--among is for --pairs");
    if (o->pairs && o->runs)
        return err_set(e, EX_USAGE, "--pairs and --runs cannot be combined");
    if (ids && o->counts)
        return err_set(e, EX_USAGE, "%s and --counts cannot be combined", ids);
    if (ids && !o->rules.model)
        return err_set(e, EX_USAGE, "%s: missing -m MODEL, by which the text is encoded", ids);
    if (ids && rules_options_given(&others))
        return err_set(e, EX_USAGE, "%s is for --counts; with %s, the model determines how text splits",
                       rules_options_given(&others), ids);
    if (ids)
        return check_files(o, e);
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
    {0, "pairs", "MIN",
     "encode the text with -m MODEL, and count pairs of adjacent tokens and\n"
     "single ones, without pairs that occur fewer than MIN times (default 1)\n"
     "in a batch; see bpe-superwords(7)",
     OPTION_TO(COUNT, struct count_options, min), .if_none = "1", OPTION_GIVEN(struct count_options, pairs)},
    {0, "among", "LIVE",
     "with --pairs: only those that lie on a pair in LIVE, which bpe-merge\n"
     "--live wrote in an earlier round",
     OPTION_TO(TEXT, struct count_options, among)},
    {0, "runs", "LIVE",
     "the same as --pairs, but count runs of tokens between pairs that are not\n"
     "live in LIVE, from bpe-merge --live",
     OPTION_TO(TEXT, struct count_options, runs)},
    {0, "cache", "DIR", "with these: keep the tokens of the text in files in DIR for the next round",
     OPTION_TO(TEXT, struct count_options, cache)},
    {0},
};

const struct usage count_usage = {
    .name = "bpe-count",
    .synopsis = "[-S SIZE] [FILE...]\n"
                "bpe-count --counts[=first|last] [--raw] [-p NAME | -e REGEX] [-m MODEL]\n"
                "[-s TOKEN]... [--no-special] [--normalize=none|nfc] [-S SIZE] [FILE...]\n"
                "bpe-count -m MODEL --pairs[=MIN] [--among=LIVE]|--runs=LIVE [--cache=DIR]\n"
                "[-S SIZE] [FILE...]",
    .about = "Counts the pretokens of chunks (from bpe-chunk); counts go to standard output, for bpe-sum.",
    .options = rows,
    USAGE_FILES(struct count_options, files, n_files),
    .init = init,
    .check = check,
};
