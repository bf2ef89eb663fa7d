/* fd_test.c - pipes are widened when there is much in them; output files appear when they are complete. */
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void test_pipes(void)
{
    int fd[2], usual = make_pipe(fd), wide = 1 << 20;
    if (usual != 1 << 16 || fcntl(fd[0], F_SETPIPE_SZ, wide) != wide) {
        tap_ok(1, "widening # SKIP this system has other pipes, or does not let them be widened");
        return;
    }
    tap_ok(size_after(1 << 16, false, true) == wide, "a pipe that was full becomes wide");
    tap_ok(size_after(300000, true, false) == wide, "so does one to which more is written than it holds");
    tap_ok(size_after(4096, true, true) == usual, "one through which little goes stays as it was");
}

/* Makes a file with this content. */
static void put(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(content, f) < 0 || fclose(f))
        abort();
}

/* Whether a file has this content; NULL: whether it is not there. */
static bool has(const char *path, const char *content)
{
    char got[100] = "";
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(got, 1, sizeof got - 1, f) : 0;
    if (f)
        fclose(f);
    return content ? f && n == strlen(content) && strcmp(got, content) == 0 : !f;
}

static bool write_it(struct outfile *o, const char *text)
{
    struct err e;
    return fd_write(o->fd, text, strlen(text), "out", &e) == 0 && outfile_commit(o, 1, &e) == 0;
}

static void test_outfiles(void)
{
    struct outfile o, other;
    struct err e;
    put("out", "old");
    tap_ok(outfile_open(&o, "out", &e) == 0 && has("out.bpe-0.tmp", ""), "what is written has a name of its own");
    tap_ok(outfile_open(&other, "out", &e) == 0 && has("out.bpe-1.tmp", ""), "two at once have two names");
    tap_ok(write_it(&other, "two") && has("out", "two") && write_it(&o, "one") && has("out", "one") &&
               has("out.bpe-0.tmp", NULL) && has("out.bpe-1.tmp", NULL),
           "both appear, and leave nothing");
    put("out.bpe-0.tmp", "what a process has left that was killed");
    tap_ok(outfile_open(&o, "out", &e) == 0 && has("out.bpe-1.tmp", NULL) && write_it(&o, "new") && has("out", "new") &&
               has("out.bpe-0.tmp", NULL),
           "what a process has left that was killed is taken by the next one");
    put("foreign", "precious");
    if (symlink("foreign", "out.bpe-0.tmp") || mkfifo("out.bpe-1.tmp", 0600) || link("foreign", "out.bpe-2.tmp"))
        abort();
    tap_ok(outfile_open(&o, "out", &e) == 0 && write_it(&o, "more") && has("out", "more") && has("foreign", "precious"),
           "links and pipes of such names are left alone");
    outfile_drop(&o);
    tap_ok(outfile_open(&o, "out", &e) == 0 && fd_write(o.fd, "x", 1, "out", &e) == 0, "one that is dropped");
    outfile_drop(&o);
    tap_ok(has("out", "more") && has("out.bpe-3.tmp", NULL), "leaves all as it was");
    unlink("out"), unlink("foreign"), unlink("out.bpe-0.tmp"), unlink("out.bpe-1.tmp"), unlink("out.bpe-2.tmp");
}

int main(void)
{
    char dir[] = "/tmp/fd_test-XXXXXX";
    test_pipes();
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    test_outfiles();
    if (chdir("/") || rmdir(dir))
        return 1;
    return tap_done();
}
