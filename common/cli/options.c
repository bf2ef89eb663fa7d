/* options.c - see options.h. */
#include "cli/options.h"

#include "sys/memory.h"
#include "sys/num.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Labels of up to LABEL_MOST columns have their help on the same line; for longer ones it begins on the next line. */
enum { LABEL_MOST = 26, GAP = 2, HELP_COLUMN_LEAST = 25 };

enum { NAMES = 256 }; /* what getopt_long returns for a row without a letter is NAMES plus its number */

static const struct option_row every_program[] = {
    {'h', "help", NULL, "this text", .kind = OPTION_FLAG},
    {0, "version", NULL, "version", .kind = OPTION_FLAG},
};
enum { N_EVERY = sizeof every_program / sizeof *every_program };

static size_t n_rows(const struct option_row *rows)
{
    size_t n = 0;
    while (rows[n].name)
        n++;
    return n;
}

/* Row i of the table; after its end come the options that every program has. */
static const struct option_row *row_at(const struct option_row *rows, size_t n, size_t i)
{
    return i < n ? &rows[i] : &every_program[i - n];
}

/* ---- Parsing ---- */

/* The table as getopt_long takes it. */
struct getopt_table {
    struct option *longs; /* owned */
    char *letters;        /* owned */
};

static void add_long(struct option *to, const struct option_row *r, const char *name, int value)
{
    *to = (struct option){name,
                          !r->argument ? no_argument
                          : r->if_none ? optional_argument
                                       : required_argument,
                          NULL, value};
}

static int make_table(struct getopt_table *t, const struct option_row *rows, size_t n, struct err *e)
{
    size_t most = n + N_EVERY;
    t->longs = calloc(2 * most + 1, sizeof *t->longs);
    t->letters = calloc(3 * most + 2, 1);
    if (!t->longs || !t->letters)
        return err_mem(e, "options", (2 * most + 1) * sizeof *t->longs);
    struct option *to = t->longs;
    char *letter = t->letters;
    *letter++ = ':'; /* tells a missing argument from an unknown option */
    for (size_t i = 0; i < most; i++) {
        const struct option_row *r = row_at(rows, n, i);
        int value = r->letter ? r->letter : NAMES + (int)i;
        add_long(to++, r, r->name, value);
        if (r->old_name)
            add_long(to++, r, r->old_name, value); /* with the same value, a common prefix is not ambiguous */
        if (!r->letter)
            continue;
        *letter++ = r->letter;
        for (int colons = !r->argument ? 0 : r->if_none ? 2 : 1; colons > 0; colons--)
            *letter++ = ':';
    }
    return 0;
}

static const char *const *words_of(const struct option_row *r)
{
    return r->get_words ? r->get_words() : r->words;
}

/* The option, which was given without the argument that it needs. */
static int no_argument_given(const struct option_row *rows, size_t n, const char *word, struct err *e)
{
    size_t i = 0;
    while (i < n && optopt != (rows[i].letter ? rows[i].letter : NAMES + (int)i))
        i++;
    if (i < n && rows[i].kind == OPTION_CHOICE)
        return err_set(e, EX_USAGE, "option %s needs an argument, as --%s=%s; see --help", word, rows[i].name,
                       words_of(&rows[i])[0]);
    return err_set(e, EX_USAGE, "option %s needs an argument; see --help", word);
}

/* What is wrong where getopt_long returned ':' or '?'. optopt is then a letter that is none of ours, or the value of a
 * long option that takes no argument, or 0. The word before optind has it, unless it is one of several letters. */
static int bad_option(int c, const struct option_row *rows, size_t n, const char *letters, char **argv, struct err *e)
{
    const char *word = argv[optind - 1];
    if (c == ':')
        return no_argument_given(rows, n, word, e);
    if (optopt == ':' || (optopt && optopt < NAMES && !strchr(letters, optopt)))
        return err_set(e, EX_USAGE, "unknown option -%c; see --help", optopt);
    return err_set(e, EX_USAGE, "unknown option %s, or one that takes no argument; see --help", word);
}

static int choose(const struct option_row *r, const char *name, const char *word, struct err *e)
{
    const char *const *words = words_of(r);
    char all[200] = "";
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(word, words[i]) == 0) {
            *r->to.choice = r->first + i;
            return 0;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", words[i]);
    }
    if (!words[1])
        return err_set(e, EX_USAGE, "%s %s: give --%s=%s; there is nothing else", name, word, r->name, all);
    return err_set(e, EX_USAGE, "%s %s: must be one of %s", name, word, all);
}

int options_add_text(const char ***list, size_t *n, const char *text, struct err *e)
{
    const char **grown = realloc(*list, (*n + 1) * sizeof *grown);
    if (!grown)
        return err_mem(e, "options", (*n + 1) * sizeof *grown);
    *list = grown;
    grown[(*n)++] = text;
    return 0;
}

static int store(const struct option_row *r, const char *word, struct err *e)
{
    char name[64];
    int rc = 0;
    if (r->letter)
        snprintf(name, sizeof name, "-%c", r->letter);
    else
        snprintf(name, sizeof name, "--%s", r->name);
    switch (r->kind) {
    case OPTION_FLAG:
        *r->to.flag = true;
        break;
    case OPTION_VALUE:
        *r->to.choice = r->first;
        break;
    case OPTION_TEXT:
        *r->to.text = word ? word : r->if_none;
        break;
    case OPTION_OUTPUT:
        *r->to.text = strcmp(word, "-") == 0 ? NULL : word;
        break;
    case OPTION_TEXTS:
        rc = options_add_text(r->to.texts.list, r->to.texts.n, word, e);
        break;
    case OPTION_SIZE:
        rc = num_size(word, r->to.number, name, e);
        break;
    case OPTION_MEMORY:
        rc = num_share(word, memory_limit(), r->to.number, name, e);
        break;
    case OPTION_COUNT:
        rc = num_count(word, r->to.number, name, e);
        break;
    case OPTION_CHOICE:
        rc = choose(r, name, word, e);
        break;
    }
    if (r->given)
        *r->given = true;
    return rc || (r->check && r->check(word, e)) ? -1 : 0;
}

static enum options_next parse(const struct option_row *rows, size_t n, const struct getopt_table *t, int argc,
                               char **argv, struct err *e)
{
    optind = 0; /* makes getopt_long start again, whatever it parsed before */
    for (int c; (c = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1;) {
        size_t i = 0;
        while (i < n + N_EVERY && c != (row_at(rows, n, i)->letter ? row_at(rows, n, i)->letter : NAMES + (int)i))
            i++;
        if (i == n + N_EVERY) {
            bad_option(c, rows, n, t->letters, argv, e);
            return OPTIONS_WRONG;
        }
        if (i >= n)
            return i == n ? OPTIONS_HELP : OPTIONS_VERSION;
        if (store(&rows[i], optarg, e))
            return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

enum options_next options_parse(const struct option_row *rows, int argc, char **argv, int *first, struct err *e)
{
    struct getopt_table t = {0};
    size_t n = n_rows(rows);
    enum options_next next = make_table(&t, rows, n, e) ? OPTIONS_WRONG : parse(rows, n, &t, argc, argv, e);
    *first = optind;
    free(t.longs);
    free(t.letters);
    return next;
}

/* ---- Help ---- */

/* The option as help shows it: `  -S, --memory=SIZE`. Returns its length. */
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
    bool beside = put_label(r, label, sizeof label) <= LABEL_MOST;
    if (!beside && buf_printf(out, e, "%s\n", label))
        return -1;
    for (const char *line = r->help, *end; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        if (buf_printf(out, e, "%-*s%.*s\n", column, beside && line == r->help ? label : "", (int)(end - line), line))
            return -1;
    }
    return 0;
}

int options_put_help(struct buf *out, const struct option_row *rows, struct err *e)
{
    size_t n = n_rows(rows), column = HELP_COLUMN_LEAST;
    char label[100];
    for (size_t i = 0; i < n; i++) {
        size_t len = put_label(&rows[i], label, sizeof label);
        if (len <= LABEL_MOST && len + GAP > column)
            column = len + GAP;
    }
    for (size_t i = 0; i < n + N_EVERY; i++) {
        if (put_row(out, row_at(rows, n, i), (int)column, e))
            return -1;
    }
    return 0;
}
