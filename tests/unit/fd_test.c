/* fd_test.c - pipes are enlarged when much data goes through them; output files appear when they are complete. */
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a pipe that does not block; returns its capacity. */
static int make_pipe(int fd[2])
{
    if (pipe2(fd, O_NONBLOCK))
        abort();
    return fcntl(fd[0], F_GETPIPE_SZ);
}

/* Writes n bytes to a new pipe, with fd_write or write(2), perhaps reads them with fd_read, and returns the pipe's
 * capacity afterwards. */
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
        tap_ok(1, "larger pipes # SKIP pipes have another size here, or cannot be enlarged");
        return;
    }
    tap_ok(size_after(1 << 16, false, true) == wide, "a full pipe is enlarged when it is read");
    tap_ok(size_after(300000, true, false) == wide, "a pipe is enlarged when more is written than it holds");
    tap_ok(size_after(4096, true, true) == usual, "a pipe with little data is not changed");
}

/* Makes a file with this content. */
static void put(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(content, f) < 0 || fclose(f))
        abort();
}

/* Whether a file has this content or, if NULL, does not exist. */
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
    tap_ok(outfile_open(&o, "out", &e) == 0 && has("out.bpe-0.tmp", ""), "output goes to a temporary file");
    tap_ok(outfile_open(&other, "out", &e) == 0 && has("out.bpe-1.tmp", ""),
           "a second one at the same time has another name");
    tap_ok(write_it(&other, "two") && has("out", "two") && write_it(&o, "one") && has("out", "one") &&
               has("out.bpe-0.tmp", NULL) && has("out.bpe-1.tmp", NULL),
           "both appear, and no temporary file is left");
    put("out.bpe-0.tmp", "left by a process that was killed");
    tap_ok(outfile_open(&o, "out", &e) == 0 && has("out.bpe-1.tmp", NULL) && write_it(&o, "new") && has("out", "new") &&
               has("out.bpe-0.tmp", NULL),
           "a temporary file that a killed process left is reused");
    put("foreign", "precious");
    if (symlink("foreign", "out.bpe-0.tmp") || mkfifo("out.bpe-1.tmp", 0600) || link("foreign", "out.bpe-2.tmp"))
        abort();
    tap_ok(outfile_open(&o, "out", &e) == 0 && write_it(&o, "more") && has("out", "more") && has("foreign", "precious"),
           "links and pipes with such names are not touched");
    outfile_drop(&o);
    tap_ok(outfile_open(&o, "out", &e) == 0 && fd_write(o.fd, "x", 1, "out", &e) == 0, "output is written and dropped");
    outfile_drop(&o);
    tap_ok(has("out", "more") && has("out.bpe-3.tmp", NULL), "dropping leaves the old file, and no temporary file");
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
