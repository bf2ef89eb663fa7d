/* options_help.c - the help text of an option table (options.h). */
#include "base/cli/options.h"

#include <stdio.h>
#include <string.h>

/* Labels of up to LABEL_MAX columns share a line with their help; the help of longer ones begins on the next line. */
enum { LABEL_MAX = 26, GAP = 2, HELP_COLUMN_MIN = 25 };

/* Formats the option for the help text: `  -S, --memory=SIZE`. Returns its length. */
static size_t put_label(const struct option_row *r, char *to, size_t size)
{
    char letter[] = "    ";
    if (r->letter)
        snprintf(letter, sizeof letter, "-%c, ", r->letter);
    return (size_t)snprintf(to, size, "  %s--%s%s%s%s", letter, r->name,
                            !r->argument ? ""
                            : r->if_none ? "[="
                                         : "=",
                            r->argument ? r->argument : "", r->if_none ? "]" : "");
}

static int put_row(struct buf *out, const struct option_row *r, int column, struct err *e)
{
    char label[100];
    bool beside = put_label(r, label, sizeof label) <= LABEL_MAX;
    if (!beside && buf_printf(out, e, "%s\n", label))
        return -1;
    for (const char *line = r->help, *end; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        if (buf_printf(out, e, "%-*s%.*s\n", column, beside && line == r->help ? label : "", (int)(end - line), line))
            return -1;
    }
    return 0;
}

/* Whether a table refuses this option. */
static bool is_refused(const struct option_row *rows, const char *name)
{
    const struct option_row *r = options_find(rows, name);
    return r && r->kind == OPTION_REFUSED;
}

int options_put_help(struct buf *out, const struct option_row *rows, struct err *e)
{
    const struct option_row *const tables[] = {rows, options_every};
    size_t column = HELP_COLUMN_MIN;
    char label[100];
    for (const struct option_row *r = rows; r->name; r++) {
        size_t len = put_label(r, label, sizeof label);
        if (r->kind != OPTION_REFUSED && len <= LABEL_MAX && len + GAP > column)
            column = len + GAP;
    }
    for (size_t i = 0; i < 2; i++) {
        for (const struct option_row *r = tables[i]; r->name; r++) {
            if (r->kind != OPTION_REFUSED && !is_refused(rows, r->name) && put_row(out, r, (int)column, e))
                return -1;
        }
    }
    return 0;
}

/* ---- Names without help ---- */

/* The maximum width of the names in a line, and the indent of all lines except the first, in columns. */
enum { NAMES_MAX = 80, NAMES_INDENT = 13 };

/* Appends a space and a word, or a new line and the word if it does not fit. */
static int put_name(struct buf *out, size_t *column, const char *word, struct err *e)
{
    size_t len = strlen(word) + 1;
    bool fits = *column + len <= NAMES_MAX;
    *column = fits ? *column + len : len;
    return buf_printf(out, e, "%s%*s%s", fits ? " " : "\n", fits ? 0 : NAMES_INDENT, "", word);
}

static bool has_name(const struct option_row *const *tables, const char *name)
{
    for (; *tables; tables++) {
        if (options_find(*tables, name))
            return true;
    }
    return false;
}

int options_put_names(struct buf *out, const char *label, const struct option_row *rows,
                      const struct option_row *const *others, struct err *e)
{
    size_t column = 1;
    char letter[] = "-?", name[100];
    if (buf_printf(out, e, "  %s:", label))
        return -1;
    for (const struct option_row *r = rows; r->name; r++) {
        if (r->kind == OPTION_REFUSED || has_name(others, r->name))
            continue;
        letter[1] = r->letter;
        snprintf(name, sizeof name, "--%s%s", r->name, !r->argument ? "" : r->if_none ? "[=]" : "=");
        if ((r->letter && put_name(out, &column, letter, e)) || put_name(out, &column, name, e))
            return -1;
    }
    return buf_put_byte(out, '\n', e);
}
