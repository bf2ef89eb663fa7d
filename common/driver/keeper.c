/* keeper.c - see keeper.h.
 *
 * It is the subreaper of its descendants: those whose parent has ended become its children, so that all can be found by
 * their parents. What has begun a session of its own is left alone: a connection of ssh that others share, a server.
 */
#include "driver/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TERM_MS = 100, KILL_MS = 3000, GIVE_UP_MS = 10000, STEP_MS = 10 };

struct ids {
    pid_t pid, parent, session;
    bool ours;
};

/* Reads parent and session of a process; false: it has ended, and is none of those that can be ended. */
static bool read_ids(const char *name, struct ids *to)
{
    char path[64], text[1024], state;
    int parent, session;
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* the program's name may hold anything */
    if (!after || sscanf(after + 1, " %c %d %*d %d", &state, &parent, &session) != 3 || state == 'Z')
        return false;
    *to = (struct ids){.pid = (pid_t)atol(name), .parent = parent, .session = session};
    return true;
}

/* All processes; their number is *n. NULL: they cannot be read. */
static struct ids *all_processes(size_t *n)
{
    struct ids *all = NULL;
    size_t cap = 0;
    DIR *dir = opendir("/proc");
    *n = 0;
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        if (*n == cap) {
            struct ids *grown = realloc(all, (2 * cap + 64) * sizeof *all);
            if (!grown)
                break;
            all = grown;
            cap = 2 * cap + 64;
        }
        *n += read_ids(d->d_name, &all[*n]);
    }
    if (dir)
        closedir(dir);
    return all;
}

/* Sends a signal to all descendants that have not left with setsid(2). Returns how many there are. */
static size_t signal_descendants(int sig)
{
    size_t n, found = 0;
    struct ids *all = all_processes(&n);
    pid_t self = getpid(), session = getsid(0);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            bool child = all[i].parent == self;
            for (size_t k = 0; k < n && !child; k++)
                child = all[k].ours && all[k].pid == all[i].parent;
            if (child && !all[i].ours && all[i].session == session)
                all[i].ours = more = true;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!all[i].ours)
            continue;
        found++;
        kill(all[i].pid, sig);
        kill(all[i].pid, SIGCONT);
    }
    free(all);
    return found;
}

/* GNU parallel ends its jobs on SIGHUP, and would wait for them on SIGTERM. */
static void end_descendants(bool apart)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    for (int ms = 0; ms < GIVE_UP_MS; ms += STEP_MS) {
        int sig = apart || ms >= KILL_MS ? SIGKILL : ms == 0 ? SIGHUP : ms == TERM_MS ? SIGTERM : 0;
        if (signal_descendants(sig) == 0)
            return;
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        nanosleep(&step, NULL);
    }
}

/* Waits for the child, and exits as it does; ends all if a signal says so. */
static void keep(pid_t child, const sigset_t *signals, bool apart)
{
    int status, sig;
    pid_t ended;
    for (;;) {
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            if (ended != child)
                continue;
            if (WIFSIGNALED(status))
                end_descendants(apart);
            _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        }
        if (sigwait(signals, &sig) == 0 && sig != SIGCHLD) {
            end_descendants(apart);
            _exit(128 + sig);
        }
    }
}

void keeper_start(bool apart)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
    sigset_t signals, none;
    sigemptyset(&none);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction old;
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* as nohup does */
            sigaddset(&signals, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (apart)
        setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, &none, NULL);
        return;
    }
    if (child < 0)
        _exit(71);
    /* Whoever waits for the end of a pipe waits for the command, not for its keeper. */
    for (int fd = 0; fd < 2; fd++)
        close(fd);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    prctl(PR_SET_NAME, "bpe-keeper");
    keep(child, &signals, apart);
}
