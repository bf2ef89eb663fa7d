/* source_options.h - the input options of all programs that read text: which files, and how to read them.
 *
 *     static const struct option_row rows[] = {
 *         SOURCE_OPTIONS(struct settings, source),
 *         {0},
 *     };
 */
#ifndef BPE_USAGE_SOURCE_OPTIONS_H
#define BPE_USAGE_SOURCE_OPTIONS_H

#include "base/cli/options.h"
#include "base/io/file_list.h"
#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "input/format_guess.h"
#include "input/reading.h"

#include <stdbool.h>

struct source_options { /* zeroed: no option was given */
    enum invalid_policy invalid;
    bool has_invalid;            /* --invalid was given */
    bool is_form[N_INPUT_FORMS]; /* whether the option of a form was given, by enum form */
    const char *field;           /* for a form with a field, borrowed */
    const char *id;              /* of --id, borrowed; NULL: none */
    unsigned skip_bad_lines;     /* 0 or 1 */
    const char *files_from, *files0_from;
    struct file_list list; /* owned: the names in that file */
};

/* Rows of a table of options. o: a field of the struct `owner`, of type struct source_options. */
/* clang-format off */
#define SOURCE_FORM_FLAG(ID, name, number, letter, help, owner, o) \
    {letter, #name, NULL, help, OPTION_TO(FLAG, owner, o.is_form[FORM_##ID])},
#define SOURCE_FORM_FIELD(ID, name, number, letter, help, standard, owner, o) \
    {letter, #name, "FIELD", help, OPTION_TO(TEXT, owner, o.field), .if_none = standard, \
     OPTION_GIVEN(owner, o.is_form[FORM_##ID])},
#define SOURCE_OPTIONS(owner, o) \
    INPUT_FORMS(SOURCE_FORM_FLAG, SOURCE_FORM_FIELD, owner, o) \
    {0, "on-error", "WHAT", "fail on (default) or skip lines that are not JSON or lack the string", \
     OPTION_TO(CHOICE, owner, o.skip_bad_lines), .words = on_error_names}, \
    {0, "files-from", "LIST", "read the names of the FILEs from LIST, one per line (-: standard input)", \
     OPTION_TO(TEXT, owner, o.files_from)}, \
    {0, "files0-from", "LIST", "the same, with a NUL byte after each name", \
     OPTION_TO(TEXT, owner, o.files0_from)}

#define SOURCE_ID(owner, id) \
    {0, "id", "FIELD", "JSON Lines: the id of a document is the string or number at FIELD", OPTION_TO(TEXT, owner, id)}

/* becomes: what happens to an invalid byte, as a phrase for the help text. */
#define INVALID_OPTION(owner, o, becomes) \
    {0, "invalid", "WHAT", \
     "invalid UTF-8: error (default), replace (with U+FFFD), skip or\nbytes (each invalid byte " becomes ")", \
     OPTION_TO(CHOICE, owner, o.invalid), .words = invalid_policy_names, OPTION_GIVEN(owner, o.has_invalid)}
/* clang-format on */

/* The form that the options select. With --files-from, --null applies to the names in the list, as in du, sort and
 * xargs. */
enum form source_options_form(const struct source_options *o);

/* Whether a word of a command line is an option that selects a form. */
bool source_options_word_form(const char *word);

/* Converts the options to a reading; *r borrows from o. -1 with EX_USAGE: they cannot be combined. */
int source_options_reading(const struct source_options *o, struct reading *r, struct err *e);

/* input_probe (input/format_guess.h) of a text that is read as *how. If it is the first that looks like another format,
 * says so in the name of `program`. */
int source_options_probe(const struct reading *how, struct input *in, struct buf *first, struct format_guess *guess,
                         const char *program, struct err *e);

/* The name of an option that was given and affects how sources are read, not only which sources are read; NULL:
 * none. */
const char *source_options_given(const struct source_options *o);

/* Checks that these options can be combined, and with the FILEs. named: FILEs were given on the command line. */
int source_options_check(const struct source_options *o, bool named, struct err *e);

/* Checks that standard input is not both the model (-m) and the text or the list of files. -1 with EX_USAGE. */
int source_options_stdin(const struct source_options *o, const char *model, char *const *files, int n_files,
                         struct err *e);

/* If there is a list of files, reads it and sets *files and *n_files to it (borrowed from o). -1: see file_list_read.
 */
int source_options_files(struct source_options *o, char ***files, int *n_files, struct err *e);

#endif
