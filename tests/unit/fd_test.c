/* fd_test.c - pipes are widened when there is much in them, and only then. */
#include "io/fd.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A pipe into which nobody waits to write; returns what it may hold. */
static int make_pipe(int fd[2])
{
    if (pipe2(fd, O_NONBLOCK))
        abort();
    return fcntl(fd[0], F_GETPIPE_SZ);
}

/* Writes n bytes to a new pipe, with fd_write or without, reads them with fd_read or not at all, and returns what the
 * pipe may hold then. */
static int size_after(size_t n, bool ours_writes, bool ours_reads)
{
    static unsigned char bytes[1 << 20];
    int fd[2];
    struct err e = {0};
    make_pipe(fd);
    if (ours_writes ? fd_write(fd[1], bytes, n, "pipe", &e) : write(fd[1], bytes, n) != (ssize_t)n)
        abort();
    if (ours_reads && fd_read(fd[0], bytes, sizeof bytes, "pipe", &e) < 0)
        abort();
    int size = fcntl(fd[0], F_GETPIPE_SZ);
    close(fd[0]);
    close(fd[1]);
    return size;
}

int main(void)
{
    int fd[2], usual = make_pipe(fd), wide = 1 << 20;
    if (usual != 1 << 16 || fcntl(fd[0], F_SETPIPE_SZ, wide) != wide) {
        tap_ok(1, "widening # SKIP this system has other pipes, or does not let them be widened");
        return tap_done();
    }
    tap_ok(size_after(1 << 16, false, true) == wide, "a pipe that was full becomes wide");
    tap_ok(size_after(300000, true, false) == wide, "so does one to which more is written than it holds");
    tap_ok(size_after(4096, true, true) == usual, "one through which little goes stays as it was");
    return tap_done();
}
