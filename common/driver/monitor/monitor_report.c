/* monitor_report.c - see monitor.h: sums up the samples of an interval. */
#include "driver/monitor/monitor_internal.h"
#include "driver/monitor/unseen.h"
#include "driver/monitor/verdict.h"

#include "base/sys/buf.h"
#include "base/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Whether to report a pipeline: it has a running program of ours, or a tool that starts them one after the other. */
static bool is_wanted(const struct monitor *m, const struct pipeline *p)
{
    bool wanted = m->pid == 0, alive = false;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->stages[i].n; k++) {
            const struct watched *w = p->stages[i].at[k];
            wanted = wanted || w->process.pid == m->pid || watched_descends(m->at, m->n, w, m->pid);
            alive |= !w->process.ended && (watched_is_program(w) || watched_spreads(w));
        }
    }
    return wanted && alive;
}

static int add_files(const struct monitor *m, struct stage_report *s, const struct watched *w, double seconds,
                     struct before *now, struct err *e)
{
    struct process_file files[REPORT_FILES];
    size_t n = process_files(&w->process, files, REPORT_FILES);
    for (size_t i = 0; i < n; i++) {
        const struct process_file *f = &files[i];
        const struct file_before *before = monitor_file_before(m, w->process.pid, f);
        uint64_t more = before && f->position > before->position ? f->position - before->position : 0;
        bool moved = more || (before && before->moved);
        if (array_grow(&now->files, &now->cap_files, now->n_files + 1, sizeof *now->files, "files", e))
            return -1;
        now->files[now->n_files++] = (struct file_before){w->process.pid, f->id, f->position, moved};
        if (s->n_files < REPORT_FILES)
            s->files[s->n_files++] = (struct file_report){*f, before ? (double)more / seconds : -1, moved};
    }
    return 0;
}

static int add_progress(const struct monitor *m, struct stage_report *s, const struct watched *w, double seconds,
                        struct before *now, struct err *e)
{
    struct progress_page page;
    if (!watched_is_program(w) || !process_progress(&w->process, &page) || !*page.doing)
        return 0;
    struct progress_before before = {.pid = w->process.pid, .done = page.done};
    memcpy(before.doing, page.doing, sizeof before.doing);
    for (size_t i = 0; i < m->before.n_progress; i++) {
        const struct progress_before *b = &m->before.progress[i];
        if (b->pid == before.pid && strcmp(b->doing, page.doing) == 0 && b->done <= page.done)
            s->doing_rate = (double)(page.done - b->done) / seconds;
    }
    s->doing = page;
    if (array_grow(&now->progress, &now->cap_progress, now->n_progress + 1, sizeof *now->progress, "programs", e))
        return -1;
    now->progress[now->n_progress++] = before;
    return 0;
}

/* Sums up what the processes of a stage did. If a process's parts are counted, its time waiting for them is not. */
static void add_tallies(struct stage_report *r, const struct stage *s, unsigned samples)
{
    double n = 0, states[PROCESS_ENDED] = {0}, input = 0, output = 0, n_input = 0, n_output = 0;
    double waiting = 0, capacity = 0;
    bool parts = false;
    for (size_t i = 0; i < s->n; i++)
        parts |= s->at[i]->does != s->at[i] && s->at[i]->tally.n > 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct watched *w = s->at[i];
        for (int k = 0; k < PROCESS_ENDED; k++) {
            double times = k == PROCESS_CHILD && parts && w->does == w ? 0 : (double)w->tally.state[k];
            states[k] += times;
            n += times;
        }
        input += w->tally.input, n_input += w->tally.n_input;
        waiting += (double)w->tally.queue.waiting, capacity += (double)w->tally.queue.capacity;
        output += w->tally.output, n_output += w->tally.n_output;
    }
    r->n = samples ? n / samples : 0;
    n = n > 0 ? n : 1;
    r->run = states[PROCESS_RUNS] / n;
    r->input = states[PROCESS_READS] / n;
    r->output = states[PROCESS_WRITES] / n;
    r->disk = states[PROCESS_DISK] / n;
    r->stopped = states[PROCESS_STOPPED] / n;
    r->child = s->parent ? states[PROCESS_CHILD] / n : 0;
    r->sleep = (states[PROCESS_SLEEPS] + states[PROCESS_WAITS] + (s->parent ? 0 : states[PROCESS_CHILD])) / n;
    r->input_full = n_input > 0 ? input / n_input : -1;
    r->output_full = n_output > 0 ? output / n_output : -1;
    if (!r->has_queue && n_input > 0) { /* jobs, none of which is running now */
        r->has_queue = true;
        r->queue = (struct queue){(uint64_t)(waiting / n_input), (uint64_t)(capacity / n_input)};
    }
    double busy = r->n > 1 ? r->cpu / r->n : r->cpu; /* without time waiting for a core */
    r->own = (busy < r->run ? busy : r->run) + r->disk + r->sleep + r->stopped + (s->had_input ? 0 : r->input) +
             (s->had_output ? 0 : r->output);
    r->own *= r->n < 1 ? r->n : 1; /* if jobs come and go: its share of all samples, also of those without a job */
}

static int report_stage(const struct monitor *m, struct stage_report *r, const struct stage *s, double seconds,
                        struct before *now, struct err *e)
{
    *r = (struct stage_report){.has_input = s->has_input,
                               .had_input = s->had_input,
                               .had_output = s->had_output,
                               .has_queue = s->queue_known,
                               .queue = s->queue};
    snprintf(r->name, sizeof r->name, "%s", s->name);
    r->pids = calloc(s->n_alive + 1, sizeof *r->pids);
    if (!r->pids)
        return err_mem(e, "processes", s->n_alive * sizeof *r->pids);
    for (size_t i = 0; i < s->n; i++) {
        const struct watched *w = s->at[i];
        struct used u = used_since(&w->process.used, &w->before);
        r->cpu += u.cpu / seconds;
        r->in += u.in / seconds;
        r->out += u.out / seconds;
        if (w->process.ended)
            continue;
        r->pids[r->n_pids++] = w->process.pid;
        r->rss += w->process.rss;
        if (add_files(m, r, w, seconds, now, e) || add_progress(m, r, w, seconds, now, e))
            return -1;
    }
    return 0;
}

/* Finds a pipeline among those of the last report, by a process that is in both; adds a new one. NULL: out of memory.
 */
static struct known *know(struct monitor *m, const struct pipeline *p, struct err *e)
{
    struct known *k = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->stages[i].n;
    struct identity *of = calloc(n + 1, sizeof *of);
    if (!of) {
        err_mem(e, "processes", n * sizeof *of);
        return NULL;
    }
    n = 0;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t x = 0; x < p->stages[i].n; x++) {
            const struct process *process = &p->stages[i].at[x]->process;
            of[n++] = (struct identity){process->pid, process->began};
        }
    }
    for (size_t i = 0; i < m->n_known && !k; i++) {
        for (size_t x = 0; x < m->known[i].n * n && !k && !m->known[i].seen; x++) {
            const struct identity *a = &m->known[i].of[x / n], *b = &of[x % n];
            if (a->pid == b->pid && a->began == b->began)
                k = &m->known[i];
        }
    }
    if (!k) {
        if (array_grow(&m->known, &m->cap_known, m->n_known + 1, sizeof *m->known, "pipelines", e)) {
            free(of);
            return NULL;
        }
        k = &m->known[m->n_known++];
        *k = (struct known){.id = of[0].pid};
        uint64_t first = of[0].began;
        for (size_t i = 1; i < n; i++) {
            if (of[i].began < first)
                first = of[i].began, k->id = of[i].pid;
        }
    }
    free(k->of);
    k->of = of;
    k->n = n;
    k->seen = true;
    return k;
}

/* Whether a pipeline's line has all stages of another line, in the same order. */
static bool has_all(const char *line, const char *stages)
{
    static const char sep[] = " | ";
    for (; *stages; line += strspn(line, sep)) {
        size_t n = strcspn(line, sep);
        if (n == 0)
            return false;
        bool same = n == strcspn(stages, sep) && strncmp(line, stages, n) == 0;
        stages += same ? n + strspn(stages + n, sep) : 0;
        line += n;
    }
    return true;
}

static void name_pipeline(struct known *k, const struct pipeline *p)
{
    size_t n = 0;
    if (p->driver && *k->command)
        return;
    if (p->driver) {
        process_command(p->driver->process.pid, k->command, sizeof k->command);
        return;
    }
    char command[sizeof k->command] = "";
    for (size_t i = 0; i < p->n && n < sizeof command - 30; i++)
        n += (size_t)snprintf(command + n, sizeof command - n, "%s%s", i ? " | " : "", p->stages[i].name);
    if (!has_all(k->command, command)) /* otherwise it only lost stages that ended, or that new jobs will restore */
        memcpy(k->command, command, sizeof command);
}

static int add_report(struct report *r, struct pipeline_report p, const struct known *k, struct err *e)
{
    if (array_grow(&r->at, &r->cap, r->n + 1, sizeof *r->at, "pipelines", e))
        return -1;
    p.id = k->id;
    memcpy(p.command, k->command, sizeof p.command);
    r->at[r->n++] = p;
    return 0;
}

static int report_pipeline(struct monitor *m, struct report *r, const struct pipeline *p, double seconds,
                           struct before *now, struct err *e)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct known *k = know(m, p, e);
    struct pipeline_report one = {.stages = calloc(p->n + 1, sizeof *one.stages)};
    int rc = k && one.stages ? 0 : err_mem(e, "stages", p->n * sizeof *one.stages);
    if (rc == 0)
        name_pipeline(k, p);
    for (size_t i = 0; rc == 0 && i < p->n; i++) {
        for (size_t x = 0; x < p->stages[i].n; x++)
            p->stages[i].at[x]->pipeline = k->id;
    }
    for (; rc == 0 && one.n < p->n; one.n++)
        rc = report_stage(m, &one.stages[one.n], &p->stages[one.n], seconds, now, e);
    if (rc == 0) {
        unseen_share(one.stages, p, m->at, m->n, seconds, cores);
        for (size_t i = 0; i < p->n; i++)
            add_tallies(&one.stages[i], &p->stages[i], m->samples - m->samples_before);
        verdict_on(&one, cores);
        rc = add_report(r, one, k, e);
    }
    if (rc)
        pipeline_report_free(&one);
    return rc;
}

/* Reports the pipelines that have ended, and forgets them. */
static int report_ended(struct monitor *m, struct report *r, struct err *e)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < m->n_known; i++) {
        struct known *k = &m->known[i];
        if (k->seen) {
            k->seen = false;
            m->known[kept++] = *k;
            continue;
        }
        rc = rc || add_report(r, (struct pipeline_report){0}, k, e) ? -1 : 0;
        free(k->of);
    }
    m->n_known = kept;
    return rc;
}

/* Whether an ended job represents its stage until another one is seen, because its tool will start more. */
static bool stands_for_stage(const struct monitor *m, size_t i)
{
    const struct watched *w = m->at[i], *tool = w->tool ? watched_find(m->at, m->n, w->tool) : NULL;
    bool stands = tool && !tool->process.ended && watched_is_program(w);
    for (size_t k = 0; k < m->n && stands; k++) {
        const struct watched *o = m->at[k];
        stands = o == w || o->tool != w->tool || (o->process.ended && k < i) ||
                 strcmp(o->process.name, w->process.name) != 0;
    }
    return stands;
}

/* Starts a new interval, and forgets processes that have ended. */
static void begin_interval(struct monitor *m, struct before *now)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++) { /* some ended before they could be sampled */
        if (m->at[i]->process.ended && !m->at[i]->tool)
            watched_note_tool(m->at, m->n, m->at[i]);
    }
    for (size_t i = 0; i < m->n; i++)
        m->at[i]->stands = m->at[i]->process.ended && stands_for_stage(m, i);
    m->reported = clock_now();
    m->samples_before = m->samples;
    for (size_t i = 0; i < m->n; i++) {
        struct watched *w = m->at[i];
        if (w->process.ended && !w->stands) {
            watched_free(w);
            continue;
        }
        w->tally = (struct tally){0};
        w->before = w->process.used;
        w->reaped_before = w->process.reaped;
        w->unseen = (struct used){0};
        w->counted &= w->member && !w->process.ended;
        w->does = w->group = w;
        m->at[kept++] = w;
    }
    m->n = kept;
    free(m->before.files);
    free(m->before.progress);
    m->before = *now;
    m->channels.n = m->channels.n_ends = 0;
}

/* Rereads what members hold and have used. */
static int read_members(struct monitor *m, struct err *e)
{
    for (size_t i = 0; i < m->n; i++) {
        struct watched *w = m->at[i];
        if (!w->member)
            continue;
        if (!w->process.ended && process_look(&w->process, PROCESS_IO) && monitor_read_links(m, w, e))
            return -1;
    }
    return 0;
}

int monitor_report(struct monitor *m, struct report *r, struct err *e)
{
    struct timespec now_time;
    struct pipelines p = {0};
    struct before now = {0};
    double seconds = clock_now() - m->reported, cpu = monitor_cpu();
    clock_gettime(CLOCK_REALTIME, &now_time);
    *r = (struct report){.time = (double)now_time.tv_sec + 1e-9 * (double)now_time.tv_nsec};
    seconds = seconds > 0.01 ? seconds : 0.01;
    int rc = read_members(m, e) || channels_find(&m->channels, m->at, m->n, false, &m->sockets, e) ? -1 : 0;
    if (rc == 0) {
        channels_measure(&m->channels, &m->sockets);
        rc = pipelines_find(&p, m->at, m->n, &m->channels, e);
        unseen_find(m->at, m->n);
    }
    for (size_t i = 0; i < p.n && rc == 0; i++) {
        if (is_wanted(m, &p.at[i]))
            rc = report_pipeline(m, r, &p.at[i], seconds, &now, e);
    }
    rc = rc || report_ended(m, r, e) ? -1 : 0;
    pipelines_free(&p);
    begin_interval(m, &now);
    m->owed += monitor_cpu() - cpu;
    if (rc)
        report_free(r);
    return rc;
}
