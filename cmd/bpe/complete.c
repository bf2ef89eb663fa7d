/* complete.c - bpe complete: completions of a command line, for shells (pipelines/completions).
 *
 *     bpe complete WORD... CURRENT
 *
 * The WORDs are those of a command line from its program on; CURRENT is the one being typed, which may be empty. Each
 * line of output is a word that begins with CURRENT, a tab, and its meaning; or a request that the shell complete file
 * names: `:files` and patterns, `:directories`, `:commands`.
 *
 * Options come from the tables that parse command lines; those of commands in other languages come from their --help
 * (script_help.c).
 */
#include "bpe/front.h"
#include "bpe/pages.h"
#include "bpe/tasks.h"

#include "base/cli/options.h"
#include "input/input_form.h"
#include "pretok/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *program; /* "train", "tasks run", "bpe-chunk" */
    char **words;        /* the words after it, up to the current one */
    int n;
    const char *current;
    const struct option_row *others; /* options of a command in another language; else NULL */
} asked;

/* ---- Output ---- */

static void offer(const char *word, const char *about)
{
    if (strncmp(word, asked.current, strlen(asked.current)) == 0)
        printf("%s\t%.*s\n", word, (int)strcspn(about ? about : "", "\n"), about ? about : "");
}

/* --NAME=, so that the shell continues with the value, or --NAME. */
static void offer_option(const struct option_row *r, bool with_letter)
{
    char word[120];
    if (r->kind == OPTION_REFUSED)
        return;
    snprintf(word, sizeof word, "--%s%s", r->name, r->argument && !r->if_none ? "=" : "");
    offer(word, r->help);
    snprintf(word, sizeof word, "-%c", r->letter);
    if (with_letter && asked.current[0] == '-' && asked.current[1] != '-')
        offer(word, r->help);
}

#define MODELS ":files *.json *.tiktoken *merges*.txt"

/* Offers the values of an option. `before`: the part of the word before them, "--NAME=" or "". */
static void offer_values(const struct option_row *r, const char *before)
{
    static const char *const directories[] = {"DIR", "OUT", NULL}, *const files[] = {"FILE", "PATH", "LIST", "LIVE",
                                                                                     NULL};
    const char *const *words = r->get_words ? r->get_words() : r->words;
    char word[200];
    for (; words && *words; words++) {
        snprintf(word, sizeof word, "%s%s", before, *words);
        offer(word, "");
    }
    if (r->get_words || r->words)
        return;
    if (strcmp(r->argument, "MODEL") == 0)
        puts(strcmp(r->name, "output") == 0 ? ":files" : MODELS);
    else if (str_in(r->argument, directories))
        puts(":directories");
    else if (str_in(r->argument, files))
        puts(":files");
    else if (strcmp(r->argument, "COMMAND") == 0)
        puts(":commands");
}

/* ---- Options ---- */

/* The tables of a command line; a name in one of them hides the same name in those after it. */
struct tables {
    const struct option_row *at[12];
    size_t n;
};

static const struct option_row *find(const struct tables *t, const char *name, size_t len, char letter)
{
    for (size_t i = 0; i < t->n; i++) {
        for (const struct option_row *r = t->at[i]; r->name; r++) {
            if (letter ? r->letter == letter : strncmp(r->name, name, len) == 0 && r->name[len] == '\0')
                return r->kind == OPTION_REFUSED ? NULL : r;
        }
    }
    return NULL;
}

/* The option whose value is the current word, because the word before it takes one; else NULL. */
static const struct option_row *open_option(const struct tables *t)
{
    const char *last = asked.n ? asked.words[asked.n - 1] : "";
    const struct option_row *r = NULL;
    if (strncmp(last, "--", 2) == 0 && last[2] && !strchr(last, '='))
        r = find(t, last + 2, strlen(last + 2), 0);
    else if (last[0] == '-' && last[1] && last[1] != '-') {
        for (const char *c = last + 1; *c; c++) { /* the first letter that takes a value takes the rest of the word */
            r = find(t, NULL, 0, *c);
            if (r && r->argument && c[1])
                return NULL;
        }
    }
    return r && r->argument && !r->if_none ? r : NULL;
}

/* name "": the end of the options, `--`. */
static bool was_given(const char *name)
{
    for (int i = 0; i < asked.n; i++) {
        if (option_word_is(asked.words[i], name))
            return true;
    }
    return false;
}

/* Offers the kind of files that a command takes. */
static void offer_files(void)
{
    static const struct {
        const char *program, *files;
    } kinds[] = {
        {"monitor", ""},
        {"upload", ":directories"},
        {"tasks todo", ":directories"},
        {"tasks run", ":directories"},
        {"tasks train", ":directories"},
        {"tasks shard", ":directories"},
        {"parquet", ":files *.parquet"},
        {"bpe-model", MODELS},
        {"job", ":commands"},
    };
    static const struct {
        const char *option, *files;
    } forms[] = {
        {"parquet", ":files *.parquet"}, {"check", ":directories"}, {"list", ":directories"},
        {"convert", ":directories"},     {"prune", ":files"}, /* a model, then a sum */
        {"drop-unused", ":files"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (was_given(forms[i].option)) {
            puts(forms[i].files);
            return;
        }
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(asked.program, kinds[i].program) == 0) {
            printf("%s%s", kinds[i].files, *kinds[i].files ? "\n" : "");
            return;
        }
    }
    for (size_t i = 0; i < N_INPUT_FORMS; i++) {
        if (input_forms[i]->files && was_given(input_forms[i]->name)) {
            printf(":files %s\n", input_forms[i]->files);
            return;
        }
    }
    puts(":files");
}

static void offer_options(const struct tables *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (const struct option_row *r = t->at[i]; r->name; r++) {
            if (find(t, r->name, strlen(r->name), 0) == r) /* not hidden by an earlier table */
                offer_option(r, r->letter && find(t, NULL, 0, r->letter) == r);
        }
    }
}

/* Offers completions from these tables; called instead of parsing a command line with them. */
static void complete_by(const struct option_set *sets, size_t n_sets)
{
    struct tables t = {0};
    if (asked.others)
        t.at[t.n++] = asked.others;
    for (size_t i = 0; i < n_sets && t.n + 1 < sizeof t.at / sizeof *t.at; i++)
        t.at[t.n++] = sets[i].rows;
    if (!asked.others) /* the others list --help themselves, and have no --version */
        t.at[t.n++] = options_every;
    const char *current = asked.current, *equals = strchr(current, '=');
    const struct option_row *r = was_given("") ? NULL : open_option(&t);
    if (r) {
        offer_values(r, "");
    } else if (was_given("") || current[0] != '-') {
        offer_files();
    } else if (equals && current[1] == '-') {
        char before[120];
        r = find(&t, current + 2, (size_t)(equals - current) - 2, 0);
        snprintf(before, sizeof before, "%.*s", (int)(equals - current) + 1, current);
        if (r && r->argument)
            offer_values(r, before);
    } else {
        offer_options(&t);
    }
    exit(fflush(stdout) ? EX_IOERR : 0);
}

/* ---- Commands ---- */

static int offer_commands(bool pages, struct err *e)
{
    struct option_words names = {0};
    int rc = help_names(&names, e) || (pages && page_names_add(&names, e)) ? -1 : 0;
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char about[200] = "";
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= strcmp(names.at[k], names.at[i]) == 0;
        if (again)
            continue;
        const struct builtin *b = builtin(names.at[i]);
        if (b)
            snprintf(about, sizeof about, "%s", b->about ? b->about : "");
        else if (script_is(names.at[i]))
            script_about(names.at[i], about, sizeof about);
        offer(names.at[i], about);
    }
    option_words_free(&names);
    if (!pages) {
        offer("help", "the manual page of a command or program");
        offer("--version", "");
        offer("--help", "");
    }
    return rc;
}

static void offer_words(const char *const *words)
{
    for (; *words; words++)
        offer(*words, "");
}

static int of_engine(char **words, int n, struct err *e)
{
    static const char *const commands[] = {"train", "shard", "tasks"};
    char *file = n > 3 ? script_of_engine(words[1], words[2]) : NULL;
    if (n == 3) {
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            char *its = script_of_engine(words[1], commands[i]);
            if (its)
                offer(commands[i], "");
            free(its);
        }
    }
    if (!file)
        return 0;
    asked.program = words[2];
    asked.words = words + 3;
    asked.n = n - 4;
    bool splits;
    int rc = script_options(file, &asked.others, &splits, e);
    free(file);
    if (rc)
        return -1;
    const struct builtin *b = strcmp(words[2], "tasks") == 0 ? NULL : builtin(words[2]);
    char split[] = "split", *of_split[] = {split, words[2], words[1], NULL}, *line[] = {words[2], NULL};
    if (splits)
        tasks_split(3, of_split); /* does not return */
    if (b)
        b->main(1, line); /* nor does this */
    complete_by(NULL, 0);
    return 0;
}

static int of_bpe(char **words, int n, struct err *e)
{
    static const char *const actions[] = {"plan", "todo", "run", "train", "shard", "split", NULL};
    static const char *const split[] = {"train", "shard", NULL};
    static char two[64];
    bool splits;
    if (n == 2)
        return offer_commands(false, e);
    if (strcmp(words[1], "help") == 0)
        return n == 3 ? offer_commands(true, e) : 0;
    if (script_is_engine(words[1]))
        return of_engine(words, n, e);
    const struct builtin *b = builtin(words[1]);
    int skip = 2;
    asked.program = words[1];
    if (b && strcmp(b->name, "tasks") == 0) {
        if (n == 3) {
            offer_words(actions);
            return 0;
        }
        snprintf(two, sizeof two, "tasks %.50s", words[2]);
        asked.program = two;
        skip = 3;
        if (n <= 5 && strcmp(words[2], "split") == 0) { /* the fifth word, NAME, has no completions */
            if (n == 4)
                offer_words(split);
            return 0;
        }
    }
    asked.words = words + skip;
    asked.n = n - 1 - skip;
    char *last = words[n - 1];
    words[n - 1] = NULL;
    if (b)
        b->main(n - 2, words + 1); /* does not return */
    words[n - 1] = last;
    if (!script_is(words[1]))
        return 0;
    if (script_options(words[1], &asked.others, &splits, e))
        return -1;
    complete_by(NULL, 0);
    return 0;
}

int complete_main(int argc, char **argv)
{
    struct err e;
    char **words = argv + 1;
    int n = argc - 1;
    if (n < 2) {
        fputs("bpe complete: missing WORD; shells call this command: see bpe(7)\n", stderr);
        return EX_USAGE;
    }
    const char *name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];
    asked.current = words[n - 1];
    options_instead = complete_by;
    int rc = 0;
    const struct usage *u = strncmp(name, "bpe-", 4) == 0 ? program_of(name) : NULL;
    if (u) {
        const struct option_set set = {.rows = u->options};
        asked.program = u->name;
        asked.words = words + 1;
        asked.n = n - 2;
        complete_by(&set, 1);
    } else if (strcmp(name, "bpe") == 0) {
        rc = of_bpe(words, n, &e);
    }
    return rc ? e.code : fflush(stdout) ? EX_IOERR : 0;
}
