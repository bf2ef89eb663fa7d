/* view_usage.c - see view_usage.h. */
#include "usage/view_usage.h"

static int check(void *options, struct err *e)
{
    const struct view_options *o = options;
    return o->check + o->armor + o->dearmor > 1
               ? err_set(e, EX_USAGE, "--check, --armor and --dearmor cannot be combined")
               : 0;
}

static const struct option_row rows[] = {
    {0, "check", NULL, "print nothing; verify every record, and that no expected input is missing",
     OPTION_TO(FLAG, struct view_options, check)},
    {0, "armor", NULL, "write each record as a line of base64, for channels that carry only text",
     OPTION_TO(FLAG, struct view_options, armor)},
    {0, "dearmor", NULL, "convert such lines back to records", OPTION_TO(FLAG, struct view_options, dearmor)},
    {0},
};

const struct usage view_usage = {
    .name = "bpe-view",
    .synopsis = "[--check | --armor | --dearmor] [FILE...]",
    .about = "Shows records as text: counts as lines `count TAB pretoken`; any other record as a line that\n"
             "begins with #, followed by its contents (text or ids), if any.\n"
             "In pretokens and text, \\n \\r \\t \\\\ and \\xHH represent unprintable bytes.",
    .options = rows,
    USAGE_FILES(struct view_options, files, n_files),
    .check = check,
};
