/* job.c - see job.h. */
#include "driver/job.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/clock.h"
#include "base/sys/num.h"
#include "driver/installed.h"
#include "driver/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HELD_MS = 1000 };     /* how long a last line is held until its process ends */
enum { PATIENCE_MS = 5000 }; /* how long a process may take to end after SIGTERM */

/* ---- Signals ---- */

/* The running processes, for a signal handler; 0: none in this slot. */
static volatile pid_t *running;
static volatile size_t n_running;
static size_t running_cap;
static volatile sig_atomic_t shown; /* progress is on the terminal */
static volatile sig_atomic_t above; /* number of its lines above the cursor */
static volatile sig_atomic_t asked; /* by SIGUSR1 */
static void (*volatile at_signal)(void);

/* Only interrupts ppoll(2), or makes write(2) return EPIPE. */
static void no_more(int sig)
{
    (void)sig;
}

static void ask(int sig)
{
    (void)sig;
    asked = 1;
}

bool job_was_asked(void)
{
    sigset_t question;
    const struct timespec at_once = {0};
    sigemptyset(&question);
    sigaddset(&question, SIGUSR1);
    bool was = asked || sigtimedwait(&question, NULL, &at_once) == SIGUSR1; /* only job_wait unblocks it */
    asked = 0;
    return was;
}

void job_ignore_sigpipe(void)
{
    struct sigaction broken = {.sa_handler = no_more};
    sigemptyset(&broken.sa_mask);
    sigaction(SIGPIPE, &broken, NULL);
}

static void clear_line(void)
{
    static const char clear[] = "\r\033[K", up[] = "\033[A\033[K";
    shown = write(2, clear, sizeof clear - 1) < 0;
    for (; above > 0; above--)
        shown |= write(2, up, sizeof up - 1) < 0;
}

void job_show(const char *line)
{
    if (line || shown)
        clear_line();
    shown = line != NULL; /* set before the line is written, because a signal may arrive in between */
    if (line && write(2, line, strlen(line)) < 0)
        shown = false;
    for (; line && shown && (line = strchr(line, '\n')); line++)
        above++;
}

/* Ends all processes and waits for them. Runs in a signal handler, so it uses only system calls. */
static void end_running(void)
{
    bool left = true;
    if (shown)
        clear_line();
    for (int ms = 0; left; ms += 10) {
        left = false;
        for (size_t i = 0; i < n_running; i++) {
            pid_t pid = running[i];
            if (pid <= 0)
                continue;
            if (ms == 0) {
                kill(pid, SIGTERM);
                kill(pid, SIGCONT);
            } else if (ms == PATIENCE_MS) {
                kill(pid, SIGKILL);
            }
            if (waitpid(pid, NULL, WNOHANG) == 0)
                left = true;
            else
                running[i] = 0;
        }
        if (left)
            poll(NULL, 0, 10);
    }
    if (at_signal)
        at_signal();
}

void job_at_signal(void (*then)(void))
{
    at_signal = then;
}

/* Makes this process end with the one that started it, if that one asked for it (see job.h). */
static int follow_parent(struct err *e)
{
    const char *parent = getenv(JOB_PARENT);
    if (!parent)
        return 0;
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
        return err_sys(e, EX_OSERR, errno, "cannot follow process %.20s", parent);
    if (num_whole(parent, INT_MAX) != (uint64_t)getppid())
        return err_set(e, EX_TEMPFAIL, JOB_PARENT "=%.20s: that process has ended, or did not start this one", parent);
    unsetenv(JOB_PARENT); /* the processes started here have another parent */
    return 0;
}

int job_init(struct job *j, const char *command, struct err *e)
{
    sigset_t child;
    struct sigaction ended = {.sa_handler = no_more}, asks = {.sa_handler = ask};
    *j = (struct job){.command = command};
    sigemptyset(&ended.sa_mask);
    sigemptyset(&asks.sa_mask);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaddset(&child, SIGUSR1);
    if (sigaction(SIGCHLD, &ended, NULL) < 0 || sigaction(SIGUSR1, &asks, NULL) < 0 ||
        sigprocmask(SIG_BLOCK, &child, NULL) < 0)
        return err_sys(e, EX_OSERR, errno, "cannot watch processes");
    outfile_at_signal(end_running);
    return follow_parent(e);
}

/* ---- Starting ---- */

void job_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void job_close_both(int ends[2])
{
    job_close(&ends[0]);
    job_close(&ends[1]);
}

int job_pipe(int ends[2], struct err *e)
{
    enum { WIDE = 1 << 20 };
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, EX_OSERR, errno, "cannot make a pipe");
    fcntl(ends[1], F_SETPIPE_SZ, WIDE); /* if permitted */
    return 0;
}

int job_file(const void *p, size_t n, struct err *e)
{
    int fd = memfd_create("bpe", MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(e, EX_OSERR, errno, "cannot make a file in memory");
    if (fd_write(fd, p, n, "a file in memory", e) || lseek(fd, 0, SEEK_SET) < 0)
        job_close(&fd);
    return fd;
}

int job_socket(int ends[2], struct err *e)
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0
               ? err_sys(e, EX_OSERR, errno, "cannot make a socket")
               : 0;
}

/* The program's file, from PATH. NULL: not found. Owned by the caller. */
static char *find(const char *program)
{
    const char *path = getenv("PATH");
    size_t n = strlen(program), max = (path ? strlen(path) : 0) + n + 3;
    char *file = malloc(max);
    struct stat st;
    if (!file)
        return NULL;
    if (strchr(program, '/')) {
        memcpy(file, program, n + 1);
        return file;
    }
    if (installed.programs && strncmp(program, "bpe-", 4) == 0) { /* PATH cannot name a directory with a colon */
        struct err ignored;
        char *beside = fd_path(installed.programs, program, &ignored);
        if (beside && access(beside, X_OK) == 0) {
            free(file);
            return beside;
        }
        free(beside);
    }
    for (const char *p = path ? path : ""; *p;) {
        size_t len = strcspn(p, ":");
        snprintf(file, max, "%.*s/%s", len ? (int)len : 1, len ? p : ".", program);
        if (access(file, X_OK) == 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return file;
        p += len + (p[len] == ':');
    }
    free(file);
    return NULL;
}

static int not_there(const char *program, struct err *e)
{
    enum { NO_PROGRAM = 127 };
    return err_set(e, NO_PROGRAM, "%s is not installed, or not on PATH", program);
}

int job_need(const char *program, struct err *e)
{
    char *file = find(program);
    if (!file)
        return not_there(program, e);
    free(file);
    return 0;
}

/* Makes `from` (-1: /dev/null) the descriptor `to`. `from` must not be 0, 1, 2 or 3, unless it equals `to`. */
static void give(int from, int to)
{
    int fd = from >= 0 ? from : open("/dev/null", (to == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    if (fd == to)
        fcntl(fd, F_SETFD, 0);
    else if (dup2(fd, to) < 0)
        _exit(EX_OSERR);
}

/* In the new process: becomes the program. */
static void become(const struct job_start *s, const char *file, int said, pid_t parent, const char *command)
{
    sigset_t none;
    int more[JOB_MORE];
    sigemptyset(&none);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
        _exit(128 + SIGTERM);
    outfile_signals_default();
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL); /* even if the caller ignores it */
    signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < s->n_more; i++) /* move them up, so that none is overwritten */
        more[i] = fcntl(s->more[i], F_DUPFD_CLOEXEC, JOB_FIRST_MORE + JOB_MORE);
    give(s->in, 0);
    give(s->out, 1);
    if (said >= 0)
        give(said, 2);
    if (s->also > 2)
        give(s->also, 3);
    for (int i = 0; i < s->n_more; i++) {
        if (dup2(more[i], JOB_FIRST_MORE + i) < 0) {
            dprintf(2, "%s: %s: too many open files; raise the limit (ulimit -n)\n", command, s->argv[0]);
            _exit(EX_OSERR);
        }
    }
    if (s->dir && chdir(s->dir) < 0) {
        dprintf(2, "%s: %s: cannot open: %s\n", command, s->dir, strerror(errno));
        _exit(EX_NOINPUT);
    }
    if (s->foreign)
        keeper_start(s->apart);
    execv(file, (char *const *)(uintptr_t)s->argv);
    dprintf(2, "%s: %s: cannot run: %s\n", command, s->argv[0], strerror(errno));
    _exit(127);
}

/* Makes room for a process, and for its pid in the signal handler's list, before it is started. */
static struct job_process *add(struct job *j, struct err *e)
{
    struct job_process *p = calloc(1, sizeof *p);
    size_t cap = running_cap;
    if (!p)
        err_mem(e, "a process", sizeof *p);
    if (!p || array_grow(&j->at, &j->cap, j->n + 1, sizeof *j->at, "processes", e))
        goto fail;
    if (j->n + 1 > cap) {
        pid_t *grown = calloc(2 * cap + 16, sizeof *grown);
        if (!grown) {
            err_mem(e, "processes", (2 * cap + 16) * sizeof *grown);
            goto fail;
        }
        for (size_t i = 0; i < n_running; i++)
            grown[i] = running[i];
        volatile pid_t *old = running;
        running = grown; /* safe: a handler that runs now does not return, whichever array it reads */
        running_cap = 2 * cap + 16;
        free((void *)(uintptr_t)old);
    }
    running[j->n] = 0;
    n_running = j->n + 1;
    j->at[j->n++] = p;
    return p;
fail:
    free(p);
    return NULL;
}

struct job_process *job_start(struct job *j, const struct job_start *s, struct err *e)
{
    int said[2] = {-1, -1};
    char *file = find(s->argv[0]);
    struct job_process *p = NULL;
    if (!file) {
        not_there(s->argv[0], e);
        return NULL;
    }
    bool heard = !s->foreign || s->heard;
    if (heard && pipe2(said, O_CLOEXEC | O_NONBLOCK) < 0) {
        err_sys(e, EX_OSERR, errno, "cannot make a pipe; use fewer jobs (-j)");
        goto end;
    }
    if (heard)
        fcntl(said[1], F_SETFL, 0);
    p = add(j, e);
    if (!p)
        goto end;
    *p = (struct job_process){.name = s->name ? s->name : s->argv[0],
                              .stage = s->stage,
                              .group = s->group,
                              .foreign = s->foreign,
                              .writes = s->writes,
                              .remedy = s->remedy,
                              .said = -1,
                              .ended = true};
    pid_t self = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until the pid is recorded */
    p->pid = fork();
    if (p->pid == 0)
        become(s, file, said[1], self, j->command);
    if (p->pid > 0)
        running[j->n - 1] = p->pid;
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (p->pid < 0) {
        err_sys(e, EX_OSERR, error, "cannot start %s; use fewer jobs (-j)", s->argv[0]);
        p->dismissed = true;
        p = NULL;
        goto end;
    }
    p->ended = false;
    p->said = said[0];
    said[0] = -1;
end:
    job_close_both(said);
    free(file);
    return p;
}

/* ---- Their messages ---- */

void job_print(const char *from, const char *line)
{
    if (!from && !*line)
        return;
    job_show(NULL);
    dprintf(2, "%s%s%s\n", from ? from : "", from ? ": " : "", line);
}

/* Passes on the first n bytes: lines. */
static void pass_on(struct job_process *p, size_t n)
{
    struct err ignored;
    if (n == 0)
        return;
    job_show(NULL);
    fd_write(2, p->text.p, n, "standard error", &ignored);
    memmove(p->text.p, p->text.p + n, p->text.len - n);
    p->text.len -= n;
}

/* Passes on all lines but the last. */
static void pass_all_but_last(struct job *j, struct job_process *p)
{
    size_t end = p->text.len;
    if (j->holds || end == 0)
        return;
    bool whole = p->text.p[end - 1] == '\n';
    const unsigned char *last = memrchr(p->text.p, '\n', end - whole);
    if (last)
        pass_on(p, (size_t)(last + 1 - p->text.p));
}

static void hear(struct job *j, struct job_process *p)
{
    struct err ignored;
    char text[4096];
    ssize_t got;
    while (p->said >= 0 && (got = read(p->said, text, sizeof text)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        buf_put(&p->text, text, (size_t)got, &ignored); /* if memory runs out, this text is lost */
        p->heard_at = clock_now();
        pass_all_but_last(j, p);
    }
    job_close(&p->said);
}

static void say(struct job_process *p)
{
    struct err ignored;
    if (p->text.len && p->text.p[p->text.len - 1] != '\n')
        buf_put_byte(&p->text, '\n', &ignored);
    pass_on(p, p->text.len);
}

void job_say_all(struct job *j)
{
    for (size_t i = 0; i < j->n; i++)
        say(j->at[i]);
}

void job_say_before(struct job *j, int group, int stage)
{
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->group == group && j->at[i]->stage < stage)
            say(j->at[i]);
    }
}

/* ---- Waiting ---- */

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Notices whether a process has ended. */
static bool reap(struct job *j, size_t i)
{
    int status;
    struct rusage used;
    struct job_process *p = j->at[i];
    siginfo_t info = {.si_pid = 0};
    if (p->ended)
        return false;
    if (j->at_end && waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == p->pid)
        j->at_end(j->ctx, p);
    if (wait4(p->pid, &status, WNOHANG, &used) != p->pid)
        return false;
    running[i] = 0;
    p->cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
    p->memory = (uint64_t)used.ru_maxrss * 1024;
    p->ended = true;
    p->ended_at = ++j->events;
    p->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    hear(j, p); /* only what is there now; another process may still hold the other end */
    job_close(&p->said);
    return true;
}

size_t job_running(const struct job *j)
{
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        n += !j->at[i]->ended;
    return n;
}

/* Passes on a last line after which nothing has come for HELD_MS. */
static void pass_old(struct job *j)
{
    double t = clock_now();
    for (size_t i = 0; i < j->n && !j->holds; i++) {
        struct job_process *p = j->at[i];
        if (!p->ended && p->text.len && p->text.p[p->text.len - 1] == '\n' && t - p->heard_at > 1e-3 * HELD_MS) {
            pass_on(p, p->text.len);
            p->spoke = true;
        }
    }
}

/* Whether a last line is held that pass_old will pass on later. */
static bool has_held(const struct job *j)
{
    for (size_t i = 0; i < j->n && !j->holds; i++) {
        if (!j->at[i]->ended && j->at[i]->text.len)
            return true;
    }
    return false;
}

int job_wait(struct job *j, struct pollfd *fds, size_t n, int milliseconds)
{
    enum { SOME = 64 };
    struct pollfd few[SOME], *all = few;
    sigset_t none;
    sigprocmask(SIG_SETMASK, NULL, &none);
    sigdelset(&none, SIGCHLD);
    sigdelset(&none, SIGUSR1);
    int tick = j->tick ? j->tick(j->tick_ctx) : -1;
    if (tick >= 0 && (milliseconds < 0 || milliseconds > tick))
        milliseconds = tick; /* returns early; the caller will call again */
    if (n + j->n > SOME && !(all = malloc((n + j->n) * sizeof *all)))
        all = few, n = n < SOME ? n : SOME; /* messages of processes that do not fit are read when these end */
    size_t n_all = 0, max = all == few ? SOME : n + j->n;
    for (; n_all < n; n_all++)
        all[n_all] = fds[n_all];
    for (size_t i = 0; i < j->n && n_all < max; i++) {
        if (j->at[i]->said >= 0)
            all[n_all++] = (struct pollfd){.fd = j->at[i]->said, .events = POLLIN};
    }
    bool some_ended = false;
    for (size_t i = 0; i < j->n; i++)
        some_ended |= reap(j, i);
    if (has_held(j) && (milliseconds < 0 || milliseconds > HELD_MS))
        milliseconds = HELD_MS; /* as above */
    if (some_ended || (n == 0 && job_running(j) == 0))
        milliseconds = 0;
    struct timespec most_time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    int ready = ppoll(all, n_all, milliseconds < 0 ? NULL : &most_time, &none), ours = 0;
    for (size_t i = 0; i < n; i++) {
        fds[i].revents = ready > 0 ? all[i].revents : 0;
        ours += fds[i].revents != 0;
    }
    for (size_t i = 0; i < j->n; i++) {
        hear(j, j->at[i]);
        reap(j, i);
    }
    pass_old(j);
    if (all != few)
        free(all);
    return ours;
}

void job_wait_all(struct job *j)
{
    while (job_running(j))
        job_wait(j, NULL, 0, -1);
}

void job_wait_for(struct job *j, const struct job_process *p)
{
    while (!p->ended)
        job_wait(j, NULL, 0, -1);
}

/* ---- Ending ---- */

/* Tells it to end. */
static void dismiss(struct job *j, struct job_process *p)
{
    if (!p->dismissed)
        p->dismissed_at = ++j->events;
    p->dismissed = true;
    if (p->ended)
        return;
    kill(p->pid, SIGTERM);
    kill(p->pid, SIGCONT);
}

/* Waits until it has ended, and kills it if that takes too long. */
static void bury(struct job *j, const struct job_process *p)
{
    for (double until = clock_now() + 1e-3 * PATIENCE_MS; !p->ended;) {
        job_wait(j, NULL, 0, 100);
        if (!p->ended && clock_now() > until)
            kill(p->pid, SIGKILL);
    }
}

void job_end_from(struct job *j, int stage)
{
    for (size_t i = 0; i < j->n; i++) {
        struct job_process *p = j->at[i];
        reap(j, i); /* a process that has already ended or was killed may be the cause of all other failures */
        if (p->stage >= stage && !p->ended)
            dismiss(j, p);
    }
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->stage >= stage && j->at[i]->dismissed)
            bury(j, j->at[i]);
    }
}

void job_end(struct job *j)
{
    job_end_from(j, INT_MIN);
}

/* Forgets those of a group, or all. */
static void forget(struct job *j, bool all, int group)
{
    sigset_t every, before;
    size_t n = 0;
    sigfillset(&every);
    sigprocmask(SIG_BLOCK, &every, &before); /* a handler must not see an incomplete change */
    for (size_t i = 0; i < j->n; i++) {
        struct job_process *p = j->at[i];
        if (all || p->group == group) {
            j->read += p->read;
            job_close(&p->said);
            buf_free(&p->text);
            free(p);
        } else {
            running[n] = running[i];
            j->at[n++] = p;
        }
    }
    n_running = j->n = n;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void job_forget(struct job *j)
{
    forget(j, true, 0);
}

void job_forget_group(struct job *j, int group)
{
    forget(j, false, group);
}

void job_free(struct job *j)
{
    job_end(j);
    job_forget(j);
    free(j->at);
    *j = (struct job){0};
}
