/* source_list.c - see source_list.h. */
#include "chunk/source_list.h"

#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/input.h"
#include "input/file_signature.h"
#include "input/format_guess.h"
#include "wire/payload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks at the first bytes of a regular file. */
static int look_inside(struct source *s, int fd, struct input_warnings *watch, struct err *e)
{
    unsigned char start[FILE_SIGNATURE_LEN];
    struct buf more = {0};
    ssize_t got = fd_pread(fd, start, sizeof start, 0, s->name, e);
    if (got < 0)
        return -1;
    s->compressed = decompressor_knows(start, (size_t)got);
    if (s->compressed)
        return 0;
    if (got < FILE_SIGNATURE_LEN || !input_warnings_wants(watch, start, (size_t)got))
        return input_warnings_start(watch, start, (size_t)got, s->name, e);
    got = buf_reserve(&more, FORMAT_GUESS_LOOK, e) ? -1 : fd_pread(fd, more.p, FORMAT_GUESS_LOOK, 0, s->name, e);
    int rc = got < 0 ? -1 : input_warnings_start(watch, more.p, (size_t)got, s->name, e);
    buf_free(&more);
    return rc;
}

/* Looks at the start of the text of a compressed file. Only the first such file is checked, because a forgotten option
 * affects all. Errors are ignored: the program that reads the file will report them. */
static void look_at_text(const struct source *s, struct input_warnings *watch)
{
    struct buf start = {0};
    struct err ignored;
    if (watch->form->documents || watch->guess.found || watch->decompressed)
        return;
    watch->decompressed = true;
    struct input *in = input_open_regular(s->path, &ignored);
    if (in)
        input_probe(in, &start, watch->form, &watch->guess, &ignored);
    input_close(in);
    buf_free(&start);
}

static int look_at(struct source *s, bool by_value, struct input_warnings *watch, struct err *e)
{
    struct stat st;
    s->access = ACCESS_VALUE;
    if (strcmp(s->path, "-") == 0)
        return 0;
    if (stat(s->path, &st) < 0) {
        bool url = errno == ENOENT && strstr(s->path, "://");
        err_sys(e, EX_NOINPUT, errno, "%s: cannot open", s->path);
        if (url)
            err_add(e, strncmp(s->path, "http", 4) == 0 ? "a URL works only with --parquet, or as curl -L URL | ..."
                                                        : "a URL works only with --parquet");
        return -1;
    }
    if (S_ISDIR(st.st_mode))
        return err_set(e, EX_NOINPUT,
                       "%s: is a directory; name the files in it, as find %s -type f | bpe-chunk --files-from=- does",
                       s->path, s->path);
    if (!S_ISREG(st.st_mode))
        return 0; /* a pipe can be opened only once */
    int fd = fd_open_regular(s->path, e);
    if (fd < 0)
        return -1;
    s->file_size = (uint64_t)st.st_size;
    s->mtime_s = (uint64_t)st.st_mtim.tv_sec;
    s->mtime_ns = (uint64_t)st.st_mtim.tv_nsec;
    int rc = look_inside(s, fd, watch, e);
    close(fd);
    /* Files of size 0 (in /proc, /sys) may have text. */
    if (st.st_size == 0 || fd_is_private(s->path)) {
        s->compressed = false;
        return rc;
    }
    s->access = s->compressed ? ACCESS_VALUE : ACCESS_FILE;
    s->size = (uint64_t)st.st_size;
    s->sized = true;
    if (by_value)
        source_by_value(s);
    else if (s->compressed && rc == 0)
        look_at_text(s, watch);
    return rc;
}

void source_by_value(struct source *s)
{
    bool unknown = s->compressed || s->access == ACCESS_COMPRESSED;
    s->access = ACCESS_VALUE;
    s->sized = s->sized && !unknown;
    s->size = s->sized ? s->size : 0;
    s->compressed = false;
}

int source_list_add(struct source_list *l, const char *path, bool by_value, struct input_warnings *watch, struct err *e)
{
    if (array_grow(&l->at, &l->cap, l->n + 1, sizeof *l->at, "the list of inputs", e))
        return -1;
    struct source *s = &l->at[l->n++];
    *s = (struct source){.path = path, .name = strdup(fd_name(path))};
    return s->name ? look_at(s, by_value, watch, e) : err_mem(e, "a file name", strlen(path));
}

int source_list_reach(struct source_list *l, uint64_t number, struct err *e)
{
    if (number < l->n)
        return 0;
    if (source_number_check(number, e))
        return -1;
    if (number >= l->cap) {
        size_t cap = number < 2 * l->cap ? 2 * l->cap : (size_t)number + 16;
        struct source *new = calloc(cap, sizeof *new); /* calloc, because unused entries then take no memory */
        if (!new)
            return err_mem(e, "the list of inputs", cap * sizeof *new);
        if (l->n)
            memcpy(new, l->at, l->n * sizeof *new);
        free(l->at);
        l->at = new;
        l->cap = cap;
    }
    l->n = (size_t)number + 1;
    return 0;
}

uint64_t source_list_bytes(const struct source_list *l)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->n; i++)
        bytes += l->at[i].access == ACCESS_VALUE ? 0 : l->at[i].size;
    return bytes;
}

uint64_t source_list_text(const struct source_list *l)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->n; i++)
        bytes += l->at[i].access == ACCESS_VALUE ? 0 : access_text(l->at[i].access, l->at[i].size);
    return bytes;
}

uint64_t source_list_value_files(const struct source_list *l)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct source *s = &l->at[i];
        if (s->access == ACCESS_VALUE && s->path && s->file_size == 0)
            return 0;
        bytes += s->access == ACCESS_VALUE ? s->file_size : 0;
    }
    return bytes;
}

void source_list_free(struct source_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct source *s = &l->at[i];
        if (!s->name) /* an unused entry: writing to it would make it take memory */
            continue;
        intervals_free(&s->wanted);
        buf_free(&s->reading);
        free(s->name);
    }
    free(l->at);
    *l = (struct source_list){0};
}
