/* tasks_run.c - bpe tasks todo and run: list the tasks that have no result, and run tasks. */
#include "bpe/tasks.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "usage/source_options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct run {
    struct command_options common; /* jobs */
    bool ranges;
    bool *asked; /* which tasks; owned */
    struct tasks tasks;
    char **files;
    int n_files;
} self;

static size_t number_left(void)
{
    size_t n = 0;
    for (size_t i = 0; i < self.tasks.work.n_parts; i++)
        n += !self.tasks.work.parts[i].done;
    return n;
}

/* ---- todo ---- */

/* Puts a line for each task, or with --ranges one line such as 0-3,7. */
static int put_left(struct buf *out, struct err *e)
{
    const struct work *w = &self.tasks.work;
    int rc = 0;
    for (size_t i = 0, end; i < w->n_parts && rc == 0; i = end) {
        end = i + 1;
        if (w->parts[i].done)
            continue;
        while (self.ranges && end < w->n_parts && !w->parts[end].done)
            end++;
        rc = (self.ranges && out->len && buf_put_byte(out, ',', e)) || buf_printf(out, e, "%zu", i) ||
                     (end > i + 1 && buf_printf(out, e, "-%zu", end - 1)) ||
                     (!self.ranges && buf_put_byte(out, '\n', e))
                 ? -1
                 : 0;
    }
    if (rc || (self.ranges && out->len && buf_put_byte(out, '\n', e)))
        return -1;
    return 0;
}

static int todo(struct job *j, struct err *e)
{
    struct buf out = {0};
    int rc = tasks_open(&self.tasks, j, self.files, self.n_files, 1, e) || put_left(&out, e) ||
                     fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e)
                 ? -1
                 : 0;
    buf_free(&out);
    tasks_close(&self.tasks);
    return rc;
}

/* ---- run ---- */

/* Reads a number of at most six digits, without leading zeros. Returns the text after it; NULL: it is not one. */
static const char *number(const char *s, size_t *n)
{
    size_t digits = strspn(s, "0123456789");
    *n = strtoul(s, NULL, 10);
    return digits && digits <= 6 && (*s != '0' || digits == 1) ? s + digits : NULL;
}

/* Marks the tasks that a word asks for: 7, 0-3 or 0-3,7. */
static int ask(const char *word, struct err *e)
{
    const struct work *w = &self.tasks.work;
    size_t first, last;
    const char *end = number(word, &first);
    last = first;
    if (end && *end == '-')
        end = number(end + 1, &last);
    if (!end || (*end && *end != ','))
        return err_set(e, EX_USAGE, "%s: not a task number or a range such as 0-3", word);
    if (first > last)
        return err_set(e, EX_USAGE, "%s: the range ends before it begins", word);
    if (last >= w->n_parts)
        return err_set(e, EX_USAGE, "%zu: no such task; the tasks are 0 to %zu", last, w->n_parts - 1);
    for (size_t i = first; i <= last; i++)
        self.asked[i] = true;
    return *end ? ask(end + 1, e) : 0;
}

/* Whether a failure is permanent. Others are not recorded, because another attempt may succeed. */
static bool is_lasting(int status)
{
    return (status >= EX_USAGE && status <= EX_CONFIG && status != EX_IOERR && status != EX_TEMPFAIL) || status == 127;
}

/* Records why a task failed; after a success, removes such a record. */
static void note(const struct work_part *p)
{
    struct err ignored;
    struct buf text = {0};
    const struct work *w = &self.tasks.work;
    char *failed = tasks_failed_name(w, p, &ignored), *made = work_own_name(w->results, p->name, &ignored);
    if (failed && p->status == 0) {
        unlink(failed);
    } else if (failed && made && is_lasting(p->status)) {
        int fd = buf_printf(&text, &ignored, "%d\n%s\n", p->status, (const char *)p->why.p)
                     ? -1
                     : fd_open_file(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, EX_CANTCREAT, &ignored);
        if (fd >= 0 && (fd_write(fd, text.p, text.len, made, &ignored) || rename(made, failed)))
            unlink(made);
        job_close(&fd);
    }
    buf_free(&text);
    free(failed);
    free(made);
}

/* After an attempt at a task: prints and records why it has no result. Returns its exit status; or -1. */
static int tell(size_t i, struct err *e)
{
    struct work *w = &self.tasks.work;
    struct work_part *p = &w->parts[i];
    char line[5000];
    if (buf_put_byte(&p->why, '\0', e))
        return -1;
    if (p->status == EX_DATAERR && strstr((const char *)p->why.p, ": changed since ") &&
        buf_replace(&p->why, "run the same command again", "plan the work again, in another directory", e))
        return -1;
    if (p->status && !p->killed)
        job_print(NULL, (const char *)p->why.p);
    if (p->status == EX_TEMPFAIL) {
        snprintf(line, sizeof line, "%.4096s: task %zu: a process was killed; run it again", w->dir, i);
        job_print(w->job->command, line);
    }
    note(p);
    return p->status;
}

/* Runs the requested tasks, one after the other. Returns the exit status: that of the first that failed, or 75 if some
 * were killed and none failed otherwise. */
static int do_tasks(struct err *e)
{
    struct work *w = &self.tasks.work;
    uint64_t inner = self.common.jobs_text ? self.common.jobs : 1;
    int code = 0;
    for (size_t i = 0; i < w->n_parts; i++) {
        if (!self.asked[i] || w->parts[i].done)
            continue;
        w->parts[i].wanted = true;
        int status = work_do(w, inner, true, e) ? -1 : tell(i, e);
        w->parts[i].wanted = false;
        if (status < 0)
            return -1;
        if (code == 0 || code == EX_TEMPFAIL)
            code = status ? status : code;
    }
    return code;
}

static int do_asked(struct err *e)
{
    struct work *w = &self.tasks.work;
    if (self.n_files == 1) /* no TASK, as when a script passes on an empty list from `tasks todo` */
        return number_left() ? err_set(e, EX_USAGE, "missing TASK; bpe tasks todo lists the tasks") : 0;
    self.asked = calloc(w->n_parts, sizeof *self.asked);
    if (!self.asked)
        return err_mem(e, "tasks", w->n_parts);
    for (int i = 1; i < self.n_files; i++) {
        if (ask(self.files[i], e))
            return -1;
    }
    w->jobs = 1;
    if (access(w->where, X_OK))
        return err_set(e, EX_NOINPUT,
                       "%s: cannot open the directory where the work was planned, to which file names are relative",
                       w->where);
    return work_check_model(w, e) || durable_make_directory(w->results, e) ? -1 : do_tasks(e);
}

static int run(struct job *j, struct err *e)
{
    int status = tasks_open(&self.tasks, j, self.files, self.n_files, INT_MAX, e) ? -1 : do_asked(e);
    tasks_close(&self.tasks);
    free(self.asked);
    return status;
}

static int check(struct err *e)
{
    const struct source_options none = {0};
    return command_options_check(&self.common, &none, false, self.n_files, e);
}

/* ---- The command lines ---- */

static const struct option_row todo_rows[] = {
    {0, "ranges", NULL, "print one line, such as 0-3,7", OPTION_TO(FLAG, struct run, ranges)},
    COMMAND_NO_VERSION,
    {0},
};

static const struct command todo_command = {
    .name = "bpe tasks",
    .usage = "usage: bpe tasks todo [--ranges] DIR\n"
             "Prints the numbers of the tasks in DIR that have no result, one per line.\n",
    .options = todo_rows,
    COMMAND_TO(self),
    .run = todo,
};

static const struct option_row run_rows[] = {
    {'j', "jobs", "JOBS",
     "processes for a file whose text goes through a pipe, such as a single\ncompressed file (default 1)",
     OPTION_TO(TEXT, struct run, common.jobs_text)},
    MONITORING_OPTION(struct run, common.monitor),
    COMMAND_NO_VERSION,
    {0},
};

static const struct command run_command = {
    .name = "bpe tasks",
    .usage = "usage: bpe tasks run [-j JOBS] DIR TASK...\n"
             "Runs tasks of DIR: numbers, or ranges such as 0-3. Skips those that have a result.\n",
    .options = run_rows,
    COMMAND_TO(self),
    .check = check,
    .run = run,
};

int tasks_todo(int argc, char **argv)
{
    return command_main(&todo_command, argc, argv);
}

int tasks_run(int argc, char **argv)
{
    return command_main(&run_command, argc, argv);
}
