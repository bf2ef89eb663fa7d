/* tune_sample.c - takes the first part of a corpus: its first files as they are, and the beginning of the one that is
 * too large, in an unnamed temporary file. The part of a compressed file is compressed again, so that bpe-chunk has the
 * same work; each compressed byte counts as three of text.
 */
#include "bpe/tune.h"

#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/gzip_writer.h"
#include "base/io/input.h"
#include "base/sys/buf.h"
#include "driver/installed.h"
#include "driver/partition.h"
#include "wire/payload.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 20 };

enum packing { PLAIN, ZSTD, GZIP };

/* ---- Writing ---- */

struct writer {
    int fd;
    enum packing packing;
    struct gzip_writer *gzip;
};

static int put(struct writer *w, const void *p, size_t n, struct err *e)
{
    struct buf packed = {0};
    int rc = w->packing == GZIP ? gzip_writer_put(w->gzip, p, n, e)
             : w->packing == ZSTD
                 ? block_pack(&packed, p, n, e) || fd_write(w->fd, packed.p, packed.len, installed_temporary(), e)
                 : fd_write(w->fd, p, n, installed_temporary(), e);
    buf_free(&packed);
    return rc && e->code == EX_IOERR ? err_add(e, PARTITION_REMEDY) : rc ? -1 : 0;
}

/* ---- The first part of a file ---- */

/* Copies at least `left` bytes of text, up to the end of a line or document; or all of it. */
static int copy_text(struct input *in, uint64_t left, char end, struct writer *w, struct err *e)
{
    struct buf text = {0};
    ptrdiff_t got = 1;
    int rc = 0;
    bool some = false;
    while (got && rc == 0 && (left || !some)) {
        size_t n = left && left < AT_ONCE ? (size_t)left : AT_ONCE;
        got = buf_reserve(&text, n, e) ? -1 : input_read(in, text.p + text.len, n, e);
        if (got < 0) {
            rc = -1;
            break;
        }
        text.len += (size_t)got;
        left -= (uint64_t)got < left ? (uint64_t)got : left;
        const unsigned char *last = got && text.len ? memrchr(text.p, end, text.len) : NULL;
        size_t whole = last ? (size_t)(last + 1 - text.p) : got ? 0 : text.len;
        some |= whole > 0;
        rc = whole ? put(w, text.p, whole, e) : 0;
        memmove(text.p, text.p + whole, text.len - whole);
        text.len -= whole;
    }
    buf_free(&text);
    return rc;
}

static int copy_part(struct tune_sample *s, const char *file, uint64_t left, char end, bool is_gzip, struct err *e)
{
    struct input *in = input_open(file, e);
    if (!in)
        return -1;
    s->name = fd_name(file);
    s->fd = partition_file(NULL, e);
    struct writer w = {.fd = s->fd, .packing = !input_is_compressed(in) ? PLAIN : is_gzip ? GZIP : ZSTD};
    int rc = s->fd < 0 ? -1 : 0;
    if (rc == 0 && w.packing == GZIP)
        rc = (w.gzip = gzip_writer_open(s->fd, installed_temporary(), e)) ? 0 : -1;
    rc = rc || copy_text(in, left, end, &w, e) ? -1 : 0;
    if (w.gzip)
        rc = gzip_writer_close(w.gzip, rc, e);
    input_close(in);
    snprintf(s->path, sizeof s->path, "/proc/%ld/fd/%d", (long)getpid(), s->fd);
    return rc;
}

/* ---- All ---- */

/* Adds a file, or as much of it as is needed. */
static int add(struct tune_sample *s, const struct input_form *form, const char *file, uint64_t *left, struct err *e)
{
    unsigned char magic[DECOMPRESSOR_MAGIC];
    struct stat st;
    bool is_stdin = strcmp(file, "-") == 0;
    int fd = fd_open_input(file, e);
    if (fd < 0)
        return -1;
    bool again = !is_stdin && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    ssize_t n = again ? fd_pread(fd, magic, sizeof magic, 0, file, e) : 0;
    if (!is_stdin)
        close(fd);
    if (n < 0)
        return -1;
    if (form->last_cut && !again) /* files in such a format are not cut */
        return err_set(e, EX_USAGE, "%s: cannot be read again; with --%s, name files", fd_name(file), form->name);
    bool is_packed = decompressor_knows(magic, (size_t)n), is_gzip = is_packed && magic[0] == 0x1f;
    uint64_t size = again ? (uint64_t)st.st_size : 0, text = is_packed ? ACCESS_RATIO * size : size;
    if (again && (text <= *left || form->last_cut)) {
        s->bytes += size;
        *left -= text < *left ? text : *left;
        return command_line_add(&s->files, e, file);
    }
    if (copy_part(s, file, *left, form->end >= 0 ? (char)form->end : '\n', is_gzip, e))
        return -1;
    *left = 0;
    s->bytes += fstat(s->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return command_line_add(&s->files, e, s->path);
}

int tune_sample_take(struct tune_sample *s, const struct tune *t, struct err *e)
{
    const struct input_form *form = input_forms[source_options_form(&t->chunk.source)];
    uint64_t left = t->sample;
    int rc = 0;
    *s = (struct tune_sample){.fd = -1};
    for (int i = 0; i < t->n_files && left && rc == 0; i++)
        rc = add(s, form, t->files[i], &left, e);
    return rc;
}

void tune_sample_free(struct tune_sample *s)
{
    command_line_free(&s->files);
    job_close(&s->fd);
}
