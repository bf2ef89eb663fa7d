/* scratch.c - see scratch.h. */
#include "driver/scratch.h"

#include "base/io/fd.h"
#include "driver/installed.h"
#include "driver/job.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a signal handler; -1 and 0: none. */
static volatile int open_end = -1;
static volatile pid_t open_keeper;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(path);
    return 0;
}

void scratch_remove(const char *path)
{
    enum { OPEN_AT_ONCE = 16 };
    nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

/* Runs in a separate process, which no signal from the terminal ends before its work is done. */
static void keep(const char *path, int end)
{
    char byte;
    sigset_t all;
    int null = open("/dev/null", O_RDWR);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(end, 0);
    dup2(null, 1);
    dup2(null, 2);
    closefrom(3);
    while (read(0, &byte, 1) > 0) {
    }
    scratch_remove(path);
    _exit(0);
}

/* Lets the keeper do its work, and waits for it. Also runs in a signal handler. */
static void let_go(void)
{
    enum { STEP_MS = 5, PATIENCE_MS = 10000 };
    if (open_end >= 0)
        close(open_end);
    open_end = -1;
    for (int ms = 0; open_keeper > 0 && ms < PATIENCE_MS && waitpid(open_keeper, NULL, WNOHANG) == 0; ms += STEP_MS)
        poll(NULL, 0, STEP_MS);
    open_keeper = 0;
}

/* Makes the directory and starts its keeper. */
static int start(struct scratch *s, struct err *e)
{
    int ends[2];
    if (!mkdtemp(s->path))
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary directory there", installed_temporary());
    if (job_pipe(ends, e)) {
        rmdir(s->path);
        return -1;
    }
    pid_t keeper = fork();
    if (keeper == 0)
        keep(s->path, ends[0]);
    if (keeper < 0) {
        err_sys(e, EX_OSERR, errno, "cannot start a process");
        rmdir(s->path);
        job_close_both(ends);
        return -1;
    }
    close(ends[0]);
    open_end = s->alive = ends[1];
    open_keeper = keeper;
    return 0;
}

int scratch_open(struct scratch *s, const char *in, struct err *e)
{
    sigset_t all, before;
    *s = (struct scratch){.path = fd_path(in ? in : installed_temporary(), "bpe-XXXXXX", e), .alive = -1};
    if (!s->path)
        return -1;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until the directory to remove is recorded */
    int rc = start(s, e);
    job_at_signal(let_go);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        free(s->path);
        s->path = NULL;
    }
    return rc;
}

void scratch_close(struct scratch *s)
{
    if (!s->path)
        return;
    let_go();
    scratch_remove(s->path); /* in case the keeper was killed */
    free(s->path);
    *s = (struct scratch){0};
}
