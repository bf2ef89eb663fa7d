/* death.so - makes a process die by a signal, for tests of scripts. LD_PRELOAD it, and set in the environment:
 *
 *     DEATHS       a directory, in which each forked process makes a file with the next number, from 1
 *     DEATH_AT     the number of the process that dies; 0: none
 *     DEATH_BY     the number of the signal; default SIGKILL
 *     DEATH_WHEN   begin: before the process does anything; end: when it has finished, instead of exiting
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char *dir;
static long at;
static bool at_end;
static int by = SIGKILL;

__attribute__((constructor)) static void start(void)
{
    const char *n = getenv("DEATH_AT"), *when = getenv("DEATH_WHEN"), *number = getenv("DEATH_BY");
    dir = getenv("DEATHS");
    at = n ? atol(n) : 0;
    at_end = when && strcmp(when, "end") == 0;
    by = number ? atoi(number) : SIGKILL;
    if (dir)
        dir = strdup(dir); /* bash manages its own environment */
}

/* Resets the signal first, because some programs ignore SIGPIPE. */
static void die(void)
{
    signal(by, SIG_DFL);
    kill(getpid(), by);
}

/* Makes a file. Returns whether it did not exist. */
static bool make_file(const char *kind, long number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%ld", dir, kind, number);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A file marks the process that dies at its end, because it may exec another program before that. */
__attribute__((destructor)) static void end(void)
{
    char path[4096];
    if (!dir || !at_end)
        return;
    snprintf(path, sizeof path, "%s/end.%ld", dir, (long)getpid());
    if (!access(path, F_OK))
        die();
}

static void begin(void)
{
    long n = 1;
    while (!make_file("", n) && errno == EEXIST)
        n++;
    if (n != at)
        return;
    if (at_end)
        make_file("end.", getpid());
    else
        die();
}

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    pid_t pid = real();
    if (pid == 0 && dir)
        begin();
    return pid;
}
