/* model_save.c - see model_save.h. */
#include "model/model_save.h"

#include "io/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int write_file(const char *path, const struct buf *b, struct err *e)
{
    struct outfile o;
    if (!path)
        return fd_write(1, b->p, b->len, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
    if (outfile_open(&o, path, e))
        return -1;
    if (fd_write(o.fd, b->p, b->len, path, e)) {
        outfile_drop(&o);
        return -1;
    }
    return outfile_commit(&o, e);
}

static int write_files(const struct model_files *files, const char *path, struct err *e)
{
    struct buf name = {0};
    int rc = 0;
    for (size_t i = 0; i < files->n && !rc; i++) {
        const char *suffix = files->file[i].suffix;
        name.len = 0;
        rc = path && (buf_put_str(&name, path, e) || buf_put(&name, suffix, strlen(suffix) + 1, e)) ? -1 : 0;
        rc = rc || write_file(path ? (char *)name.p : NULL, &files->file[i].bytes, e) ? -1 : 0;
    }
    buf_free(&name);
    return rc;
}

int model_save(const struct model *m, const struct model_format *format, const char *path, struct err *e)
{
    struct model_files files = {.alone = !path};
    int rc = format->write(&files, m, e);
    if (!rc && format->is_directory && mkdir(path, 0777) < 0 && errno != EEXIST)
        rc = err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path);
    if (!rc)
        rc = write_files(&files, path, e);
    model_files_free(&files);
    return rc;
}
