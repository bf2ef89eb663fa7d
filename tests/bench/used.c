/* used - runs a program and logs the resources it used: for measuring pipelines in which a command starts the programs.
 *
 *     ln -s .../used bin/bpe-count; PATH=bin:$PATH USED=FILE USED_PROGRAMS=DIR bpe train ...
 *
 * When called as NAME, it runs DIR/NAME with the same arguments and descriptors, waits, and appends one line to FILE:
 *
 *     NAME PID START END CPU PEAK READ WRITTEN
 *
 * START and END are seconds of CLOCK_MONOTONIC, CPU is in seconds, PEAK in bytes of memory. READ and WRITTEN are the
 * bytes that passed through read(2), write(2) and similar calls (0 if /proc does not show them). It exits with the
 * program's status, or 128 plus the signal that killed it. Its own time, less than a millisecond, is attributed to the
 * process that started it. A program that only shows its help (-h) is not logged. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct bytes_moved {
    uint64_t read, written;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "used: %s: %s\n", what, strerror(errno));
    return 71;
}

/* Bytes read and written by a process that has ended, but has not been reaped. */
static struct bytes_moved moved(pid_t pid)
{
    struct bytes_moved m = {0};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return m;
    if (fscanf(f, "rchar: %" SCNu64 " wchar: %" SCNu64, &m.read, &m.written) != 2)
        m = (struct bytes_moved){0};
    fclose(f);
    return m;
}

/* Appends the line by one write, so that lines of several processes do not mix. */
static int note(const char *name, pid_t pid, double start, double end, const struct rusage *u, struct bytes_moved m)
{
    const char *path = getenv("USED");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return fail("USED");
    double cpu =
        (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
    char line[512];
    int n = snprintf(line, sizeof line, "%s %d %.6f %.6f %.6f %ld %" PRIu64 " %" PRIu64 "\n", name, (int)pid, start,
                     end, cpu, u->ru_maxrss * 1024, m.read, m.written);
    int rc = write(fd, line, (size_t)n) == n ? 0 : fail(path);
    close(fd);
    return rc;
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/'), *programs = getenv("USED_PROGRAMS");
    char path[4096];
    name = name ? name + 1 : argv[0];
    if (!programs || snprintf(path, sizeof path, "%s/%s", programs, name) >= (int)sizeof path)
        return fail("USED_PROGRAMS");
    if (argc > 1 && !strcmp(argv[1], "-h"))
        return execv(path, argv), fail(path);
    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        execv(path, argv);
        _exit(fail(path));
    }
    signal(SIGINT, SIG_IGN);
    siginfo_t info;
    struct rusage u;
    int status;
    if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
        return fail(path);
    double end = now();
    struct bytes_moved m = moved(pid);
    if (wait4(pid, &status, 0, &u) < 0 || note(name, pid, start, end, &u, m))
        return 71;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
