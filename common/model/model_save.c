/* model_save.c - see model_save.h. */
#include "model/model_save.h"

#include "base/io/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int model_output_init(struct model_output *o, size_t n, struct err *e)
{
    size_t files = n * (MODEL_FILES + 1);
    *o = (struct model_output){.file = calloc(files, sizeof *o->file), .dir = calloc(n, sizeof *o->dir)};
    return o->file && o->dir ? 0 : err_mem(e, "output files", files * sizeof *o->file);
}

/* Creates and writes a file under a temporary name. */
int model_output_add_file(struct model_output *o, const char *path, struct str content, struct err *e)
{
    struct outfile *file = &o->file[o->n_files++];
    *file = (struct outfile){.fd = -1};
    return outfile_open(file, path, e) || fd_write(file->fd, content.p, content.len, file->path, e) ? -1 : 0;
}

static int add_files(struct model_output *o, const struct model_files *files, const char *path, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < files->n && rc == 0; i++) {
        struct buf name = {0};
        rc = buf_put_str(&name, path, e) || buf_put(&name, files->file[i].suffix, strlen(files->file[i].suffix) + 1, e)
                 ? -1
                 : model_output_add_file(o, (const char *)name.p, buf_str(&files->file[i].bytes), e);
        buf_free(&name);
    }
    return rc;
}

static int add_directory(struct model_output *o, const char *path, struct err *e)
{
    char *name = strdup(path);
    if (!name)
        return err_mem(e, "a file name", strlen(path));
    if (mkdir(path, 0777) == 0) {
        o->dir[o->n_dirs++] = name;
        return 0;
    }
    int why = errno;
    free(name);
    return why == EEXIST ? 0 : err_sys(e, EX_CANTCREAT, why, "%s: cannot create", path);
}

static int write_stdout(const struct buf *b, struct err *e)
{
    if (fd_write(1, b->p, b->len, "standard output", e) || fd_close_stdout(e))
        return -1;
    return 0;
}

int model_output_add(struct model_output *o, const struct model *m, const struct model_format *format, const char *path,
                     struct err *e)
{
    struct model_files files = {.alone = !path};
    int rc = format->write(&files, m, e) || (format->is_directory && add_directory(o, path, e)) ? -1 : 0;
    if (rc == 0)
        rc = path ? add_files(o, &files, path, e) : write_stdout(&files.file[0].bytes, e);
    model_files_free(&files);
    return rc;
}

int model_output_commit(struct model_output *o, struct err *e)
{
    int rc = outfile_commit(o->file, o->n_files, e); /* drops all files */
    o->n_files = 0;
    while (rc == 0 && o->n_dirs)
        free(o->dir[--o->n_dirs]);
    return rc;
}

void model_output_free(struct model_output *o)
{
    while (o->n_files)
        outfile_drop(&o->file[--o->n_files]);
    while (o->n_dirs) {
        rmdir(o->dir[--o->n_dirs]);
        free(o->dir[o->n_dirs]);
    }
    free(o->file);
    free(o->dir);
    *o = (struct model_output){0};
}

int model_save(const struct model *m, const struct model_format *format, const char *path, struct err *e)
{
    struct model_output o;
    int rc = model_output_init(&o, 1, e) || model_output_add(&o, m, format, path, e) || model_output_commit(&o, e);
    model_output_free(&o);
    return rc ? -1 : 0;
}
