/* monitor.c - see monitor.h: finds processes, and samples what they do. */
#include "driver/monitor/monitor_internal.h"

#include "base/sys/buf.h"
#include "base/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds between samples; and the shares of one core's time for samples and reports, and for reading all
 * processes again. */
enum { SAMPLE_MS_MIN = 50, SAMPLE_MS_MAX = 1000 };
#define SAMPLE_SHARE (1.0 / 200)
#define SCAN_SHARE (1.0 / 500)
#define AT_ONCE 0.01 /* seconds that the first samples may take in addition */

/* The links of a process are read this many times before it is skipped, because a young process may still exec another
 * program. */
enum { YOUNG = 3 };

struct monitor *monitor_new(pid_t pid, bool apart, struct err *e)
{
    struct monitor *m = calloc(1, sizeof *m);
    if (!m) {
        err_mem(e, "a monitor", sizeof *m);
        return NULL;
    }
    m->pid = pid;
    m->apart = apart;
    m->sockets = SOCKETS_NONE;
    m->reported = clock_now();
    m->owed = -AT_ONCE;
    return m;
}

void watched_free(struct watched *w)
{
    process_free(&w->process);
    free(w);
}

void monitor_free(struct monitor *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        watched_free(m->at[i]);
    for (size_t i = 0; i < m->n_known; i++)
        free(m->known[i].of);
    free(m->at);
    free(m->pids);
    option_words_free(&m->fifos);
    free(m->known);
    free(m->before.files);
    free(m->before.progress);
    sockets_free(&m->sockets);
    channels_free(&m->channels);
    free(m);
}

double monitor_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Which processes there are ---- */

static int by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

static int read_pids(struct monitor *m, struct err *e)
{
    ptrdiff_t n = process_list(&m->pids, &m->cap_pids, e);
    m->n_pids = n > 0 ? (size_t)n : 0;
    if (m->n_pids)
        qsort(m->pids, m->n_pids, sizeof *m->pids, by_number);
    return n < 0 ? -1 : 0;
}

static struct watched *new_watched(pid_t pid, bool apart, struct err *e)
{
    char path[32];
    struct stat st;
    struct watched *w = calloc(1, sizeof *w);
    if (!w) {
        err_mem(e, "a process", sizeof *w);
        return NULL;
    }
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    w->process.pid = pid;
    w->apart = apart;
    w->own = stat(path, &st) == 0 && st.st_uid == geteuid();
    w->group = w->does = w;
    return w;
}

/* Merges the current processes into the known ones: adds new processes; keeps members that have ended until the next
 * report. */
static int merge(struct monitor *m, struct err *e)
{
    size_t cap = m->n + m->n_pids, n = 0, i = 0, k = 0;
    struct watched **all = malloc((cap + 1) * sizeof *all);
    int rc = 0;
    if (!all)
        return err_mem(e, "processes", cap * sizeof *all);
    while (i < m->n || k < m->n_pids) {
        pid_t pid = k < m->n_pids ? m->pids[k] : 0;
        if (i < m->n && (k == m->n_pids || m->at[i]->process.pid <= pid)) {
            struct watched *w = m->at[i++];
            bool there = k < m->n_pids && w->process.pid == pid;
            k += there && !w->stands; /* if w->stands, it has ended, and a new process has that pid */
            w->process.ended |= !there;
            if (w->process.ended && (!w->member || (w->stands && there)))
                watched_free(w);
            else
                all[n++] = w;
        } else if (rc == 0 && (all[n] = new_watched(pid, m->apart && pid == getpid(), e))) {
            n++;
            k++;
        } else {
            rc = -1;
            k = m->n_pids;
        }
    }
    free(m->at);
    m->at = all;
    m->n = n;
    m->cap = cap;
    return rc;
}

/* Seconds since a process began. */
static double age_of(const struct process *p)
{
    struct timespec boot;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (double)boot.tv_sec + 1e-9 * (double)boot.tv_nsec - (double)p->began / (double)sysconf(_SC_CLK_TCK);
}

int monitor_read_links(struct monitor *m, struct watched *w, struct err *e)
{
    bool ask = w->member || watched_is_program(w);
    w->links_read += age_of(&w->process) > 1 ? YOUNG : 1;
    return process_links(&w->process, &m->fifos, ask, e);
}

/* Whether a process not yet known as a member may be one: it holds a pipe that a member holds, or is one of our
 * programs. */
static bool may_be_member(const struct monitor *m, const struct watched *w)
{
    if (watched_is_program(w))
        return w->own;
    for (size_t i = 0; i < m->channels.n_ends; i++) {
        const struct channel_end *end = &m->channels.ends[i];
        for (size_t k = 0; k < w->process.n_links; k++) {
            if (w->process.links[k].kind == end->kind && w->process.links[k].id == end->id)
                return true;
        }
    }
    return false;
}

static bool has_socket(const struct process *p)
{
    for (size_t i = 0; i < p->n_links; i++) {
        if (p->links[i].kind == LINK_SOCKET)
            return true;
    }
    return false;
}

/* Looks again at a process that is not a member: its pid may belong to another process by now. */
static void look_again(struct watched *w)
{
    uint64_t began = w->process.began;
    if (process_look(&w->process, 0) || !began)
        return;
    const struct watched fresh = {.process.pid = w->process.pid, .apart = w->apart, .own = w->own};
    process_free(&w->process);
    *w = fresh;
    w->group = w->does = w;
    process_look(&w->process, 0);
}

/* The most recently assigned pid: while it is unchanged, there are no new processes. 0: unknown. */
static uint64_t last_pid(void)
{
    char text[128];
    unsigned long long pid;
    bool read = process_read("/proc/loadavg", text, sizeof text) > 0;
    return read && sscanf(text, "%*s %*s %*s %*s %llu", &pid) == 1 ? pid : 0;
}

/* Reads what processes hold: of all from time to time, of new ones often. *added: there is a new member. */
static int scan(struct monitor *m, bool all, bool *added, struct err *e)
{
    double begin = monitor_cpu();
    uint64_t last = last_pid();
    if (!all && !m->young && last && last == m->last_pid)
        return 0;
    m->last_pid = last;
    m->young = false;
    if (read_pids(m, e) || merge(m, e))
        return -1;
    bool sockets = false;
    for (int round = 0; round < 2; round++) { /* our programs first, because they name the FIFOs */
        for (size_t i = 0; i < m->n; i++) {
            struct watched *w = m->at[i];
            bool young = w->links_read < YOUNG;
            if (round == 0 && (young || all) && !w->member && !w->process.ended)
                look_again(w);
            if (w->process.ended || (watched_is_program(w) || w->member) != (round == 0) || (!young && !all))
                continue;
            if (monitor_read_links(m, w, e))
                return -1;
            m->young |= w->links_read < YOUNG;
            if (m->grouped && !w->member)
                *added |= w->member = may_be_member(m, w);
            sockets |= watched_is_program(w) && has_socket(&w->process);
        }
    }
    if (sockets && sockets_list(&m->sockets, e))
        return -1;
    if (all) {
        m->scanned = clock_now();
        m->scan_took = monitor_cpu() - begin;
    }
    return 0;
}

/* ---- Samples ---- */

/* How full the channels of a process are: its emptiest input, its fullest output; -1: none known. Adds the data waiting
 * in its inputs to *queue. */
static void fill_of(const struct channels *c, const struct watched *w, double *input, double *output,
                    struct queue *queue)
{
    *input = *output = -1;
    for (size_t i = 0; i < c->n; i++) {
        const struct channel *ch = &c->at[i];
        for (size_t k = 0; k < ch->n && ch->known; k++) {
            double full = (double)ch->queue.waiting / (double)ch->queue.capacity;
            if (ch->ends[k].w != w)
                continue;
            if (ch->ends[k].reads) {
                queue->waiting += ch->queue.waiting;
                queue->capacity += ch->queue.capacity;
            }
            if (ch->ends[k].reads && (*input < 0 || full < *input))
                *input = full;
            if (!ch->ends[k].reads && full > *output)
                *output = full;
        }
    }
}

#define FULL 0.5 /* above this, a writer waits for room */

/* Guesses what a process in poll(2) or similar waits for: room, if its output is full; otherwise input. If input is
 * available, it waits for something internal. Our programs never do that: they wait for the next reader of their
 * output. */
static enum process_state guess(const struct watched *w, double input, double output)
{
    if (w->parent && (watched_spreads(w) || watched_is_driver(w)))
        return PROCESS_CHILD;
    if (output > FULL || (output >= 0 && input > 0 && watched_is_program(w)))
        return PROCESS_WRITES;
    return input > 0 ? PROCESS_SLEEPS : PROCESS_READS;
}

static void tally(struct watched *w, const struct channels *c)
{
    struct tally *t = &w->tally;
    double input, output;
    enum process_state s = w->process.state;
    fill_of(c, w, &input, &output, &t->queue);
    if (input >= 0)
        t->input += input, t->n_input++;
    if (output >= 0)
        t->output += output, t->n_output++;
    if (s == PROCESS_WAITS)
        s = guess(w, input, output);
    t->state[s]++;
    t->n++;
}

const struct file_before *monitor_file_before(const struct monitor *m, pid_t pid, const struct process_file *f)
{
    for (size_t i = 0; i < m->before.n_files; i++) {
        if (m->before.files[i].pid == pid && m->before.files[i].id == f->id)
            return &m->before.files[i];
    }
    return NULL;
}

/* Records a process's positions in its files, for comparison in the next report. */
static int note_files(struct monitor *m, const struct watched *w, struct err *e)
{
    struct process_file files[REPORT_FILES];
    size_t n = process_files(&w->process, files, REPORT_FILES);
    for (size_t i = 0; i < n; i++) {
        if (monitor_file_before(m, w->process.pid, &files[i]))
            continue;
        if (array_grow(&m->before.files, &m->before.cap_files, m->before.n_files + 1, sizeof *m->before.files, "files",
                       e))
            return -1;
        m->before.files[m->before.n_files++] =
            (struct file_before){w->process.pid, files[i].id, files[i].position, false};
    }
    return 0;
}

/* Starts counting what a process uses: from its own start, if that is in this interval. */
static void begin_count(const struct monitor *m, struct watched *w)
{
    w->counted = true;
    if (age_of(&w->process) < clock_now() - m->reported)
        return;
    w->before = w->process.used;
    w->reaped_before = w->process.reaped;
}

/* Finds further members through pipes of new members, repeatedly. */
static int add_members(struct monitor *m, struct err *e)
{
    for (bool more = true; more;) {
        more = false;
        if (channels_find(&m->channels, m->at, m->n, true, &m->sockets, e))
            return -1;
        for (size_t i = 0; i < m->n; i++) {
            struct watched *w = m->at[i];
            if (!w->member && !w->apart && w->process.n_links && may_be_member(m, w))
                w->member = more = true;
        }
    }
    return 0;
}

int monitor_sample(struct monitor *m, struct err *e)
{
    double begin = clock_now(), cpu = monitor_cpu();
    pid_t own = getpid();
    bool all = !m->grouped || begin - m->scanned > m->scan_took / SCAN_SHARE, added = false;
    if (scan(m, all, &added, e) || (added && add_members(m, e)) ||
        channels_find(&m->channels, m->at, m->n, m->grouped, &m->sockets, e))
        return -1;
    if (!m->grouped) { /* determine the members */
        struct pipelines p;
        if (pipelines_find(&p, m->at, m->n, &m->channels, e))
            return -1;
        pipelines_free(&p);
        m->grouped = true;
        m->reported = clock_now();
        if (channels_find(&m->channels, m->at, m->n, true, &m->sockets, e))
            return -1;
    }
    channels_measure(&m->channels, &m->sockets);
    for (size_t i = 0; i < m->n; i++) {
        struct watched *w = m->at[i];
        if (!w->member || w->process.ended)
            continue;
        char name[sizeof w->process.name];
        memcpy(name, w->process.name, sizeof name);
        bool all_of_it = m->samples % 4 == 0 || w->tally.n < 2 || w->tool; /* a job may end soon */
        if (!process_look(&w->process, PROCESS_STATE | (all_of_it ? PROCESS_IO : 0)))
            continue;
        if (strcmp(name, w->process.name) != 0) { /* it has become another program */
            w->links_read = 0;
            m->young = true;
        }
        if (w->process.pid == own) /* it runs only to take the sample */
            w->process.state = PROCESS_CHILD;
        if (!w->counted) {
            begin_count(m, w);
            if (note_files(m, w, e))
                return -1;
        }
        if (!w->tool && w->tally.n < YOUNG)
            watched_note_tool(m->at, m->n, w);
        tally(w, &m->channels);
    }
    m->samples++;
    double paid = (begin - m->sampled) * SAMPLE_SHARE;
    if (m->owed > 0)
        m->owed = m->owed > paid ? m->owed - paid : 0;
    m->owed += monitor_cpu() - cpu - (all ? m->scan_took : 0); /* scans have a separate share */
    m->sampled = begin;
    int ms = (int)(m->owed / SAMPLE_SHARE * 1e3);
    return ms < SAMPLE_MS_MIN ? SAMPLE_MS_MIN : ms > SAMPLE_MS_MAX ? SAMPLE_MS_MAX : ms;
}
