/* plan_command.c - the command lines that carry out a plan, for bpe plan, ready to be typed. */
#include "base/io/fd.h"
#include "base/sys/num.h"
#include "base/sys/shell_words.h"
#include "bpe/plan.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- FILEs ---- */

/* Whether a shell pattern matches exactly these files, in this order. */
static bool stands_for(const char *pattern, char **files, int n)
{
    glob_t found;
    if (glob(pattern, GLOB_ERR, NULL, &found))
        return false;
    bool same = found.gl_pathc == (size_t)n;
    for (int i = 0; i < n && same; i++)
        same = strcmp(found.gl_pathv[i], files[i]) == 0;
    globfree(&found);
    return same;
}

/* A shell pattern: what n file names have in common before and after a part of the last component, with * for that
 * part. Owned by the caller; NULL: no such pattern matches only these. */
static char *pattern_of(char **files, int n)
{
    size_t before = strlen(files[0]), after = before;
    for (int i = 1; i < n; i++) {
        size_t len = strlen(files[i]), first = strlen(files[0]), b = 0, a = 0;
        while (b < before && b < len && files[i][b] == files[0][b])
            b++;
        while (a < after && a < len - b && a < first - b && files[i][len - 1 - a] == files[0][first - 1 - a])
            a++;
        before = b;
        after = a;
    }
    const char *end = files[0] + strlen(files[0]) - after;
    if (!shell_words_is_plain(files[0], before) || (after && !shell_words_is_plain(end, after)))
        return NULL;
    char *pattern = malloc(before + after + 2);
    if (!pattern)
        return NULL;
    snprintf(pattern, before + after + 2, "%.*s*%s", (int)before, files[0], end);
    if (!strchr(pattern + before, '/') && stands_for(pattern, files, n))
        return pattern;
    free(pattern);
    return NULL;
}

/* Puts many files as a pattern, if there is one. */
static int put_files(struct buf *line, char **files, int n, struct err *e)
{
    enum { MANY = 4 };
    int rc = 0;
    char *pattern = n >= MANY ? pattern_of(files, n) : NULL;
    bool dash = false;
    for (int i = 0; i < n; i++)
        dash |= files[i][0] == '-' && files[i][1];
    if (dash)
        rc = buf_put_str(line, " --", e);
    if (pattern)
        rc = rc || buf_put_byte(line, ' ', e) || buf_put_str(line, pattern, e);
    else
        rc = rc || shell_words_put(line, (const char *const *)files, (size_t)n, e);
    free(pattern);
    return rc ? -1 : 0;
}

/* ---- Commands ---- */

static int put_options(struct buf *line, const struct option_words *options, struct err *e)
{
    return shell_words_put(line, (const char *const *)options->at, options->n, e);
}

static int put_min_count(struct buf *line, const struct plan *p, struct err *e)
{
    double n = p->way[PLAN_EXPECTED].min_count;
    return isnan(n) ? 0 : buf_printf(line, e, " --min-count=%.0f", n);
}

static int put_train(struct buf *line, const struct plan *p, const struct plan_ask *ask,
                     const struct option_words *options, char **files, int n_files, struct err *e)
{
    if (buf_printf(line, e, "bpe train -v %.0f -j %.0f", ask->vocabulary, ask->jobs) || put_options(line, options, e) ||
        put_min_count(line, p, e) || buf_put_str(line, " -o tokenizer.json", e) || put_files(line, files, n_files, e))
        return -1;
    return 0;
}

static int put_tasks(struct plan_command *c, const struct plan *p, const struct plan_ask *ask,
                     const struct option_words *options, char **files, int n_files, struct err *e)
{
    char time[PLAN_CELL];
    const struct plan_figures *is = &p->way[PLAN_EXPECTED];
    plan_put_duration(time, is->stage[1].cpu); /* on all machines */
    snprintf(c[0].what, sizeof c->what, "# once: plan the tasks, in the directory work, which all machines must share");
    snprintf(c[1].what, sizeof c->what,
             "# on each machine, until todo prints nothing; or by an engine: bpe-engines(7)");
    snprintf(c[2].what, sizeof c->what,
             "# at the end: one process adds up all counts, in %.16s, and one learns the merges", time);
    if (buf_put_str(&c[0].line, "bpe tasks plan -o work", e) ||
        (p->tasks >= ask->jobs && buf_printf(&c[0].line, e, " --tasks=%.0f", p->tasks)) ||
        put_options(&c[0].line, options, e) || put_files(&c[0].line, files, n_files, e) ||
        buf_printf(&c[1].line, e, "bpe tasks todo work | shuf | xargs -r -n 1 -P %.0f bpe tasks run work",
                   ask->jobs / ask->hosts) ||
        buf_printf(&c[2].line, e, "bpe tasks train work -v %.0f", ask->vocabulary) || put_min_count(&c[2].line, p, e) ||
        buf_put_str(&c[2].line, " -o tokenizer.json", e))
        return -1;
    return 0;
}

/* Whether other machines can read the text again. */
static bool are_files(char **files, int n)
{
    struct stat st;
    bool regular = true;
    for (int i = 0; i < n; i++)
        regular &= !fd_is_stdin(files[i]) && stat(files[i], &st) == 0 && S_ISREG(st.st_mode);
    return regular;
}

int plan_commands(struct plan_command c[PLAN_COMMANDS], size_t *n, const struct plan *p, const struct plan_ask *ask,
                  const struct option_words *options, char **files, int n_files, struct err *e)
{
    int rc = 0;
    *n = ask->hosts > 1 ? (are_files(files, n_files) ? 3 : 0) : 1;
    if (*n == 1)
        rc = put_train(&c[0].line, p, ask, options, files, n_files, e);
    else if (*n)
        rc = put_tasks(c, p, ask, options, files, n_files, e);
    if (*n && ask->whole > 0 && ask->size > 1.01 * ask->whole) { /* FILEs are not all of the text */
        char *what = c[0].what, size[32], whole[32];
        size_t at = strlen(what);
        snprintf(what + at, sizeof c->what - at, "%s all the files of %s, not only these %s", at ? "; name" : "# name",
                 num_bytes(size, sizeof size, ask->size), num_bytes(whole, sizeof whole, ask->whole));
    }
    for (size_t i = 0; i < *n && rc == 0; i++)
        rc = buf_put_byte(&c[i].line, '\0', e);
    return rc ? -1 : 0;
}
