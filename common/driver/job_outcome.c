/* job_outcome.c - see job.h: why a job failed. */
#include "driver/job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool job_may_be_unread(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool job_was_killed(const struct job_process *p)
{
    return p->status > 128 && p->status <= 128 + SIGRTMAX &&
           p->status != 128 + SIGPIPE; /* 255 is an exit status of other programs */
}

/* The next stage after a process's, in its group or (in_group false) in all. -1: none. */
static int next_stage(const struct job *j, const struct job_process *p, bool in_group)
{
    int next = -1;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *q = j->at[i];
        if (q->stage > p->stage && (!in_group || q->group == p->group) && (next < 0 || q->stage < next))
            next = q->stage;
    }
    return next;
}

/* Whether SIGPIPE ended it although all processes that it fed did their work. */
static bool lost_its_reader(const struct job *j, const struct job_process *p)
{
    if (p->status != 128 + SIGPIPE)
        return false;
    bool in_group = next_stage(j, p, true) >= 0;
    int next = next_stage(j, p, in_group);
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *q = j->at[i];
        if (q->stage != next || (in_group && q->group != p->group))
            continue;
        if (q->dismissed ? q->dismissed_at < p->ended_at : q->status != 0) /* it had stopped reading */
            return false;
    }
    return next >= 0 || j->to_file || !job_may_be_unread(1);
}

static int last_stage(const struct job *j)
{
    int stage = 0;
    for (size_t i = 0; i < j->n; i++)
        stage = j->at[i]->stage > stage ? j->at[i]->stage : stage;
    return stage;
}

/* Whether it failed on its own, with a message. */
static bool failed(const struct job_process *p)
{
    return !p->dismissed && !p->foreign && p->status != 0 && p->status <= 128 && p->status != EX_TEMPFAIL;
}

/* The process that failed first; NULL: none. */
static const struct job_process *first_failure(const struct job *j)
{
    const struct job_process *first = NULL, *last = NULL;
    bool several = false;
    int end = last_stage(j);
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        if (!failed(p))
            continue;
        if (p->stage == end && p->text.len)
            last = p;
        several |= first && p->stage == first->stage;
        if (!first || p->stage < first->stage)
            first = p;
    }
    return several && last && last->status == first->status ? last : first;
}

/* Its last line, and the line's length; 0: none. */
static const char *last_line(const struct job_process *p, size_t *n)
{
    size_t end = p->text.len;
    while (end && p->text.p[end - 1] == '\n')
        end--;
    const unsigned char *before = end ? memrchr(p->text.p, '\n', end) : NULL;
    const char *line = before ? (const char *)before + 1 : (const char *)p->text.p;
    *n = end ? end - (size_t)(line - (const char *)p->text.p) : 0;
    return line;
}

/* Appends why it failed. If its message names standard output, the user's name for that file is used instead. */
int job_tell(const struct job *j, const struct job_process *p, struct buf *line, struct err *e)
{
    static const char cannot[] = "standard output: cannot write: ";
    size_t n;
    const char *text = last_line(p, &n), *why = n && p->writes ? memmem(text, n, cannot, sizeof cannot - 1) : NULL;
    int rc;
    if (why) {
        why += sizeof cannot - 1;
        rc = buf_put_str(line, j->command, e) || buf_put_str(line, ": ", e) || buf_put_str(line, p->writes, e) ||
             buf_put_str(line, ": cannot write: ", e) || buf_put(line, why, n - (size_t)(why - text), e) ||
             (p->remedy && (buf_put_str(line, "; ", e) || buf_put_str(line, p->remedy, e)));
    } else if (!n && p->spoke) {
        rc = 0; /* its last line was passed on before it ended */
    } else {
        rc = n ? buf_put(line, text, n, e)
               : buf_printf(line, e, "%s: %s ended with status %d", j->command, p->name, p->status);
    }
    return rc ? -1 : p->status;
}

/* Whether bpe(7) lists this exit status. */
static bool is_ours(int status)
{
    return (status >= EX_USAGE && status <= EX_CONFIG) || status == 127;
}

/* The first process that was killed; NULL: none. */
static const struct job_process *first_killed(const struct job *j)
{
    const struct job_process *first = NULL;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        bool killed = !p->dismissed && (job_was_killed(p) || lost_its_reader(j, p));
        if (killed && (!first || p->stage < first->stage))
            first = p;
    }
    return first;
}

static bool last_ended_well(const struct job *j)
{
    int end = last_stage(j);
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->stage == end && (j->at[i]->dismissed || j->at[i]->status))
            return false;
    }
    return j->n > 0;
}

/* Reports why data is missing: the message of a process that noticed, and the status of a user's command that failed.
 */
static int tell_missing(const struct job *j, const struct job_process *cause, struct buf *line, struct err *e)
{
    int status = job_tell(j, cause, line, e);
    for (size_t i = 0; i < j->n && status >= 0; i++) {
        const struct job_process *p = j->at[i];
        if (p->foreign && !p->dismissed && p->status && p->status <= 128)
            return buf_printf(line, e, "; %s ended with status %d", p->name, p->status) ? -1 : status;
    }
    return status;
}

int job_outcome(const struct job *j, struct buf *line, struct err *e)
{
    if (j->last_decides && last_ended_well(j))
        return 0;
    const struct job_process *cause = first_failure(j), *killed = first_killed(j);
    if (killed && (!cause || cause->stage > killed->stage)) /* its output may end anywhere */
        return buf_printf(line, e, "%s: %s was killed; run the same command again", j->command, killed->name)
                   ? -1
                   : EX_TEMPFAIL;
    if (cause)
        return job_tell(j, cause, line, e);
    bool unread = false;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        if (!p->dismissed && p->foreign && is_ours(p->status))
            return job_tell(j, p, line, e);
        if (!p->dismissed && !p->foreign && p->status == EX_TEMPFAIL &&
            (!cause || (p->text.len && !cause->text.len) || (p->text.len && p->stage < cause->stage)))
            cause = p;
        unread |= !p->dismissed && p->status == 128 + SIGPIPE;
    }
    return cause ? tell_missing(j, cause, line, e) : unread ? 128 + SIGPIPE : 0;
}

int job_outcome_of(const struct job *j, int group, struct buf *line, struct err *e)
{
    struct job view = *j;
    view.n = 0;
    view.at = malloc((j->n + 1) * sizeof *view.at);
    if (!view.at)
        return err_mem(e, "processes", j->n * sizeof *view.at);
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->group == group)
            view.at[view.n++] = j->at[i];
    }
    int status = job_outcome(&view, line, e);
    free(view.at);
    return status;
}

void job_report(struct job *j, int status, struct buf *line)
{
    struct err ignored;
    if (status == 0)
        job_say_all(j);
    else if (buf_put_byte(line, '\0', &ignored) == 0)
        job_print(NULL, (const char *)line->p);
}

int job_result(struct job *j)
{
    struct err e;
    struct buf line = {0};
    int status = job_outcome(j, &line, &e);
    if (status < 0) {
        job_print(j->command, e.msg);
        status = e.code;
    } else {
        job_report(j, status, &line);
    }
    buf_free(&line);
    return status;
}
