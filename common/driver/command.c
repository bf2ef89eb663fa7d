/* command.c - see command.h. */
#include "driver/command.h"

#include "base/io/fd.h"
#include "base/sys/num.h"
#include "driver/installed.h"
#include "usage/source_options.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const command_nul_bytes[] = {"error", "replace", "skip", NULL};
const char *const command_null_rows[] = {"empty", "skip", NULL};

/* ---- The command line ---- */

static int print_help(const struct command *c, struct err *e)
{
    const struct option_row *before[8] = {c->options}; /* names not listed again for later programs */
    size_t n = 1;
    struct buf out = {0};
    int rc = buf_put_str(&out, c->usage, e) || options_put_help(&out, c->options, e);
    if (c->n_programs && rc == 0)
        rc = buf_put_str(&out, "OPTIONs go to the programs that have them; their --help describes them:\n", e);
    for (size_t i = 0; i < c->n_programs && rc == 0; i++) {
        const struct usage *u = c->programs[i].usage;
        rc = options_put_names(&out, u->name, u->options, before, e);
        if (c->programs[i].only)
            before[n++] = u->options;
    }
    rc = rc || fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e);
    buf_free(&out);
    return rc ? -1 : 0;
}

static enum options_next parse(const struct command *c, int argc, char **argv, struct err *e)
{
    struct option_set sets[8] = {{.rows = c->options, .to = c->to, .only = true}};
    int first;
    for (size_t i = 0; i < c->n_programs; i++) {
        struct command_program *p = &c->programs[i];
        if (p->usage->init)
            p->usage->init(p->options);
        sets[i + 1] =
            (struct option_set){.rows = p->usage->options, .to = p->options, .words = &p->words, .only = p->only};
    }
    enum options_next next = options_parse(sets, c->n_programs + 1, argc, argv, &first, e);
    *c->files = argv + first;
    *c->n_files = argc - first;
    return next;
}

int command_check(struct command_program *p, char **files, int n_files, struct err *e)
{
    usage_set_files(p->usage, p->options, files, n_files);
    return p->usage->check ? p->usage->check(p->options, e) : 0;
}

int command_main(const struct command *c, int argc, char **argv)
{
    static struct err e;
    static char text[ERR_TEXT];
    struct job j = {.command = c->name};
    int status = -1;
    switch (parse(c, argc, argv, &e)) {
    case OPTIONS_WRONG:
    case OPTIONS_VERSION: /* commands have no --version */
        break;
    case OPTIONS_HELP:
        status = print_help(c, &e);
        break;
    case OPTIONS_RUN:
        if ((c->check && c->check(&e)) || job_init(&j, c->name, &e))
            break;
        monitoring_begin(&j);
        status = c->run(&j, &e);
        monitoring_end(&j);
        job_free(&j); /* ends all processes, so that no message follows the last line */
        break;
    }
    if (status < 0) {
        job_print(c->name, err_text(&e, text));
        status = e.code;
    }
    for (size_t i = 0; i < c->n_programs; i++) {
        option_words_free(&c->programs[i].words);
        options_free(c->programs[i].usage->options, c->programs[i].options);
    }
    options_free(c->options, c->to);
    return status;
}

/* ---- Command lines ---- */

static int add_word(struct command_line *l, const char *word, struct err *e)
{
    const char **grown = realloc(l->words, (l->n + 2) * sizeof *grown);
    if (!grown)
        return err_mem(e, "a command line", (l->n + 2) * sizeof *grown);
    l->words = grown;
    grown[l->n++] = word;
    grown[l->n] = NULL;
    return 0;
}

int command_line_words(struct command_line *l, const char *const *words, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; words[i] && rc == 0; i++)
        rc = add_word(l, words[i], e);
    return rc;
}

int command_line_append(struct command_line *l, const struct command_line *more, struct err *e)
{
    return more->n ? command_line_words(l, more->words, e) : 0;
}

int command_line_options(struct command_line *l, const struct option_words *w, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++)
        rc = add_word(l, w->at[i], e);
    return rc;
}

int command_line_files(struct command_line *l, char **files, int n, struct err *e)
{
    int rc = add_word(l, "--", e);
    for (int i = 0; i < n && rc == 0; i++)
        rc = add_word(l, files[i], e);
    return rc;
}

int command_line_start(struct job *j, const struct job_start *how, const struct command_line *l, struct err *e)
{
    struct job_start s = *how;
    s.argv = l->words;
    return job_start(j, &s, e) ? 0 : -1;
}

int command_start(struct job *j, const struct job_start *how, const char *program, const struct option_words *options,
                  char **files, int n, struct err *e)
{
    struct command_line l = {0};
    int rc = add_word(&l, program, e) || command_line_options(&l, options, e) ||
                     (files && command_line_files(&l, files, n, e)) || command_line_start(j, how, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    return rc;
}

int command_paths(struct option_words *to, const struct option_words *from, const char *const *names, struct err *e)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return err_sys(e, EX_OSERR, errno, "cannot determine the current directory");
    int rc = 0;
    for (size_t i = 0; i < from->n && rc == 0; i++) {
        const char *word = from->at[i], *path = NULL;
        for (size_t k = 0; names[k]; k++) {
            if (option_word_is(word, names[k]) && word[strlen(names[k]) + 2] && word[strlen(names[k]) + 3] != '/')
                path = word + strlen(names[k]) + 3;
        }
        rc = path ? option_words_add(to, e, "%.*s%s/%s", (int)(path - word), word, here, path)
                  : option_words_add(to, e, "%s", word);
    }
    return rc;
}

void command_line_free(struct command_line *l)
{
    free(l->words);
    *l = (struct command_line){0};
}

/* ---- Options shared by several commands ---- */

static int check_jobs(struct command_options *o, struct err *e)
{
    enum { JOBS_MAX = 100000 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    o->jobs = o->jobs_text ? num_whole(o->jobs_text, JOBS_MAX) : cores > 0 ? (uint64_t)cores : 1;
    return o->jobs ? 0 : err_set(e, EX_USAGE, "-j %s: not a number of jobs", o->jobs_text);
}

/* The name of an option given for files that are not Parquet; NULL: none. */
static const char *other_form(const struct source_options *t, bool has_only)
{
    enum form form = source_options_form(t);
    return form != FORM_TEXT   ? input_forms[form]->name
           : t->skip_bad_lines ? "on-error"
           : t->files_from     ? "files-from"
           : t->files0_from    ? "files0-from"
           : has_only          ? "only"
                               : NULL;
}

int command_options_check(struct command_options *o, const struct source_options *text, bool has_only, int n_files,
                          struct err *e)
{
    if (check_jobs(o, e))
        return -1;
    if (o->via && !*o->via)
        return err_set(e, EX_USAGE, "--via: missing COMMAND");
    if (!o->parquet)
        return o->has_nul_bytes || o->has_null_rows
                   ? err_set(e, EX_USAGE, "%s is for --parquet", o->has_nul_bytes ? "--nul-bytes" : "--null-rows")
                   : 0;
    const char *other = other_form(text, has_only);
    if (other && !o->mixed)
        return err_set(e, EX_USAGE, "--parquet and --%s cannot be combined", other);
    if (n_files == 0)
        return err_set(e, EX_USAGE, "--parquet: missing FILE; see --help");
    if (job_need("python3", e) || option_words_add(&o->reader, e, "--column=%s", o->column) ||
        option_words_add(&o->reader, e, "--nul-bytes=%s", command_nul_bytes[o->nul_bytes]) ||
        option_words_add(&o->reader, e, "--null-rows=%s", command_null_rows[o->null_rows]))
        return -1;
    return 0;
}

static bool is_named_parquet(const char *file)
{
    return *file && str_ends(file + 1, ".parquet");
}

void command_mix(struct command_options *o, const struct source_options *text, char **files, int n_files)
{
    int n = 0;
    for (int i = 0; i < n_files; i++)
        n += is_named_parquet(files[i]);
    o->mixed = o->parquet && source_options_form(text) != FORM_TEXT && !text->files_from && !text->files0_from &&
               n > 0; /* also if all FILEs are Parquet, as a shell pattern may have matched no others */
}

int command_weigh(struct command_options *o, char **files, int n_files, struct err *e)
{
    o->weighed = files;
    o->n_weighed = n_files;
    return weight_option_check(&o->weights, n_files > 0, n_files, e);
}

const char *command_weight(const struct command_options *o, const char *file, int *at)
{
    while (*at < o->n_weighed && o->weighed[*at] != file)
        ++*at;
    return option_placed_of(&o->weights, *at);
}

int command_line_weighed(struct command_line *l, struct command_weights *w, const char *weight, const char *file,
                         struct err *e)
{
    bool differs = weight ? !w->now || strcmp(weight, w->now) != 0 : w->now != NULL;
    if (differs && (add_word(l, "--weight", e) || add_word(l, weight ? weight : "1", e)))
        return -1;
    w->now = weight;
    if (file && file[0] == '-' && file[1] && !w->ended) { /* the user has put -- before it, and so no weight after it */
        w->ended = true;
        if (add_word(l, "--", e))
            return -1;
    }
    return file ? add_word(l, file, e) : 0;
}

int command_line_texts(struct command_line *l, const struct command_options *o, char **files, int n, struct err *e)
{
    struct command_weights w = {0};
    int at = 0, rc = 0;
    if (!o || !o->weights.n)
        return command_line_files(l, files, n, e);
    if (n == 0)
        return command_line_weighed(l, &w, option_placed_of(&o->weights, 0), NULL, e);
    for (int i = 0; i < n && rc == 0; i++)
        rc = command_line_weighed(l, &w, command_weight(o, files[i], &at), files[i], e);
    return rc;
}

bool command_is_parquet(const struct command_options *o, const char *file)
{
    return o->parquet && (!o->mixed || is_named_parquet(file));
}

int command_line_chunk_parquet(struct command_line *l, const struct option_words *chunk, struct err *e)
{
    static const char *const of_others[] = {"on-error", "id", NULL};
    int rc = 0;
    for (size_t i = 0; i < chunk->n && rc == 0; i++)
        rc = option_word_in(chunk->at[i], of_others) || source_options_word_form(chunk->at[i])
                 ? 0
                 : add_word(l, chunk->at[i], e);
    if (rc || add_word(l, "--null", e))
        return -1;
    return 0;
}

int command_line_via(struct command_line *l, const char *via, char **script, struct err *e)
{
    size_t n = strlen(via) + 8;
    *script = malloc(n);
    if (!*script)
        return err_mem(e, "a command line", n);
    snprintf(*script, n, "%s \"$@\"", via);
    return command_line_add(l, e, "sh", "-c", *script, "--via");
}

int command_line_parquet(struct command_line *l, const struct command_options *o, struct err *e)
{
    if (command_line_add(l, e, installed.parquet) || command_line_options(l, &o->reader, e))
        return -1;
    return 0;
}

/* ---- Standard input ---- */

int command_input_check(struct job *j, struct err *e)
{
    struct stat st;
    int n = 0;
    if (isatty(0))
        job_print(j->command, "reading text from the terminal; Ctrl-D ends it");
    if (fstat(0, &st) < 0 || !S_ISFIFO(st.st_mode))
        return 0;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    while (job_wait(j, &in, 1, -1) == 0) {
    }
    return ioctl(0, FIONREAD, &n) == 0 && n == 0 && (in.revents & POLLHUP)
               ? err_set(e, EX_TEMPFAIL, "standard input is empty: did the program that writes it fail?")
               : 0;
}
