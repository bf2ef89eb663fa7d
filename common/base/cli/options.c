/* options.c - see options.h.
 *
 * getopt_long is not used: its table cannot hold several sets, and it does not report what was wrong with a long name.
 */
#include "base/cli/options.h"

#include "base/sys/memory.h"
#include "base/sys/nearest.h"
#include "base/sys/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Looking up options ---- */

const struct option_row options_every[] = {
    {'h', "help", NULL, "show this help", .kind = OPTION_FLAG},
    {0, "version", NULL, "show the version", .kind = OPTION_FLAG},
    {0},
};

enum { NAME_MAX = 64 }; /* bytes of a long name; all names are much shorter */

struct command_line {
    const struct option_set *sets;
    size_t n_sets;
    int argc;
    char **argv;
    int next;          /* index in argv of the next word */
    const char *value; /* of the option being read; NULL: none */
    int n_files;       /* FILEs read so far */
};

const struct option_row *options_find(const struct option_row *rows, const char *name)
{
    for (const struct option_row *r = rows; r->name; r++) {
        if (strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

/* Whether another set claims the name exclusively (`only`). If several do, the first one wins. */
static bool is_hidden(const struct command_line *l, size_t set, const char *name)
{
    for (size_t i = 0; i < l->n_sets; i++) {
        if (l->sets[i].only && i != set && (i < set || !l->sets[set].only) && options_find(l->sets[i].rows, name))
            return true;
    }
    return false;
}

/* Iterates over all visible rows; the rows common to all programs come last. Start with a zeroed struct. */
struct row_place {
    size_t set;
    const struct option_row *row;
};

static const struct option_row *next_row(const struct command_line *l, struct row_place *at)
{
    while (at->set <= l->n_sets) {
        at->row = at->row ? at->row + 1 : at->set < l->n_sets ? l->sets[at->set].rows : options_every;
        if (!at->row->name)
            *at = (struct row_place){at->set + 1, NULL};
        else if (at->set == l->n_sets || !is_hidden(l, at->set, at->row->name))
            return at->row;
    }
    return NULL;
}

/* The row that decides what a letter means: sets with `only` take precedence. */
static const struct option_row *row_of_letter(const struct command_line *l, char letter)
{
    const struct option_row *r, *found = NULL;
    for (struct row_place at = {0}; letter && (r = next_row(l, &at));) {
        bool only = at.set < l->n_sets && l->sets[at.set].only;
        if (r->letter == letter && only)
            return r;
        if (r->letter == letter && !found)
            found = r;
    }
    return found;
}

/* The first row with exactly this name. */
static const struct option_row *row_of_name(const struct command_line *l, const char *name)
{
    const struct option_row *r;
    for (struct row_place at = {0}; (r = next_row(l, &at)) && strcmp(r->name, name) != 0;)
        ;
    return r;
}

/* The row whose name begins with `prefix`. NULL: no name does or, if *e is set, several do. A refused option matches
 * only if no other option does. */
static const struct option_row *row_of_prefix(const struct command_line *l, const char *word, const char *prefix,
                                              struct err *e)
{
    const struct option_row *r, *found = NULL, *refused = NULL;
    char all[400] = "";
    int n = 0;
    for (struct row_place at = {0}; (r = next_row(l, &at));) {
        bool other_set = row_of_name(l, r->name) != r;
        if (other_set || strncmp(r->name, prefix, strlen(prefix)) != 0)
            continue;
        if (r->kind == OPTION_REFUSED) {
            refused = r;
            continue;
        }
        found = n ? found : r;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s--%s", n++ ? ", " : "", r->name);
    }
    if (n > 1) {
        err_set(e, EX_USAGE, "option %s is ambiguous: %s; see --help", word, all);
        return NULL;
    }
    return found ? found : refused;
}

static int unknown(const struct command_line *l, const char *word, const char *name, struct err *e)
{
    enum { NAMES_MAX = 300 };
    const char *names[NAMES_MAX], *near;
    const struct option_row *r;
    size_t n = 0;
    for (struct row_place at = {0}; n < NAMES_MAX && (r = next_row(l, &at));) {
        if (r->kind != OPTION_REFUSED)
            names[n++] = r->name;
    }
    near = nearest(name, names, n);
    return near ? err_set(e, EX_USAGE, "unknown option %s; did you mean --%s? see --help", word, near)
                : err_set(e, EX_USAGE, "unknown option %s; see --help", word);
}

static int refuse(const struct option_row *r, const char *word, struct err *e)
{
    return r->help ? err_set(e, EX_USAGE, "%s", r->help) : err_set(e, EX_USAGE, "unknown option %s; see --help", word);
}

/* ---- Values ---- */

static const char *const *words_of(const struct option_row *r)
{
    return r->get_words ? r->get_words() : r->words;
}

static int choose(const struct option_row *r, unsigned *to, const char *name, const char *word, struct err *e)
{
    const char *const *words = words_of(r), *near;
    char all[200] = "";
    unsigned n = 0;
    for (; words[n]; n++) {
        if (strcmp(word, words[n]) == 0) {
            *to = r->first + n;
            return 0;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", n ? ", " : "", words[n]);
    }
    if (n == 1)
        return err_set(e, EX_USAGE, "%s %s: give --%s=%s; no other value is supported", name, word, r->name, all);
    near = nearest(word, words, n);
    return near ? err_set(e, EX_USAGE, "%s %s: must be one of %s; did you mean %s?", name, word, all, near)
                : err_set(e, EX_USAGE, "%s %s: must be one of %s", name, word, all);
}

int option_texts_add(struct option_texts *t, const char *text, struct err *e)
{
    const char **grown = realloc(t->at, (t->n + 1) * sizeof *grown);
    if (!grown)
        return err_mem(e, "options", (t->n + 1) * sizeof *grown);
    t->at = grown;
    grown[t->n++] = text;
    return 0;
}

int option_words_add(struct option_words *w, struct err *e, const char *fmt, ...)
{
    va_list ap;
    char *word = NULL, **grown = realloc(w->at, (w->n + 2) * sizeof *grown);
    if (!grown)
        return err_mem(e, "options", (w->n + 2) * sizeof *grown);
    w->at = grown;
    w->at[w->n] = NULL;
    va_start(ap, fmt);
    int len = vasprintf(&word, fmt, ap);
    va_end(ap);
    if (len < 0)
        return err_mem(e, "options", strlen(fmt));
    w->at[w->n++] = word;
    w->at[w->n] = NULL;
    return 0;
}

bool option_word_is(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 && (word[2 + n] == '=' || !word[2 + n]);
}

bool option_word_in(const char *word, const char *const *names)
{
    for (size_t k = 0; names[k]; k++) {
        if (option_word_is(word, names[k]))
            return true;
    }
    return false;
}

void option_words_free(struct option_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->at[i]);
    free(w->at);
    *w = (struct option_words){0};
}

void options_free(const struct option_row *rows, void *to)
{
    for (const struct option_row *r = rows; r->name; r++) {
        void *field = (char *)to + r->to;
        if (r->kind == OPTION_TEXTS) {
            free(((struct option_texts *)field)->at);
            *(struct option_texts *)field = (struct option_texts){0};
        } else if (r->kind == OPTION_PLACED) {
            free(((struct option_placed *)field)->at);
            *(struct option_placed *)field = (struct option_placed){0};
        }
    }
}

static int put_placed(struct option_placed *p, const char *text, int n_files, struct err *e)
{
    struct option_place *grown = realloc(p->at, (p->n + 1) * sizeof *grown);
    if (!grown)
        return err_mem(e, "options", (p->n + 1) * sizeof *grown);
    p->at = grown;
    grown[p->n++] = (struct option_place){text, n_files};
    return 0;
}

const char *option_placed_of(const struct option_placed *p, int file)
{
    const char *text = NULL;
    for (size_t i = 0; i < p->n && p->at[i].n_files <= file; i++)
        text = p->at[i].text;
    return text;
}

/* Stores an option that comes after n_files FILEs. */
static int store(const struct option_row *r, void *to, const char *word, int n_files, struct err *e)
{
    void *field = (char *)to + r->to;
    const char *value = word ? word : r->if_none;
    char name[NAME_MAX];
    int rc = 0;
    if (r->letter)
        snprintf(name, sizeof name, "-%c", r->letter);
    else
        snprintf(name, sizeof name, "--%s", r->name);
    if (!value && r->argument) /* optional in the set that decided, but required in this one */
        return err_set(e, EX_USAGE, "option %s needs an argument; see --help", name);
    switch (r->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_VALUE:
        *(unsigned *)field = r->first;
        break;
    case OPTION_TEXT:
        *(const char **)field = value;
        break;
    case OPTION_OUTPUT:
        if (!*value)
            return err_set(e, EX_USAGE, "%s: the path is empty", name);
        *(const char **)field = strcmp(value, "-") == 0 ? NULL : value;
        break;
    case OPTION_TEXTS:
        rc = option_texts_add(field, value, e);
        break;
    case OPTION_PLACED:
        rc = put_placed(field, word, n_files, e);
        break;
    case OPTION_SIZE:
        rc = num_size(value, field, name, e);
        break;
    case OPTION_MEMORY:
        rc = num_share(value, memory_limit(), field, name, e);
        break;
    case OPTION_DATA:
        rc = num_data(value, field, name, e);
        break;
    case OPTION_COUNT:
        rc = num_count(value, field, name, e);
        break;
    case OPTION_CHOICE:
        rc = choose(r, field, name, value, e);
        break;
    case OPTION_REFUSED:
        rc = refuse(r, name, e);
        break;
    }
    if (r->given)
        *(bool *)((char *)to + r->given - 1) = true;
    if (rc || (r->check && r->check(word, to, e)))
        return -1;
    return 0;
}

/* Stores the option in every set that has it. */
static int store_all(const struct command_line *l, const struct option_row *decides, struct err *e)
{
    for (size_t i = 0; i < l->n_sets; i++) {
        const struct option_set *s = &l->sets[i];
        const struct option_row *r = is_hidden(l, i, decides->name) ? NULL : options_find(s->rows, decides->name);
        if (!r)
            continue;
        if (store(r, s->to, l->value, l->n_files, e) ||
            (s->words && r->kind != OPTION_PLACED &&
             (l->value ? option_words_add(s->words, e, "--%s=%s", r->name, l->value)
                       : option_words_add(s->words, e, "--%s", r->name))))
            return -1;
    }
    return 0;
}

/* ---- Parsing ---- */

/* Whether a word is exactly one option: a letter or a full name, with or without a value. */
static bool is_option(const struct command_line *l, const char *word)
{
    char name[NAME_MAX];
    if (word[0] != '-' || !word[1])
        return false;
    if (word[1] != '-')
        return !word[2] && row_of_letter(l, word[1]);
    size_t len = strcspn(word + 2, "=");
    if (!len || len >= sizeof name)
        return false;
    memcpy(name, word + 2, len);
    name[len] = 0;
    return row_of_name(l, name);
}

/* Takes the next word as the value, if the option needs one and has none yet. option: as the user wrote it, for
 * messages. */
static int take_value(struct command_line *l, const struct option_row *r, const char *option, struct err *e)
{
    if (l->value || !r->argument || r->if_none)
        return 0;
    if (l->next == l->argc && r->kind == OPTION_CHOICE)
        return err_set(e, EX_USAGE, "option %s needs an argument, such as --%s=%s; see --help", option, r->name,
                       words_of(r)[0]);
    if (l->next == l->argc)
        return err_set(e, EX_USAGE, "option %s needs an argument; see --help", option);
    l->value = l->argv[l->next++];
    if (is_option(l, l->value)) /* --NAME=TEXT allows such a value */
        return err_set(e, EX_USAGE, "option %s needs an argument: \"%s\" is an option; see --help", option, l->value);
    return 0;
}

/* Whether the next word was probably meant as the argument of the preceding option rather than as a FILE: no such file
 * exists, the word does not look like a file name, and other FILEs follow. */
static bool is_stray_value(const struct command_line *l)
{
    const char *word = l->argv[l->next];
    bool others = false;
    static const char *const endings[] = {"csv", "gz", "json", "jsonl", "ndjson", "parquet", "txt", "wet", "zst"};
    const char *dot = strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcmp(dot + 1, endings[i]) == 0)
            return false;
    }
    for (int i = l->next + 1; i < l->argc; i++)
        others |= l->argv[i][0] != '-';
    return others && *word != '-' && !strpbrk(word, "/*:") && access(word, F_OK) < 0;
}

/* Reads an option that begins with --. */
static const struct option_row *read_long(struct command_line *l, const char *word, struct err *e)
{
    char name[NAME_MAX], option[NAME_MAX + 2];
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    const struct option_row *r = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), word + 2);
    snprintf(option, sizeof option, "--%s", name);
    e->code = 0;
    if (len && len < sizeof name && !(r = row_of_name(l, name)))
        r = row_of_prefix(l, word, name, e);
    l->value = equals ? equals + 1 : NULL;
    if (!r) {
        if (!e->code)
            unknown(l, word, name, e);
        return NULL;
    }
    if (r->kind == OPTION_REFUSED)
        refuse(r, word, e);
    else if (equals && !r->argument)
        err_set(e, EX_USAGE, "option %s takes no argument; see --help", option);
    else if (r->if_none && !equals && l->next < l->argc && is_stray_value(l))
        err_set(e, EX_USAGE, "%s: no such file; the argument of %s comes after =: %s=%s", l->argv[l->next], option,
                option, l->argv[l->next]);
    else if (take_value(l, r, option, e) == 0)
        return r;
    return NULL;
}

/* Reads the option letter at *at in a word, and advances *at past the letter and its argument. */
static const struct option_row *read_letter(struct command_line *l, const char **at, struct err *e)
{
    const char option[] = {'-', *(*at)++, 0};
    const struct option_row *r = row_of_letter(l, option[1]);
    r = r ? row_of_name(l, r->name) : NULL;
    l->value = NULL;
    if (!r || r->kind == OPTION_REFUSED) {
        if (r)
            refuse(r, option, e);
        else
            err_set(e, EX_USAGE, "unknown option %s; see --help", option);
        return NULL;
    }
    if (**at && r->argument) {
        l->value = *at;
        *at += strlen(*at);
    }
    return take_value(l, r, option, e) ? NULL : r;
}

static enum options_next take_option(const struct command_line *l, const struct option_row *r, struct err *e)
{
    if (!r)
        return OPTIONS_WRONG;
    if (r == &options_every[0])
        return OPTIONS_HELP;
    if (r == &options_every[1])
        return OPTIONS_VERSION;
    return store_all(l, r, e) ? OPTIONS_WRONG : OPTIONS_RUN;
}

/* Reads the options in argv[next - 1]. */
static enum options_next read_word(struct command_line *l, struct err *e)
{
    const char *word = l->argv[l->next - 1], *at = word + 1;
    if (word[1] == '-')
        return take_option(l, read_long(l, word, e), e);
    while (*at) {
        enum options_next next = take_option(l, read_letter(l, &at, e), e);
        if (next != OPTIONS_RUN)
            return next;
    }
    return OPTIONS_RUN;
}

void (*options_instead)(const struct option_set *sets, size_t n_sets);

enum options_next options_parse(const struct option_set *sets, size_t n_sets, int argc, char **argv, int *first,
                                struct err *e)
{
    if (options_instead)
        options_instead(sets, n_sets);
    struct command_line l = {.sets = sets, .n_sets = n_sets, .argc = argc, .argv = argv, .next = 1};
    char **files = calloc((size_t)argc + 1, sizeof *files);
    enum options_next next = OPTIONS_RUN;
    int n_options = 1;
    if (!files) {
        err_mem(e, "options", ((size_t)argc + 1) * sizeof *files);
        return OPTIONS_WRONG;
    }
    while (next == OPTIONS_RUN && l.next < argc) {
        int begin = l.next;
        char *word = argv[l.next++];
        bool is_last = strcmp(word, "--") == 0;
        if (word[0] != '-' || !word[1]) {
            files[l.n_files++] = word;
            continue;
        }
        if (!is_last)
            next = read_word(&l, e);
        while (begin < l.next) /* moves the words to the front, overwriting FILEs, which `files` holds */
            argv[n_options++] = argv[begin++];
        while (is_last && l.next < argc)
            files[l.n_files++] = argv[l.next++];
    }
    if (next == OPTIONS_RUN)
        memcpy(argv + n_options, files, (size_t)l.n_files * sizeof *files);
    *first = n_options;
    free(files);
    return next;
}
