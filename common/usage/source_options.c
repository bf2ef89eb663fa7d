/* source_options.c - see source_options.h. */
#include "usage/source_options.h"

#include "base/cli/program.h"
#include "usage/shared_options.h"

#define SOURCE_FORM(ID, ...) FORM_##ID,

enum form source_options_form(const struct source_options *o)
{
    static const enum form forms[] = {INPUT_FORMS(SOURCE_FORM, SOURCE_FORM, )};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (o->is_form[forms[i]] && !(forms[i] == FORM_NUL && o->files_from))
            return forms[i];
    }
    return FORM_TEXT;
}

bool source_options_word_form(const char *word)
{
    for (unsigned i = 0; i < N_INPUT_FORMS; i++) {
        if (i != FORM_TEXT && option_word_is(word, input_forms[i]->name))
            return true;
    }
    return false;
}

/* -1: two forms were given. */
static int check_forms(const struct source_options *o, enum form form, struct err *e)
{
    struct source_options rest = *o;
    rest.is_form[form] = false;
    enum form other = source_options_form(&rest);
    return other == FORM_TEXT ? 0
                              : err_set(e, EX_USAGE, "--%s and --%s cannot be combined", input_forms[form]->name,
                                        input_forms[other]->name);
}

/* Sets the error that an option is only for forms with a field. Always -1. */
static int has_no_field(const char *option, struct err *e)
{
    struct buf forms = {0};
    int rc = 0;
    for (size_t i = 0; i < N_INPUT_FORMS && rc == 0; i++) {
        if (input_forms[i]->has_field)
            rc = buf_printf(&forms, e, "%s--%s", forms.len ? " and " : "", input_forms[i]->name);
    }
    if (rc == 0)
        err_set(e, EX_USAGE, "%s is for %.*s", option, (int)forms.len, (const char *)forms.p);
    buf_free(&forms);
    return -1;
}

int source_options_reading(const struct source_options *o, struct reading *r, struct err *e)
{
    enum form form = source_options_form(o);
    const char *name = input_forms[form]->name;
    bool has_field = input_forms[form]->has_field;
    if (check_forms(o, form, e))
        return -1;
    if (o->files_from && o->files0_from)
        return err_set(e, EX_USAGE, "--files-from and --files0-from cannot be combined");
    if (o->skip_bad_lines && !has_field)
        return has_no_field("--on-error=skip", e);
    if (o->id && !has_field)
        return has_no_field("--id", e);
    if (o->id && !*o->id)
        return err_set(e, EX_USAGE, "--id=: the field has no name");
    if (has_field && o->field && !*o->field)
        return err_set(e, EX_USAGE, "--%s=: the field has no name", name);
    if (input_forms[form]->decoded && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --%s: its strings are text, not bytes", name);
    *r = (struct reading){.invalid = o->invalid,
                          .form = form,
                          .field = str_of(o->field ? o->field : ""),
                          .skip_bad_lines = o->skip_bad_lines,
                          .id = str_of(o->id ? o->id : "")};
    return 0;
}

int source_options_probe(const struct reading *how, struct input *in, struct buf *first, struct format_guess *guess,
                         const char *program, struct err *e)
{
    char hint[FORMAT_GUESS_TEXT];
    const bool hinted = guess->found;
    if (input_probe(in, first, input_forms[how->form], guess, e))
        return -1;
    if (guess->found && !hinted)
        program_note(program, "%s", format_guess_text(guess, hint));
    return 0;
}

const char *source_options_given(const struct source_options *o)
{
    enum form form = source_options_form(o);
    return form != FORM_TEXT   ? input_forms[form]->name
           : o->skip_bad_lines ? "on-error"
           : o->id             ? "id"
           : o->has_invalid    ? "invalid"
                               : NULL;
}

int source_options_check(const struct source_options *o, bool named, struct err *e)
{
    struct reading reading;
    if (source_options_reading(o, &reading, e))
        return -1;
    return named && (o->files_from || o->files0_from)
               ? err_set(e, EX_USAGE, "%s: name FILEs in a list or on the command line, not both",
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
    if (file_list_read(&o->list, list, o->files0_from || o->is_form[FORM_NUL], e))
        return -1;
    *files = o->list.at;
    *n_files = o->list.n;
    return 0;
}
