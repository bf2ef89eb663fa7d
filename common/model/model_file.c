/* model_file.c - see model_file.h. */
#include "model/model_file.h"

#include "base/io/fd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD = 64 << 10 };

size_t model_file_size(int fd)
{
    struct stat st;
    return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
}

/* Reads until b has `max` bytes or the file ends. */
static int read_up_to(int fd, const char *name, struct buf *b, size_t max, struct err *e)
{
    while (b->len < max) {
        size_t want = max - b->len < (size_t)1 << 20 ? max - b->len : (size_t)1 << 20;
        if (buf_reserve(b, want + JSON_READ_PAD, e))
            return -1;
        want = b->cap - b->len - JSON_READ_PAD;
        ssize_t got = fd_read(fd, b->p + b->len, want < max - b->len ? want : max - b->len, name, e);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        b->len += (size_t)got;
    }
    if (buf_reserve(b, JSON_READ_PAD, e))
        return -1;
    memset(b->p + b->len, 0, JSON_READ_PAD);
    return 0;
}

int model_file_head(int fd, const char *name, struct buf *head, struct err *e)
{
    return read_up_to(fd, name, head, HEAD, e);
}

int model_file_json(struct json_reader *r, int fd, const char *name, struct err *e)
{
    struct buf head = {0};
    if (model_file_head(fd, name, &head, e)) {
        buf_free(&head);
        return -1;
    }
    return json_read_init(r, fd, name, &head, e);
}

int model_file_all(int fd, const char *name, struct buf *all, struct err *e)
{
    size_t size = model_file_size(fd);
    if (size > all->len && size < MODEL_FILE_MAX && buf_reserve(all, size - all->len + 1 + JSON_READ_PAD, e))
        return -1;
    if (read_up_to(fd, name, all, MODEL_FILE_MAX + 1, e))
        return -1;
    return all->len > MODEL_FILE_MAX
               ? err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "larger than 4 GiB: too large for a model")
               : 0;
}

char *model_file_join(const char *path, bool is_directory, const char *name, struct err *e)
{
    const char *slash = strrchr(path, '/');
    size_t n = is_directory ? strlen(path) : slash ? (size_t)(slash - path) + 1 : 0;
    char *joined = malloc(n + strlen(name) + 2);
    if (!joined) {
        err_mem(e, "a file name", n);
        return NULL;
    }
    memcpy(joined, path, n);
    if (n && path[n - 1] != '/')
        joined[n++] = '/';
    strcpy(joined + n, name);
    return joined;
}

struct buf *model_files_add(struct model_files *f, const char *suffix)
{
    assert(f->n < sizeof f->file / sizeof *f->file);
    f->file[f->n] = (struct model_file){.suffix = suffix};
    return &f->file[f->n++].bytes;
}

void model_files_free(struct model_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        buf_free(&f->file[i].bytes);
    f->n = 0;
}
