/* help.c - the help of bpe: lists of commands, and manual pages. */
#include "bpe/front.h"
#include "bpe/pages.h"

#include "base/io/fd.h"
#include "base/sys/nearest.h"
#include "driver/installed.h"
#include "driver/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists all commands, or all engines, sorted. */
static int list(struct option_words *names, bool engines, struct err *e)
{
    DIR *dir = opendir(installed.commands);
    int rc = 0;
    for (const struct builtin *b = builtins; b->name && !engines && rc == 0; b++)
        rc = b->about ? option_words_add(names, e, "%s", b->name) : 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (engines ? script_is_engine(d->d_name) : script_is(d->d_name) && !builtin(d->d_name))
            rc = option_words_add(names, e, "%s", d->d_name);
    }
    if (dir)
        closedir(dir);
    if (names->n)
        qsort(names->at, names->n, sizeof *names->at, by_name);
    return rc;
}

int help_names(struct option_words *names, struct err *e)
{
    if (list(names, false, e) || list(names, true, e))
        return -1;
    return 0;
}

/* ---- Unknown names ---- */

static int put_names(struct buf *out, const struct option_words *names, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < names->n && rc == 0; i++)
        rc = (i && buf_put_str(out, ", ", e)) || buf_put_str(out, names->at[i], e) ? -1 : 0;
    return rc;
}

/* Sets EX_USAGE: what is wrong, and what is valid. near: the word that may be a mistyped name; or NULL. */
static int wrong(const char *what, const char *near, const struct option_words *names, const char *there_is,
                 struct err *e)
{
    const char *meant = near ? nearest(near, (const char *const *)names->at, names->n) : NULL;
    return err_set(e, EX_USAGE, "%s%s%s%s %s", what, meant ? " did you mean " : "", meant ? meant : "",
                   meant ? "?" : "", there_is);
}

/* The same for commands. */
static int unknown(const char *what, const char *near, struct err *e)
{
    struct option_words names = {0};
    struct buf all = {0};
    if (list(&names, false, e) == 0 && buf_put_str(&all, "the commands are ", e) == 0 &&
        put_names(&all, &names, e) == 0 && buf_put_str(&all, "; see bpe help", e) == 0 &&
        buf_put_byte(&all, '\0', e) == 0)
        wrong(what, near, &names, (const char *)all.p, e);
    option_words_free(&names);
    buf_free(&all);
    return -1;
}

/* The same for bpe help. */
static int unknown_page(const char *word, struct err *e)
{
    char what[300];
    struct option_words names = {0};
    snprintf(what, sizeof what, "%.200s: no such command, program or page;", word);
    if (list(&names, false, e) == 0 && page_names_add(&names, e) == 0)
        wrong(what, word, &names, "bpe help lists them", e);
    option_words_free(&names);
    return -1;
}

int help_no_command(const char *name, struct err *e)
{
    char text[600];
    const struct usage *u = program_of(name);
    if (u)
        snprintf(text, sizeof text, "%.200s: not a command but a program, %s;", name, u->name);
    else
        snprintf(text, sizeof text, "%.200s: no such command;", name);
    return unknown(text, u ? NULL : name, e);
}

int help_which_command(struct err *e)
{
    return unknown("missing COMMAND;", NULL, e);
}

/* ---- The overview ---- */

/* Puts a program's description, up to its first period or semicolon. */
static int put_program(struct buf *out, const struct usage *u, struct err *e)
{
    return buf_printf(out, e, "  %-11s %.*s\n", u->name, (int)strcspn(u->about, ".;\n"), u->about);
}

/* Puts the pages that are not about a command or program listed above. */
static int put_other_pages(struct buf *out, struct err *e)
{
    char name[PAGE_NAME];
    struct option_words pages = {0}, other = {0};
    int rc = pages_list(&pages, e);
    for (size_t i = 0; i < pages.n && rc == 0; i++) {
        const char *word = page_name(pages.at[i], name);
        word += strncmp(word, "bpe-", 4) == 0 ? 4 : 0;
        const struct builtin *b = builtin(word);
        rc = (b && b->about) || script_is(word) || program_of(word) ? 0 : option_words_add(&other, e, "%s", word);
    }
    if (rc == 0 && other.n)
        rc =
            buf_put_str(out, "Other pages for bpe help: ", e) || put_names(out, &other, e) || buf_put_byte(out, '\n', e)
                ? -1
                : 0;
    option_words_free(&pages);
    option_words_free(&other);
    return rc;
}

static int put_overview(struct buf *out, struct err *e)
{
    struct option_words commands = {0}, engines = {0};
    int rc = list(&commands, false, e) || list(&engines, true, e) ||
             buf_put_str(out,
                         "usage: bpe [ENGINE] COMMAND [OPTION]... [FILE]...\n"
                         "       bpe help [COMMAND | PROGRAM | PAGE]\n"
                         "       bpe --version\n"
                         "Commands:\n",
                         e);
    for (size_t i = 0; i < commands.n && rc == 0; i++) {
        char text[200];
        const struct builtin *b = builtin(commands.at[i]);
        if (b)
            snprintf(text, sizeof text, "%s", b->about);
        else
            script_about(commands.at[i], text, sizeof text);
        rc = buf_printf(out, e, "  %-11s %s\n", commands.at[i], text);
    }
    if (rc == 0 && engines.n)
        rc = buf_put_str(out, "Engines, to train and shard on many machines: ", e) || put_names(out, &engines, e) ||
             buf_put_str(out, "; see bpe help engines\n", e);
    rc = rc || buf_put_str(out, "Programs, one for each step, for pipelines of your own:\n", e);
    for (size_t i = 0; program_usages[i] && rc == 0; i++)
        rc = put_program(out, program_usages[i], e);
    rc = rc || put_other_pages(out, e);
    option_words_free(&commands);
    option_words_free(&engines);
    return rc ? -1 : 0;
}

int help_print(struct buf *out, struct err *e)
{
    int rc = fd_write(1, out->p, out->len, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
    buf_free(out);
    return rc;
}

int help_overview(struct err *e)
{
    struct buf out = {0};
    if (put_overview(&out, e) || help_print(&out, e))
        return -1;
    return 0;
}

/* ---- One page ---- */

/* Runs man(1), which writes to the terminal, through its pager, or to a pipe; `in`: the read end of that pipe, or -1.
 * Returns whether the page was shown. */
static bool run_man(const char *page, int out, int in, struct buf *text)
{
    struct err ignored;
    int status = -1;
    /* As in system(3), Ctrl-C is for the pager. */
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, interrupted);
        signal(SIGQUIT, quit);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, 2);
        dup2(out, 1);
        execlp("man", "man", page, (char *)NULL);
        _exit(127);
    }
    if (in >= 0) {
        close(out);
        fd_read_all(in, text, "man", &ignored);
        close(in);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, interrupted);
    signal(SIGQUIT, quit);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Shows a page by man(1). 1: shown; 0: not shown; -1: it could not be written, which man would not report. */
static int show_page(const char *page, struct err *e)
{
    struct err ignored;
    struct buf text = {0};
    int ends[2];
    if (job_need("man", &ignored))
        return 0;
    if (isatty(1))
        return run_man(page, 1, -1, NULL);
    if (job_pipe(ends, e))
        return -1;
    bool shown = run_man(page, ends[1], ends[0], &text) && text.len;
    int rc = shown && help_print(&text, e) ? -1 : shown;
    buf_free(&text);
    return rc;
}

/* The help on a word whose page cannot be shown. */
static int without_man(char *word, const char *page, struct err *e)
{
    bool full = strncmp(word, "bpe-", 4) == 0 && !program_of(word);
    char *name = full ? word + 4 : word, *words[] = {name, "--help", NULL};
    const struct builtin *b = builtin(name);
    const struct usage *u = program_of(name);
    struct buf out = {0};
    if (b)
        return b->main(2, words);
    if (script_is(name))
        return script_run(name, words, e);
    if (u)
        return usage_put_help(&out, u, e) || help_print(&out, e) ? -1 : 0;
    if (page)
        return buf_put_str(&out, page, e) || buf_put_str(&out, ": man cannot show this page\n", e) ||
                       help_print(&out, e)
                   ? -1
                   : 0;
    return unknown_page(word, e);
}

int help_on(char *word, struct err *e)
{
    struct option_words pages = {0};
    const char *page = NULL;
    int shown = pages_list(&pages, e);
    if (shown == 0) {
        page = page_find(&pages, script_is_engine(word) ? "engines" : word);
        shown = page ? show_page(page, e) : 0;
    }
    int status = shown < 0 ? -1 : shown ? 0 : without_man(word, page, e);
    option_words_free(&pages);
    return status;
}
