/* process.c - see process.h. */
#include "driver/monitor/process.h"

#include "base/sys/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void process_free(struct process *p)
{
    free(p->links);
    *p = (struct process){0};
}

size_t process_read(const char *path, char *to, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, to, n - 1);
    size_t len = got > 0 ? (size_t)got : 0;
    if (fd >= 0)
        close(fd);
    to[len] = '\0';
    return len;
}

ptrdiff_t process_list(pid_t **pids, size_t *cap, struct err *e)
{
    DIR *dir = opendir("/proc");
    ptrdiff_t n = dir ? 0 : err_set(e, EX_OSERR, "/proc cannot be read: it tells what processes do");
    for (const struct dirent *d; n >= 0 && (d = readdir(dir));) {
        int pid = atoi(d->d_name);
        if (pid <= 0)
            continue;
        if (array_grow(pids, cap, (size_t)n + 1, sizeof **pids, "processes", e))
            n = -1;
        else
            (*pids)[n++] = pid;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* ---- What a process is doing ---- */

/* The kernel functions in which a process waits (/proc/PID/wchan), by a part of the name that all versions share:
 * pipe_read, anon_pipe_read. The first match counts. */
static const struct {
    const char *part;
    enum process_state state;
} places[] = {
    {"pipe_read", PROCESS_READS},
    {"pipe_wait_readable", PROCESS_READS}, /* splice(2) */
    {"wait_for_partner", PROCESS_READS},   /* opening a FIFO */
    {"pipe_write", PROCESS_WRITES},
    {"pipe_wait_writable", PROCESS_WRITES},
    {"wait_for_more_packets", PROCESS_READS}, /* sockets */
    {"unix_stream_read", PROCESS_READS},
    {"unix_stream_data_wait", PROCESS_READS},
    {"unix_dgram_recv", PROCESS_READS},
    {"sk_wait_data", PROCESS_READS},
    {"accept", PROCESS_READS},
    {"sock_alloc_send", PROCESS_WRITES},
    {"sock_wait_for_wmem", PROCESS_WRITES},
    {"sk_stream_wait_memory", PROCESS_WRITES},
    {"unix_wait_for_peer", PROCESS_WRITES},
    {"tty_read", PROCESS_READS},
    {"nanosleep", PROCESS_SLEEPS},
    {"do_wait", PROCESS_CHILD},
    {"wait4", PROCESS_CHILD},
    {"sigsuspend", PROCESS_CHILD}, /* shells */
    {"sigtimedwait", PROCESS_CHILD},
    {"pause", PROCESS_CHILD},
};

static enum process_state at_place(const char *directory)
{
    char path[96], place[64];
    snprintf(path, sizeof path, "%s/wchan", directory);
    if (!process_read(path, place, sizeof place))
        return PROCESS_WAITS;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strstr(place, places[i].part))
            return places[i].state;
    }
    return PROCESS_WAITS;
}

static enum process_state state_of(char letter, const char *directory)
{
    enum process_state at;
    switch (letter) {
    case 'R':
        return PROCESS_RUNS;
    case 'T':
    case 't':
        return PROCESS_STOPPED;
    case 'Z':
    case 'X':
        return PROCESS_ENDED;
    case 'D': /* also while another process holds the pipe's lock */
        at = at_place(directory);
        return at == PROCESS_READS || at == PROCESS_WRITES ? at : PROCESS_DISK;
    default:
        return at_place(directory);
    }
}

/* The fields after the name in a line of /proc/PID/stat; the name may have blanks and parentheses. NULL: not such a
 * line. */
static char *after_name(char *line, char *name, size_t n)
{
    char *begin = strchr(line, '('), *end = strrchr(line, ')');
    if (!begin || !end || end < begin || !end[1])
        return NULL;
    if (name)
        snprintf(name, n, "%.*s", (int)(end - begin - 1), begin + 1);
    for (; name && *name; name++)
        *name = (unsigned char)*name < ' ' ? '?' : *name; /* it may be printed on a terminal */
    return end + 2;
}

/* The state of the thread that tells most about the process: one that runs, otherwise one that waits for the pipeline.
 */
static enum process_state state_of_threads(pid_t pid, enum process_state first)
{
    enum { THREADS_MAX = 64 };
    static const int weight[] = {
        [PROCESS_RUNS] = 8,  [PROCESS_DISK] = 7,    [PROCESS_WRITES] = 6, [PROCESS_READS] = 5, [PROCESS_SLEEPS] = 4,
        [PROCESS_CHILD] = 3, [PROCESS_STOPPED] = 2, [PROCESS_WAITS] = 1,  [PROCESS_ENDED] = 0};
    char path[96], line[512];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    int n = 0;
    for (const struct dirent *d; dir && n < THREADS_MAX && first != PROCESS_RUNS && (d = readdir(dir));) {
        if (d->d_name[0] == '.' || atoi(d->d_name) == pid)
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, d->d_name);
        char *fields = process_read(path, line, sizeof line) ? after_name(line, NULL, 0) : NULL;
        if (!fields)
            continue;
        *strrchr(path, '/') = '\0';
        enum process_state s = state_of(*fields, path);
        first = weight[s] > weight[first] ? s : first;
        n++;
    }
    if (dir)
        closedir(dir);
    return first;
}

static bool read_io(const char *path, struct used *u)
{
    char text[256];
    unsigned long long in, out;
    if (!process_read(path, text, sizeof text) || sscanf(text, "rchar: %llu wchar: %llu", &in, &out) != 2)
        return false;
    u->in = (double)in;
    u->out = (double)out;
    return true;
}

/* The system's counts for a process include its reaped children; a thread's include only the thread. Our programs start
 * no processes, so all I/O is theirs; other programs with several threads are treated alike. */
static void look_at_io(struct process *p)
{
    char path[64];
    struct used all, own;
    snprintf(path, sizeof path, "/proc/%d/io", (int)p->pid);
    if (!read_io(path, &all))
        return;
    snprintf(path, sizeof path, "/proc/%d/task/%d/io", (int)p->pid, (int)p->pid);
    if (p->threads > 1 || strncmp(p->name, "bpe-", 4) == 0 || !read_io(path, &own))
        own = all;
    p->used.in = own.in;
    p->used.out = own.out;
    p->reaped.in = all.in > own.in ? all.in - own.in : 0;
    p->reaped.out = all.out > own.out ? all.out - own.out : 0;
}

bool process_look(struct process *p, unsigned what)
{
    char directory[32], path[64], line[1024], letter;
    int parent;
    unsigned long user, system;
    long child_user, child_system;
    long threads, pages;
    unsigned long long began;
    static long ticks, page;
    if (!ticks)
        ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
    snprintf(directory, sizeof directory, "/proc/%d", (int)p->pid);
    snprintf(path, sizeof path, "%s/stat", directory);
    char *fields =
        p->ended || !process_read(path, line, sizeof line) ? NULL : after_name(line, p->name, sizeof p->name);
    /* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice
     * num_threads itrealvalue starttime vsize rss */
    if (!fields ||
        sscanf(fields, "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %ld %*d %llu %*u %ld",
               &letter, &parent, &user, &system, &child_user, &child_system, &threads, &began, &pages) != 9 ||
        (p->began && p->began != began)) {
        p->ended = true;
        return false;
    }
    p->began = began;
    if (letter == 'Z' || letter == 'X') {
        p->ended = true;
        return false;
    }
    p->parent = parent;
    p->used.cpu = (double)(user + system) / (double)ticks;
    p->reaped.cpu = (double)(child_user + child_system) / (double)ticks;
    p->rss = (uint64_t)pages * (uint64_t)page;
    p->threads = (unsigned)threads;
    if (what & PROCESS_STATE)
        p->state = state_of(letter, directory);
    if ((what & PROCESS_STATE) && threads > 1)
        p->state = state_of_threads(p->pid, p->state);
    if (what & PROCESS_IO)
        look_at_io(p);
    return true;
}

/* Reads its command line as one string, or the command line of the script that has become this program. False: it
 * cannot be read. */
static bool read_words(pid_t pid, char *to, size_t n)
{
    char given[64], path[64], *one = NULL;
    size_t cap = 0, len = (size_t)snprintf(given, sizeof given, PROCESS_COMMAND "=%d ", (int)pid);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !found && getdelim(&one, &cap, '\0', f) > 0) {
        found = strncmp(one, given, len) == 0;
        if (found)
            snprintf(to, n, "%s", one + len);
    }
    free(one);
    if (f)
        fclose(f);
    if (found)
        return true;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    size_t got = process_read(path, to, n);
    for (size_t i = 0; i < got; i++)
        to[i] = to[i] ? to[i] : ' ';
    return got > 0;
}

void process_command(pid_t pid, char *to, size_t n)
{
    char text[512];
    *to = '\0';
    if (!read_words(pid, text, sizeof text))
        return;
    for (char *s = text; *s; s++)
        *s = (unsigned char)*s < ' ' ? ' ' : *s; /* a terminal would act on them */
    char *end = strchr(text, ' '), *begin = text;
    for (char *s = text; end && s < end; s++)
        begin = *s == '/' ? s + 1 : begin;
    snprintf(to, n, "%.*s", (int)n - 1, begin);
}
