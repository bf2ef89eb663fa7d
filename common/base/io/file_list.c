/* file_list.c - see file_list.h. */
#include "base/io/file_list.h"

#include "base/io/fd.h"
#include "base/sys/str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the array of names, and terminates each with NUL. */
static int split(struct file_list *l, int end, struct err *e)
{
    size_t n = str_count(buf_str(&l->text), end), at = 0;
    bool taken = strcmp(l->name, fd_name("-")) == 0 || fd_is_stdin(l->name);
    if (n == 0)
        return err_at(e, EX_NOINPUT, l->name, ERR_NO_OFFSET, "the list of files is empty");
    if (n > INT_MAX)
        return err_at(e, EX_DATAERR, l->name, ERR_NO_OFFSET, "a list of more than %d files", INT_MAX);
    l->at = calloc(n, sizeof *l->at);
    if (!l->at)
        return err_mem(e, "the list of files", n * sizeof *l->at);
    for (; (size_t)l->n < n; l->n++) {
        unsigned char *name = l->text.p + at, *stop = memchr(name, end, l->text.len - at);
        *stop = 0;
        l->at[l->n] = (char *)name;
        at = (size_t)(stop - l->text.p) + 1;
        if (strlen(l->at[l->n]) != (size_t)(stop - name) || stop == name) {
            err_at(e, EX_DATAERR, l->name, ERR_NO_OFFSET, "%s",
                   stop == name ? "an empty name" : "a NUL byte in a name; if NUL ends each name, use --files0-from");
            return file_list_place(l, l->n, e);
        }
        if (taken && fd_is_stdin(l->at[l->n])) {
            err_set(e, EX_DATAERR, "%s: standard input provides the list, so it cannot be listed", l->at[l->n]);
            return file_list_place(l, l->n, e);
        }
    }
    return 0;
}

int file_list_read(struct file_list *l, const char *path, bool null, struct err *e)
{
    int end = null ? 0 : '\n';
    struct buf *b = &l->text;
    l->name = fd_name(path);
    l->null = null;
    if (fd_read_file(path, b, e) || (b->len && b->p[b->len - 1] != end && buf_put_byte(b, (unsigned char)end, e)))
        return -1;
    return split(l, end, e);
}

void file_list_free(struct file_list *l)
{
    buf_free(&l->text);
    free(l->at);
    *l = (struct file_list){0};
}

int file_list_place(const struct file_list *l, int i, struct err *e)
{
    size_t len = strlen(e->msg);
    struct err place;
    if (l->at) {
        err_set(&place, 0, " (%s %d of %.200s)", l->null ? "name" : "line", i + 1, l->name);
        snprintf(e->msg + len, sizeof e->msg - len, "%s", place.msg);
    }
    return -1;
}
