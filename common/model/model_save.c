/* model_save.c - see model_save.h. */
#include "model/model_save.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates and writes a file under a temporary name; drop *o in any case. */
static int write_file(struct outfile *o, const struct model_file *f, const char *path, struct err *e)
{
    struct buf name = {0};
    *o = (struct outfile){.fd = -1};
    int rc = buf_put_str(&name, path, e) || buf_put(&name, f->suffix, strlen(f->suffix) + 1, e) ||
                     outfile_open(o, (char *)name.p, e) || fd_write(o->fd, f->bytes.p, f->bytes.len, o->path, e)
                 ? -1
                 : 0;
    buf_free(&name);
    return rc;
}

/* Writes all files before it puts the first in place, so that an older model remains if this one cannot be written. */
static int write_files(const struct model_files *files, const char *path, struct err *e)
{
    struct outfile out[MODEL_FILES];
    size_t n = 0;
    int rc = 0;
    for (; n < files->n && rc == 0; n++)
        rc = write_file(&out[n], &files->file[n], path, e);
    if (rc == 0)
        return outfile_commit(out, n, e);
    while (n)
        outfile_drop(&out[--n]);
    return -1;
}

static int write_stdout(const struct buf *b, struct err *e)
{
    if (fd_write(1, b->p, b->len, "standard output", e) || fd_close_stdout(e))
        return -1;
    return 0;
}

int model_save(const struct model *m, const struct model_format *format, const char *path, struct err *e)
{
    struct model_files files = {.alone = !path};
    bool created = false;
    int rc = format->write(&files, m, e);
    if (rc == 0 && format->is_directory) {
        created = mkdir(path, 0777) == 0;
        if (!created && errno != EEXIST)
            rc = err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path);
    }
    if (rc == 0)
        rc = path ? write_files(&files, path, e) : write_stdout(&files.file[0].bytes, e);
    if (rc && created)
        rmdir(path);
    model_files_free(&files);
    return rc;
}
