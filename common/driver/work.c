/* work.c - see work.h. */
#include "driver/work.h"

#include "driver/command.h"
#include "driver/parts.h"
#include "driver/resume.h"
#include "io/durable.h"
#include "io/fd.h"
#include "records/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int work_open(struct work *w, const char *results, struct err *e)
{
    w->chunks = fd_path(w->dir, "chunks", e);
    w->results = fd_path(w->dir, results, e);
    return w->chunks && w->results ? 0 : -1;
}

void work_close(struct work *w)
{
    for (size_t i = 0; i < w->n_parts; i++) {
        free(w->parts[i].name);
        free(w->parts[i].made);
        buf_free(&w->parts[i].why);
    }
    free(w->parts);
    free(w->chunks);
    free(w->results);
}

/* ---- Small files ---- */

/* Writes a new file in DIR/chunks.new. */
static int put_file(const char *dir, const char *name, const void *p, size_t n, struct err *e)
{
    char *path = fd_path(dir, name, e);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    int rc = fd < 0 ? (path ? err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path) : -1)
                    : fd_write(fd, p, n, path, e) || durable_file(fd, path, e);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc ? -1 : 0;
}

/* Removes a directory of plain files; it may not be there. */
static int remove_directory(const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    int rc = 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 && unlinkat(dirfd(dir), d->d_name, 0))
            rc = err_sys(e, EX_IOERR, errno, "%s/%s: cannot remove", path, d->d_name);
    }
    if (dir)
        closedir(dir);
    return rc || (rmdir(path) && errno != ENOENT) ? (rc ? -1 : err_sys(e, EX_IOERR, errno, "%s: cannot remove", path))
                                                  : 0;
}

/* ---- Making DIR/chunks ---- */

static int refuse_others(const struct work *w, struct err *e)
{
    DIR *dir = opendir(w->dir);
    int rc = 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        static const char *const ours[] = {".", "..", "lock", "chunks.new"};
        bool known = false;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            known |= strcmp(d->d_name, ours[i]) == 0;
        if (!known)
            rc = err_set(e, EX_USAGE, "%s: holds other files; this needs a directory of its own", w->dir);
    }
    if (dir)
        closedir(dir);
    return rc;
}

int work_start_chunk(const struct work *w, int group, char **files, int n, int out, const char *writes, struct err *e)
{
    struct command_line l = {0};
    const struct job_start how = {.in = -1, .out = out, .stage = WORK_CHUNK, .group = group, .writes = writes};
    int rc = command_line_add(&l, e, "bpe-chunk") || command_line_options(&l, w->chunk_words, e) ||
                     command_line_files(&l, files, n, e) || command_line_start(w->job, &how, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    return rc;
}

/* Reads to the end of a record's header, or of the stream; the type, or 0. */
static int next_type(int fd, struct err *e)
{
    unsigned char head[RECORD_HEADER], skipped[16 << 10];
    size_t n = 0, left;
    for (ssize_t got = 1; n < sizeof head && got; n += (size_t)got) {
        got = fd_read(fd, head + n, sizeof head - n, "bpe-chunk", e);
        if (got < 0)
            return -1;
    }
    if (n < sizeof head || !record_begins(head, n))
        return 0;
    for (left = record_length(head) - n; left;) {
        ssize_t got = fd_read(fd, skipped, left < sizeof skipped ? left : sizeof skipped, "bpe-chunk", e);
        if (got <= 0)
            return (int)got;
        left -= (size_t)got;
    }
    return head[2];
}

/* job_result without the remarks of what ended well: they come again with the work. */
static int quiet_result(struct job *j)
{
    struct err ignored;
    struct buf line = {0};
    int status = job_outcome(j, &line, &ignored);
    buf_free(&line);
    return status ? job_result(j) : 0;
}

/* Whether bpe-chunk puts the text of some of these files into its records. 1, 0; -1 also if bpe-chunk failed: then
 * *status is its exit status, whose reason was printed. */
static int is_by_value(struct work *w, char **files, int n, int *status, struct err *e)
{
    int ends[2] = {-1, -1}, type = 0;
    int rc = job_pipe(ends, e) || work_start_chunk(w, 0, files, n, ends[1], NULL, e) ? -1 : 0;
    job_close(&ends[1]);
    while (rc == 0 && (type = next_type(ends[0], e)) > 0 && type != RECORD_CHUNK) {
    }
    job_close(&ends[0]);
    if (type == RECORD_CHUNK)
        job_end(w->job); /* it has more */
    job_wait_all(w->job);
    *status = rc || type < 0 ? 0 : quiet_result(w->job);
    job_forget(w->job);
    return rc || type < 0 || *status ? -1 : type == RECORD_CHUNK;
}

/* A part that is the name of a file. */
static int put_file_part(const char *new, size_t number, const char *file, struct err *e)
{
    char name[32];
    snprintf(name, sizeof name, "file.%05zu", number);
    return put_file(new, name, file, strlen(file) + 1, e);
}

/* Parts of the records of some files, which say where text is. */
static int put_record_parts(struct work *w, const char *new, char **files, int n_files, int *status, struct err *e)
{
    struct stat st;
    char name[32], *path = fd_path(new, "chunks", e);
    uint64_t begin = 0, *ends = NULL;
    int rc = -1, chunks = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (chunks < 0) {
        if (path)
            err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path);
        goto end;
    }
    if (work_start_chunk(w, 0, files, n_files, chunks, new, e))
        goto end;
    job_wait_all(w->job);
    *status = job_result(w->job);
    job_forget(w->job);
    if (*status)
        goto end;
    size_t n = parts_number(fstat(chunks, &st) == 0 ? (uint64_t)st.st_size : 0, w->jobs, 1000);
    ends = calloc(n, sizeof *ends);
    if (!ends) {
        err_mem(e, "parts", n * sizeof *ends);
        goto end;
    }
    rc = parts_find(chunks, path, n, ends, e);
    for (size_t i = 0, number = 0; i < n && rc == 0; begin = ends[i++]) {
        if (ends[i] == begin)
            continue;
        snprintf(name, sizeof name, "part.%05zu", number++);
        char *part = fd_path(new, name, e);
        int fd = part ? open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
        rc = !part || (fd < 0 && err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", part)) ||
                     parts_copy(chunks, begin, ends[i], fd, part, e) || durable_file(fd, part, e)
                 ? -1
                 : 0;
        job_close(&fd);
        free(part);
    }
    rc = rc || resume_remove(path, e) ? -1 : 0;
end:
    job_close(&chunks);
    free(ends);
    free(path);
    return rc;
}

/* All parts, in the directory `new`. */
static int make_parts(struct work *w, const char *new, int *status, struct err *e)
{
    int n = 0, n_records = 0, rc = 0, by_value = 0;
    size_t n_file_parts = 0;
    char **text = calloc((size_t)w->n_files, sizeof *text);
    if (!text)
        return err_mem(e, "names", (size_t)w->n_files * sizeof *text);
    for (int i = 0; i < w->n_files; i++) {
        if (!command_is_parquet(w->options, w->files[i]))
            text[n++] = w->files[i];
    }
    if (n)
        by_value = is_by_value(w, text, n, status, e);
    rc = by_value < 0 ? -1 : 0;
    for (int i = 0, next = 0; i < w->n_files && rc == 0; i++) {
        bool is_text = next < n && text[next] == w->files[i];
        next += is_text;
        int alone = !is_text ? 1 : by_value ? is_by_value(w, &w->files[i], 1, status, e) : 0;
        if (alone > 0)
            rc = put_file_part(new, n_file_parts++, w->files[i], e);
        else if (alone == 0)
            text[n_records++] = w->files[i]; /* never before its own place */
        else
            rc = -1;
    }
    rc = rc || (n_records && put_record_parts(w, new, text, n_records, status, e)) ? -1 : 0;
    free(text);
    return rc;
}

int work_make(struct work *w, struct str asked, struct str inputs, int *status, struct err *e)
{
    char *new = fd_path(w->dir, "chunks.new", e);
    if (!new || refuse_others(w, e) || remove_directory(new, e)) {
        free(new);
        return -1;
    }
    int rc = mkdir(new, 0777)
                 ? err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", new)
                 : make_parts(w, new, status, e) || resume_note(new, asked, inputs, e) || durable_directory(new, e) ||
                       durable_rename(new, w->chunks, e) || durable_directory(w->dir, e);
    struct err ignored;
    if (rc)
        remove_directory(new, &ignored);
    free(new);
    return rc ? -1 : 0;
}

/* ---- What there is to do ---- */

static int not_planned(const char *place, const char *word, struct err *e)
{
    return err_set(e, EX_DATAERR, "%s: '%s': not what planning writes there; plan the work anew, in another directory",
                   place, word);
}

/* The file of a part; it must be one of those that the command names. */
static int read_file_name(const struct work *w, struct work_part *p, struct err *e)
{
    struct buf b = {0};
    char *path = fd_path(w->chunks, p->name, e);
    int rc = path ? resume_only_file(path, e) || fd_read_file(path, &b, e) || buf_put_byte(&b, '\0', e) : -1;
    if (rc == 0) {
        const char *word = (const char *)b.p;
        for (int i = 0; i < w->n_files && !p->file; i++) {
            if (strcmp(w->files[i], word) == 0 && b.len == strlen(word) + 2)
                p->file = w->files[i];
        }
        if (!p->file)
            rc = not_planned(path, word, e);
    }
    buf_free(&b);
    free(path);
    return rc ? -1 : 0;
}

static int add_part(struct work *w, const char *name, struct err *e)
{
    struct stat st;
    const char *digits = strchr(name, '.') + 1;
    char place[700];
    if (!*digits || digits[strspn(digits, "0123456789")]) {
        snprintf(place, sizeof place, "%.600s/", w->chunks);
        return not_planned(place, name, e);
    }
    if (array_grow(&w->parts, &w->cap, w->n_parts + 1, sizeof *w->parts, "parts", e))
        return -1;
    struct work_part *p = &w->parts[w->n_parts];
    *p = (struct work_part){.name = strdup(name)};
    if (!p->name)
        return err_mem(e, "a name", strlen(name));
    w->n_parts++;
    char *result = fd_path(w->results, name, e);
    p->done = result && lstat(result, &st) == 0;
    if (p->done && S_ISREG(st.st_mode) && st.st_size == 0) /* a file system has lost what was in it */
        p->done = unlink(result) < 0;
    int rc = !result || (p->done && resume_only_file(result, e)) ? -1 : 0;
    free(result);
    if (rc == 0 && !p->done && *name == 'f')
        rc = read_file_name(w, p, e);
    return rc;
}

/* Those of records first: their failures count first. */
static int by_order(const void *a, const void *b)
{
    const struct work_part *p = a, *q = b;
    return *p->name != *q->name ? *q->name - *p->name : strcmp(p->name, q->name);
}

int work_find_parts(struct work *w, struct err *e)
{
    DIR *dir = opendir(w->chunks);
    int rc = dir ? 0 : err_sys(e, EX_IOERR, errno, "%s: cannot open", w->chunks);
    for (const struct dirent *d; rc == 0 && (d = readdir(dir));) {
        if (strncmp(d->d_name, "part.", 5) == 0 || strncmp(d->d_name, "file.", 5) == 0)
            rc = add_part(w, d->d_name, e);
    }
    if (dir)
        closedir(dir);
    if (w->n_parts)
        qsort(w->parts, w->n_parts, sizeof *w->parts, by_order);
    return rc;
}

/* ---- Results ---- */

char *work_own_name(const char *dir, const char *name, struct err *e)
{
    char text[64];
    snprintf(text, sizeof text, ".%.32s.new.%ld", name, (long)getpid());
    return fd_path(dir, text, e);
}

/* Removes those of a directory: what work_own_name has named. */
static void remove_attempts(const char *path)
{
    DIR *dir = opendir(path);
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        if (*d->d_name == '.' && strstr(d->d_name, ".new."))
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void work_remove_attempts(const struct work *w)
{
    remove_attempts(w->results);
    remove_attempts(w->dir);
}
