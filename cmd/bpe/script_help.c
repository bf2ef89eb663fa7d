/* script_help.c - reads the options of a command in another language from its --help, which has the format of
 * options_help.c. The --help of commands of engines also states which options of bpe train or bpe shard they take:
 *
 *     All other OPTIONs are those of bpe train (see its --help), except --keep and --via.
 *
 * or continues with the --help of bpe tasks split, whose options they take.
 */
#include "bpe/front.h"

#include "base/io/fd.h"
#include "driver/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct rows {
    struct option_row *at; /* name is NULL after the last */
    size_t n, cap;
};

static int add_row(struct rows *rows, struct option_row r, const char *name, const char *argument, const char *help,
                   struct err *e)
{
    r.name = strdup(name);
    r.argument = *argument ? strdup(argument) : NULL;
    r.help = strdup(help);
    if (!r.name || (*argument && !r.argument) || !r.help ||
        array_grow(&rows->at, &rows->cap, rows->n + 2, sizeof r, "options", e))
        return err_mem(e, "options", sizeof r);
    rows->at[rows->n++] = r;
    rows->at[rows->n] = (struct option_row){0};
    return 0;
}

/* Adds the options that a line excludes, as refused rows, which hide those of other tables. */
static int add_refused(struct rows *rows, const char *line, struct err *e)
{
    char name[60];
    int rc = 0;
    const char *list = strstr(line, " except "), *p = list ? strstr(list, " --") : NULL;
    for (; p && rc == 0; p = strstr(p, " --")) {
        p += 3;
        snprintf(name, sizeof name, "%.*s", (int)strspn(p, "abcdefghijklmnopqrstuvwxyz-"), p);
        rc = add_row(rows, (struct option_row){.kind = OPTION_REFUSED}, name, "", "", e);
    }
    return rc;
}

/* Adds the option that a line of --help describes, if any: two or more spaces, `-x, --name=VALUE`, and a description.
 */
static int add_line(struct rows *rows, const char *line, struct err *e)
{
    struct option_row r = {.kind = OPTION_TEXT};
    char name[60], value[60] = "";
    const char *p = line + strspn(line, " ");
    if (p - line < 2)
        return 0;
    if (p[0] == '-' && p[1] != '-' && p[1] && p[2] == ',') {
        r.letter = p[1];
        p += 3 + strspn(p + 3, " ");
    }
    if (strncmp(p, "--", 2) != 0)
        return 0;
    size_t n = strcspn(p + 2, "=[ ");
    snprintf(name, sizeof name, "%.*s", (int)n, p + 2);
    p += 2 + n;
    r.if_none = *p == '[' ? "" : NULL;
    p += *p == '[';
    if (*p == '=') {
        n = strcspn(p + 1, " ]:");
        snprintf(value, sizeof value, "%.*s", (int)n, p + 1);
        p += 1 + strcspn(p + 1, " ");
    }
    return add_row(rows, r, name, value, p + strspn(p, " "), e);
}

/* Reads the --help of a script, and ends it with NUL. */
static int read_help(const char *file, struct buf *text, struct err *e)
{
    char *words[] = {NULL, "--help", NULL};
    int ends[2];
    if (job_pipe(ends, e))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        struct err ignored;
        dup2(ends[1], 1);
        script_run(file, words, &ignored);
        _exit(127);
    }
    job_close(&ends[1]);
    int rc = fd_read_all(ends[0], text, "help", e) || buf_put_byte(text, '\0', e) ? -1 : 0;
    job_close(&ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return rc;
}

int script_options(const char *file, const struct option_row **options, bool *splits, struct err *e)
{
    struct rows rows = {0};
    struct buf text = {0};
    int rc = read_help(file, &text, e);
    char *rest = (char *)text.p;
    *splits = false;
    for (char *line; rc == 0 && !*splits && (line = strsep(&rest, "\n")) != NULL;) {
        *splits = strncmp(line, "OPTIONs go to ", 14) == 0;
        rc = add_line(&rows, line, e) || add_refused(&rows, line, e) ? -1 : 0;
    }
    buf_free(&text);
    *options = rows.at;
    return rc;
}
