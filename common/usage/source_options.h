/* source_options.h - how a program that reads text is told what it reads: the options for it, which are the same in all
 * of them.
 *
 *     static const struct option_row rows[] = {
 *         SOURCE_OPTIONS(struct settings, source),
 *         {0},
 *     };
 */
#ifndef BPE_USAGE_SOURCE_OPTIONS_H
#define BPE_USAGE_SOURCE_OPTIONS_H

#include "cli/options.h"
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

/* Rows of a table of options. o: a field of the struct `owner`, a struct source_options. */
/* clang-format off */
#define SOURCE_OPTIONS(owner, o) \
    {'0', "null", NULL, "each document ends with a NUL byte (with --files-from: each name does)", \
     OPTION_TO(FLAG, owner, o.null)}, \
    {0, "jsonl", "FIELD", "JSON Lines; the text is the string at FIELD (default text; a.b nests)", \
     OPTION_TO(TEXT, owner, o.field), .if_none = "text", OPTION_GIVEN(owner, o.jsonl), .check = source_options_field}, \
    {0, "wet", NULL, "WET files (WARC): the text of each conversion record is a document", \
     OPTION_TO(FLAG, owner, o.wet)}, \
    {0, "on-error", "WHAT", "fail on (default), or skip, a line that is no JSON or lacks the string", \
     OPTION_TO(CHOICE, owner, o.skip_bad_lines), .words = source_options_on_error}, \
    {0, "files-from", "LIST", "the FILEs are those named in LIST, one a line (-: standard input)", \
     OPTION_TO(TEXT, owner, o.files_from)}, \
    {0, "files0-from", "LIST", "the same; each name ends with a NUL byte", \
     OPTION_TO(TEXT, owner, o.files0_from)}

/* becomes: what the program makes of such a byte. */
#define INVALID_OPTION(owner, o, becomes) \
    {0, "invalid", "WHAT", \
     "invalid UTF-8 is an error (default), or replace it by U+FFFD, or skip it,\nor bytes: each such byte " becomes, \
     OPTION_TO(CHOICE, owner, o.invalid), .words = invalid_policy_names, OPTION_GIVEN(owner, o.has_invalid)}
/* clang-format on */

extern const char *const source_options_on_error[];
int source_options_field(const char *field, void *owner, struct err *e);

/* What these options say; *r borrows from o. -1 with EX_USAGE: they do not go together. */
int source_options_reading(const struct source_options *o, struct reading *r, struct err *e);

/* Whether one was given that says how sources are read: not only which. */
bool source_options_given(const struct source_options *o);

/* Checks that these options go together, and with the FILEs: named: some were given on the command line. */
int source_options_check(const struct source_options *o, bool named, struct err *e);

/* Checks that standard input is not both the model (-m) and the text or the list of files. -1 with EX_USAGE. */
int source_options_stdin(const struct source_options *o, const char *model, char *const *files, int n_files,
                         struct err *e);

/* If there is a list of files, reads it and sets *files and *n_files to it (borrowed from o). -1: see file_list_read.
 */
int source_options_files(struct source_options *o, char ***files, int *n_files, struct err *e);

#endif
