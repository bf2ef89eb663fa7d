/* source_options.c - see source_options.h. */
#include "usage/source_options.h"

#include "usage/shared_options.h"

const char *const source_options_on_error[] = {"fail", "skip", NULL};

int source_options_field(const char *field, void *owner, struct err *e)
{
    (void)owner;
    return field && !*field ? err_set(e, EX_USAGE, "--jsonl=: the field has no name") : 0;
}

/* With --files-from, --null is about the names in the list, as in du, sort and xargs. */
static bool null_documents(const struct source_options *o)
{
    return o->null && !o->files_from;
}

int source_options_reading(const struct source_options *o, struct reading *r, struct err *e)
{
    bool null = null_documents(o);
    if (null + o->jsonl + o->wet > 1)
        return err_set(e, EX_USAGE, "%s and %s exclude each other", null ? "--null" : "--jsonl",
                       o->wet ? "--wet" : "--jsonl");
    if (o->files_from && o->files0_from)
        return err_set(e, EX_USAGE, "--files-from and --files0-from exclude each other");
    if (o->skip_bad_lines && !o->jsonl)
        return err_set(e, EX_USAGE, "--on-error=skip is for --jsonl");
    if (o->id && !o->jsonl)
        return err_set(e, EX_USAGE, "--id is for --jsonl");
    if (o->id && !*o->id)
        return err_set(e, EX_USAGE, "--id=: the field has no name");
    if (o->jsonl && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --jsonl: a string in JSON is text");
    *r = (struct reading){.invalid = o->invalid,
                          .form = null       ? FORM_NUL
                                  : o->jsonl ? FORM_JSONL
                                  : o->wet   ? FORM_WET
                                             : FORM_TEXT,
                          .field = str_of(o->field ? o->field : ""),
                          .skip_bad_lines = o->skip_bad_lines,
                          .id = str_of(o->id ? o->id : "")};
    return 0;
}

bool source_options_given(const struct source_options *o)
{
    return null_documents(o) || o->jsonl || o->wet || o->skip_bad_lines || o->id || o->has_invalid;
}

int source_options_check(const struct source_options *o, bool named, struct err *e)
{
    struct reading reading;
    if (source_options_reading(o, &reading, e))
        return -1;
    return named && (o->files_from || o->files0_from)
               ? err_set(e, EX_USAGE, "%s: FILEs cannot be given in a list and on the command line, too",
                         o->files_from ? "--files-from" : "--files0-from")
               : 0;
}

static const char *list_of_files(const struct source_options *o)
{
    return o->files_from ? o->files_from : o->files0_from;
}

int source_options_stdin(const struct source_options *o, const char *model, char *const *files, int n_files,
                         struct err *e)
{
    char *const list[] = {(char *)list_of_files(o)};
    return *list ? shared_options_stdin(model, list, 1, "the list of files", e)
                 : shared_options_stdin(model, files, n_files, "the text", e);
}

int source_options_files(struct source_options *o, char ***files, int *n_files, struct err *e)
{
    const char *list = list_of_files(o);
    if (!list)
        return 0;
    if (file_list_read(&o->list, list, o->files0_from || o->null, e))
        return -1;
    *files = o->list.at;
    *n_files = o->list.n;
    return 0;
}
