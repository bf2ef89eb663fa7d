/* source_options.h - how a program that reads text is told what it reads: the options for it, which are the same in all
 * of them.
 *
 *     static const struct option_row options[] = {
 *         SOURCE_OPTIONS(self.source),
 *         {0},
 *     };
 */
#ifndef BPE_TEXT_SOURCE_OPTIONS_H
#define BPE_TEXT_SOURCE_OPTIONS_H

#include "core/rules.h"
#include "io/file_list.h"
#include "sys/err.h"

#include <stdbool.h>

struct source_options { /* zeroed: no option was given */
    enum invalid_policy invalid;
    bool has_invalid; /* --invalid was given */
    bool null, jsonl, wet;
    const char *field;       /* of --jsonl, borrowed */
    const char *id;          /* of --id, borrowed; NULL: none */
    unsigned skip_bad_lines; /* 0 or 1 */
    const char *files_from, *files0_from;
    struct file_list list; /* owned: the names in that file */
};

/* Rows of a table of options (cli/options.h), all but --invalid and --id. o: a struct source_options. */
/* clang-format off */
#define SOURCE_OPTIONS(o) \
    {'0', "null", NULL, "each document ends with a NUL byte (with --files-from: each name does)", \
     .kind = OPTION_FLAG, .to.flag = &(o).null}, \
    {0, "jsonl", "FIELD", "JSON Lines; the text is the string at FIELD (default text; a.b nests)", \
     .kind = OPTION_TEXT, .to.text = &(o).field, .if_none = "text", .given = &(o).jsonl, \
     .check = source_options_field}, \
    {0, "wet", NULL, "WET files (WARC): the text of each conversion record is a document", \
     .kind = OPTION_FLAG, .to.flag = &(o).wet}, \
    {0, "on-error", "WHAT", "fail on (default), or skip, a line that is no JSON or lacks the string", \
     .kind = OPTION_CHOICE, .to.choice = &(o).skip_bad_lines, .words = source_options_on_error}, \
    {0, "files-from", "LIST", "the FILEs are those named in LIST, one a line (-: standard input)", \
     .kind = OPTION_TEXT, .to.text = &(o).files_from}, \
    {0, "files0-from", "LIST", "the same; each name ends with a NUL byte", \
     .kind = OPTION_TEXT, .to.text = &(o).files0_from}
/* clang-format on */

extern const char *const source_options_on_error[];
int source_options_field(const char *field, struct err *e);

/* What these options say; *r borrows from o. -1 with EX_USAGE: they do not go together. */
int source_options_reading(const struct source_options *o, struct reading *r, struct err *e);

/* Whether one was given that says how sources are read: not only which. */
bool source_options_given(const struct source_options *o);

/* If there is a list of files, reads it and sets *files and *n_files to it (borrowed from o). named: FILEs were given
 * on the command line, too, which is wrong use. -1: see file_list_read. */
int source_options_files(struct source_options *o, bool named, char ***files, int *n_files, struct err *e);

#endif
