/* model_pipe.c - see model_pipe.h. */
#include "driver/model_pipe.h"

#include "base/io/fd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int model_pipe_read(struct model_pipe *m, const char *path, struct err *e)
{
    struct stat st;
    struct buf text = {0};
    m->fd = -1;
    bool named = strcmp(path, "-") != 0;
    if (named && stat(path, &st) < 0) /* said once, and not by each process */
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
    if (named && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0;
    int rc = fd_read_file(path, &text, e);
    if (rc == 0 && text.len == 0)
        rc = err_set(e, EX_NOINPUT, "-m %s: nothing came from it", path);
    if (rc == 0 && (m->fd = memfd_create("model", MFD_CLOEXEC)) < 0)
        rc = err_sys(e, EX_OSERR, errno, "cannot keep the model in memory");
    rc = rc || fd_write(m->fd, text.p, text.len, "the model in memory", e) ? -1 : 0;
    snprintf(m->option, sizeof m->option, "--model=/proc/%ld/fd/%d", (long)getpid(), m->fd);
    buf_free(&text);
    return rc;
}

void model_pipe_close(struct model_pipe *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

const char *model_pipe_option(const struct model_pipe *m)
{
    return m->fd < 0 ? NULL : m->option;
}
