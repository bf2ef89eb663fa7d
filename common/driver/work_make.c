/* work_make.c - makes DIR/chunks: see work.h. */
#include "driver/work.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "driver/partition.h"
#include "driver/resume.h"
#include "driver/stage.h"
#include "wire/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Small files ---- */

/* Creates a new file in DIR/chunks.new, and sets *path to its path (owned by the caller). -1: EX_CANTCREAT. */
static int create(const char *dir, const char *name, char **path, struct err *e)
{
    *path = fd_path(dir, name, e);
    int fd = *path ? open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    return fd >= 0 || !*path ? fd : err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", *path);
}

static int put_file(const char *dir, const char *name, const void *p, size_t n, struct err *e)
{
    char *path;
    int fd = create(dir, name, &path, e), rc = fd < 0 || fd_write(fd, p, n, path, e) || durable_file(fd, path, e);
    job_close(&fd);
    free(path);
    return rc ? -1 : 0;
}

/* Writes words, each followed by a NUL byte. */
static int put_words(const char *dir, const char *name, const struct option_words *w, struct err *e)
{
    struct buf b = {0};
    int rc = 0;
    for (size_t i = 0; i < w->n && rc == 0; i++)
        rc = buf_put(&b, w->at[i], strlen(w->at[i]) + 1, e);
    rc = rc || put_file(dir, name, b.p, b.len, e) ? -1 : 0;
    buf_free(&b);
    return rc;
}

/* ---- Parts ---- */

static int refuse_others(const struct work *w, struct err *e)
{
    static const char *const ours[] = {".", "..", "lock", "chunks.new", NULL};
    DIR *dir = opendir(w->dir);
    int rc = 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (!str_in(d->d_name, ours))
            rc = err_set(e, EX_USAGE, "%s: holds other files; this needs a directory of its own", w->dir);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* Reads the next record, and returns its type; 0 at the end of the stream. */
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

/* job_result, without messages if the job succeeded: the work itself repeats them. */
static int quiet_result(struct job *j)
{
    struct err ignored;
    struct buf line = {0};
    int status = job_outcome(j, &line, &ignored);
    buf_free(&line);
    return status ? job_result(j) : 0;
}

/* Whether bpe-chunk passes the text of some of these files by value: 1 or 0. -1: an error; if bpe-chunk failed, *status
 * is its exit status, whose reason was printed. */
static int is_by_value(struct work *w, char **files, int n, int *status, struct err *e)
{
    int ends[2] = {-1, -1}, type = 0, rc = job_pipe(ends, e);
    if (rc == 0)
        rc = stage_chunk(w->job, &(struct job_start){.in = -1, .out = ends[1]}, &w->chunk, NULL, files, n, e);
    job_close(&ends[1]);
    while (rc == 0 && (type = next_type(ends[0], e)) > 0 && type != RECORD_CHUNK) {
    }
    job_close(&ends[0]);
    if (type == RECORD_CHUNK)
        job_end(w->job); /* it has more to write */
    job_wait_all(w->job);
    *status = rc || type < 0 ? 0 : quiet_result(w->job);
    job_forget(w->job);
    return rc || type < 0 || *status ? -1 : type == RECORD_CHUNK;
}

/* Writes a part that consists of a file's name, and its weight if it has one. */
static int put_file_part(const char *new, size_t number, const char *file, const char *weight, struct err *e)
{
    struct option_words words = {0};
    char name[32];
    snprintf(name, sizeof name, "file.%05zu", number);
    int rc = option_words_add(&words, e, "%s", file) || (weight && option_words_add(&words, e, "%s", weight)) ||
                     put_words(new, name, &words, e)
                 ? -1
                 : 0;
    option_words_free(&words);
    return rc;
}

/* Writes bytes [begin, end) of the records as a part. */
static int put_part(const char *new, size_t number, int chunks, uint64_t begin, uint64_t end, struct err *e)
{
    char name[32], *path;
    snprintf(name, sizeof name, "part.%05zu", number);
    int fd = create(new, name, &path, e);
    int rc = fd < 0 || partition_copy(chunks, begin, end, fd, path, e) || durable_file(fd, path, e) ? -1 : 0;
    job_close(&fd);
    free(path);
    return rc;
}

/* Makes parts from the records of some files, with text by reference. The records are small (--dealt), so that parts
 * are even. */
static int put_record_parts(struct work *w, const char *new, char **files, int n_files, int *status, struct err *e)
{
    struct partition parts = {0};
    struct option_words dealt = {0};
    struct stat st;
    uint64_t *ends = NULL;
    char *path;
    int rc = -1, chunks = create(new, "chunks", &path, e);
    if (chunks < 0)
        goto end;
    for (size_t i = 0; i < w->chunk.n; i++) {
        if (option_words_add(&dealt, e, "%s", w->chunk.at[i]))
            goto end;
    }
    if (option_words_add(&dealt, e, "--dealt") ||
        stage_chunk(w->job, &(struct job_start){.in = -1, .out = chunks, .writes = new}, &dealt, w->options, files,
                    n_files, e))
        goto end;
    job_wait_all(w->job);
    *status = job_result(w->job);
    job_forget(w->job);
    if (*status || partition_read(&parts, path, e))
        goto end;
    size_t n = w->max ? w->max : partition_number(&parts, w->jobs, 1000);
    ends = calloc(n, sizeof *ends);
    if (!ends) {
        err_mem(e, "parts", n * sizeof *ends);
        goto end;
    }
    n = partition_divide(&parts, n, ends);
    if (n == 0) { /* no text: only the promise */
        ends[0] = fstat(chunks, &st) == 0 ? (uint64_t)st.st_size : 0;
        n = 1;
    }
    rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = put_part(new, i, chunks, i ? ends[i - 1] : 0, ends[i], e);
    rc = rc || resume_remove(path, e) ? -1 : 0;
end:
    job_close(&chunks);
    partition_free(&parts);
    option_words_free(&dealt);
    free(ends);
    free(path);
    return rc;
}

/* Makes all parts, in the directory `new`. */
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
        if (alone > 0 && w->encodes)
            rc = err_set(e, EX_USAGE,
                         "%s: its text can only be piped, so bpe tasks cannot encode it; see bpe shard --via",
                         w->files[i]);
        else if (alone > 0)
            rc = put_file_part(new, n_file_parts++, w->files[i], option_placed_of(&w->options->weights, i), e);
        else if (alone == 0)
            text[n_records++] = w->files[i]; /* n_records < next, so this overwrites no name still needed */
        else
            rc = -1;
    }
    rc = rc || (n_records && put_record_parts(w, new, text, n_records, status, e)) ? -1 : 0;
    free(text);
    return rc;
}

/* Writes the files that work_read reads. */
static int put_notes(const struct work *w, const char *new, struct err *e)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return err_sys(e, EX_OSERR, errno, "cannot determine the current directory");
    if (put_words(new, "worker", &w->worker, e) || put_words(new, "chunk", &w->chunk, e) ||
        put_words(new, "parquet", &w->options->reader, e) || put_file(new, "where", here, strlen(here) + 1, e))
        return -1;
    return 0;
}

int work_check_reader(const struct work *w, struct err *e)
{
    enum { NOT_INSTALLED = 127 };
    struct command_line l = {0};
    const struct job_start how = {.in = -1, .out = -1};
    int first = 0, rc = 0;
    while (first < w->n_files && !command_is_parquet(w->options, w->files[first]))
        first++;
    if (first < w->n_files) {
        rc = command_line_parquet(&l, w->options, e) || command_line_add(&l, e, "--list") ||
                     command_line_files(&l, &w->files[first], 1, e) || command_line_start(w->job, &how, &l, e)
                 ? -1
                 : 0;
        job_wait_all(w->job);
        if (rc == 0 && w->job->at[0]->status == NOT_INSTALLED)
            rc = job_result(w->job);
        job_forget(w->job);
    }
    command_line_free(&l);
    return rc;
}

int work_make(struct work *w, struct str asked, struct str inputs, int *status, struct err *e)
{
    char *new = fd_path(w->dir, "chunks.new", e);
    if (!new || refuse_others(w, e) || resume_remove_directory(new, e)) {
        free(new);
        return -1;
    }
    int rc = mkdir(new, 0777)
                 ? err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", new)
                 : make_parts(w, new, status, e) || put_notes(w, new, e) || resume_note(new, asked, inputs, e) ||
                       durable_directory(new, e) || durable_rename(new, w->chunks, e) || durable_directory(w->dir, e);
    struct err ignored;
    if (rc)
        resume_remove_directory(new, &ignored);
    free(new);
    return rc ? -1 : 0;
}
