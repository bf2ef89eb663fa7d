/* model_read.c - see model_read.h. The format of a model is recognized by which files exist and by how a file begins,
 * not by its file name extension.
 */
#include "model/model_read.h"

#include "base/io/fd.h"
#include "model/formats.h"
#include "model/model_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Not a model ---- */

/* Writes the list of formats to *out, as a string for messages: what a directory must contain, or what a file may
 * be. */
static int put_formats(struct buf *out, bool directory, const char *between, struct err *e)
{
    const struct model_format *f;
    for (size_t i = 0; (f = model_format_at(i)); i++) {
        const char *word = directory ? f->in_directory : f->content;
        if (word && ((out->len && buf_put_str(out, between, e)) || buf_put_str(out, word, e)))
            return -1;
    }
    return buf_put_byte(out, '\0', e);
}

static int no_directory(const char *path, struct err *e)
{
    struct buf formats = {0};
    if (!put_formats(&formats, true, ", and without ", e))
        err_set(e, EX_NOINPUT, "%s: a directory without %s", path, (char *)formats.p);
    buf_free(&formats);
    return -1;
}

/* Reports that the file is not a model. p: its first bytes, after blanks. */
static int no_model(const struct model_source *from, const char *p, struct err *e)
{
    static const struct {
        const char *head, *what;
    } known[] = {
        {"#version", "a list of merges; it must be called merges.txt, with vocab.json beside it"},
        {"\x1F\x8B", "compressed; decompress it first"},
        {"\x28\xB5\x2F\xFD", "compressed; decompress it first"},
        {"version https://git-lfs", "a pointer of Git LFS, not the file itself: run git lfs pull"},
        {"\xEF\xBB\xBF", "begins with a byte order mark, which no model has: remove its 3 bytes"},
    };
    struct buf formats = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp((const char *)from->head.p, known[i].head, strlen(known[i].head)))
            return err_at(e, EX_DATAERR, from->name, ERR_NO_OFFSET, "%s", known[i].what);
    if (!put_formats(&formats, false, " nor ", e))
        err_at(e, EX_DATAERR, from->name, ERR_NO_OFFSET, "not a model: neither %s%s", (char *)formats.p,
               memchr(p, ' ', strcspn(p, "\n"))
                   ? " (a list of merges alone has neither ids nor pattern: use -f json instead)"
                   : "");
    buf_free(&formats);
    return -1;
}

/* ---- Reading ---- */

static int read_as(struct model *m, const struct model_format *f, struct model_source *from, struct err *e)
{
    int rc = f->read(m, from, e);
    m->format = f;
    m->dialect = f->dialect;
    return rc;
}

static int read_by_content(struct model *m, struct model_source *from, struct err *e)
{
    const char *head = (const char *)from->head.p; /* zeros follow */
    const struct model_format *f;
    size_t blank = strspn(head, " \t\r\n");
    if (blank == from->head.len)
        return err_at(e, EX_DATAERR, from->name, ERR_NO_OFFSET, "the file is empty");
    for (size_t i = 0; (f = model_format_at(i)); i++) {
        const size_t skip = f->is_binary ? 0 : blank;
        if (f->sniff && f->sniff(from->head.p + skip, from->head.len - skip))
            return read_as(m, f, from, e);
    }
    return no_model(from, head + blank, e);
}

static int read_file(struct model *m, struct model_source *from, struct err *e)
{
    from->name = fd_name(from->path);
    from->fd = fd_open_input(from->path, e);
    if (from->fd < 0)
        return -1;
    struct fd_stamp then;
    int rc = fd_stamp(from->fd, from->name, &then, e) || model_file_head(from->fd, from->name, &from->head, e) ||
                     read_by_content(m, from, e)
                 ? -1
                 : 0;
    if (rc == 0 || e->code == EX_DATAERR)
        rc = fd_unchanged(from->fd, from->name, &then, UINT64_MAX, e) ? -1 : rc;
    buf_free(&from->head);
    close(from->fd);
    return rc;
}

/* Reads the file by which the format is recognized from the directory. 1: read; 0: no such file; -1: error. */
static int read_file_inside(struct model *m, const struct model_format *f, const struct model_source *from,
                            struct err *e)
{
    int rc = 0;
    for (const char *const *name = f->files; name && *name && !rc; name++) {
        struct model_source file = *from;
        char *path = model_file_join(from->path, true, *name, e);
        file.path = path;
        file.is_directory = false;
        file.inside = true;
        rc = !path ? -1 : access(path, F_OK) ? 0 : read_file(m, &file, e) ? -1 : 1;
        free(path);
    }
    return rc;
}

static int read_source(struct model *m, struct model_source *from, struct err *e)
{
    const struct model_format *f;
    struct stat st;
    from->is_directory = strcmp(from->path, "-") != 0 && !stat(from->path, &st) && S_ISDIR(st.st_mode);
    for (size_t i = 0; (f = model_format_at(i)); i++) {
        int rc = from->is_directory ? read_file_inside(m, f, from, e) : 0;
        if (rc)
            return rc < 0 ? -1 : 0;
        rc = f->sniff_path ? f->sniff_path(from, e) : 0;
        if (rc)
            return rc < 0 ? -1 : read_as(m, f, from, e);
    }
    return from->is_directory ? no_directory(from->path, e) : read_file(m, from, e);
}

/* Reads the contents as a file that is entirely in `head`; its descriptor has no more bytes. */
static int read_contents(struct model *m, struct model_source *from, struct str contents, struct err *e)
{
    static const unsigned char pad[JSON_READ_PAD];
    from->fd = fd_open_input("/dev/null", e);
    int rc =
        from->fd < 0 || buf_put(&from->head, contents.p, contents.len, e) || buf_put(&from->head, pad, sizeof pad, e)
            ? -1
            : 0;
    if (rc == 0) {
        from->head.len = contents.len;
        rc = read_by_content(m, from, e);
    }
    buf_free(&from->head);
    if (from->fd >= 0)
        close(from->fd);
    return rc;
}

/* contents.p NULL: read from the path. */
static int read_with(struct model *m, const char *path, struct str contents, const struct model_opts *opts,
                     struct err *e)
{
    static const struct model_opts none;
    const struct model_opts *o = opts ? opts : &none;
    struct model_source from = {.path = contents.p ? "-" : path, /* as for standard input: no files are beside it */
                                .name = path,
                                .fd = -1,
                                .pattern_name = o->pattern,
                                .special = o->special,
                                .n_special = o->n_special,
                                .rules_only = o->rules_only};
    *m = (struct model){0};
    if (o->pattern && !(from.pattern = pattern_named(o->pattern, e)))
        return -1;
    int rc = contents.p ? read_contents(m, &from, contents, e) : read_source(m, &from, e);
    if (!m->by_rank && !m->ignore_merges) /* frees memory that the encoding tables need */
        token_index_free(&m->index);
    if (rc)
        model_free(m);
    return rc;
}

int model_read(struct model *m, const char *path, const struct model_opts *opts, struct err *e)
{
    return read_with(m, path, (struct str){0}, opts, e);
}

int model_read_contents(struct model *m, struct str contents, const char *name, const struct model_opts *opts,
                        struct err *e)
{
    return read_with(m, name, contents.p ? contents : str_of(""), opts, e);
}
