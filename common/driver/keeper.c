/* keeper.c - see keeper.h.
 *
 * The keeper is the subreaper of its descendants: those whose parent has ended become its children, so that following
 * parents finds all of them. Processes in another session are left alone: a shared ssh connection, a server.
 */
#include "driver/keeper.h"

#include "driver/monitor/process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TERM_MS = 100, KILL_MS = 3000, GIVE_UP_MS = 10000, STEP_MS = 10 };

struct related {
    pid_t pid, parent;
    bool ours;
};

/* All processes in the session of `pid`; *n: their number. Those that cannot be read could not be ended either. */
static struct related *session_of(pid_t pid, size_t *n)
{
    struct err ignored;
    pid_t *pids = NULL;
    pid_t session = getsid(pid);
    size_t cap = 0;
    ptrdiff_t n_pids = process_list(&pids, &cap, &ignored);
    struct related *all = n_pids > 0 ? calloc((size_t)n_pids, sizeof *all) : NULL;
    *n = 0;
    for (ptrdiff_t i = 0; i < n_pids && all; i++) {
        struct process p = {.pid = pids[i]};
        if (process_look(&p, 0) && getsid(p.pid) == session)
            all[(*n)++] = (struct related){.pid = p.pid, .parent = p.parent};
    }
    free(pids);
    return all;
}

/* Sends a signal to all descendants that have not left with setsid(2). Returns their number. */
static size_t signal_descendants(int sig)
{
    size_t n, found = 0;
    pid_t self = getpid();
    struct related *all = session_of(self, &n);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            bool child = all[i].parent == self;
            for (size_t k = 0; k < n && !child; k++)
                child = all[k].ours && all[k].pid == all[i].parent;
            if (child && !all[i].ours)
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

/* Starts with SIGHUP, on which GNU parallel ends its jobs; on SIGTERM it would wait for them. */
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

/* Waits for the child, and exits with its status; on a signal, ends all descendants. */
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
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* not if ignored, as under nohup */
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
    /* Close the pipes: their other ends must see the end of the command, not of its keeper. */
    for (int fd = 0; fd < 2; fd++)
        close(fd);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    prctl(PR_SET_NAME, "bpe-keeper");
    keep(child, &signals, apart);
}
