/* resume.c - see resume.h. */
#include "driver/resume.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/shell_words.h"
#include "base/sys/str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ASKED "asked"
#define INPUTS "inputs"
#define NEW "note.new" /* either of them while it is being written */

/* ---- The directory ---- */

/* Creates a directory and its parents. -1: see errno. */
static int make_all(char *path)
{
    for (char *end = path + 1;; end++) {
        if (*end && *end != '/')
            continue;
        char was = *end;
        *end = '\0';
        int rc = mkdir(path, 0777), why = errno;
        *end = was;
        if (rc && why != EEXIST) {
            errno = why;
            return -1;
        }
        if (!was)
            return rc;
    }
}

int resume_make_directory(const char *dir, struct err *e)
{
    struct stat st;
    char *path = strdup(dir);
    if (!path)
        return err_mem(e, "a file name", strlen(dir));
    int rc = make_all(path), why = errno;
    free(path);
    if (rc && (why != EEXIST || stat(dir, &st) < 0 || !S_ISDIR(st.st_mode)))
        return err_sys(e, EX_CANTCREAT, why, "%s: cannot create", dir);
    return access(dir, W_OK) ? err_set(e, EX_CANTCREAT, "%s: cannot write there", dir) : 0;
}

static bool is_locked(void)
{
    return errno == EWOULDBLOCK || errno == EINTR;
}

int resume_try_lock(const char *dir, int fd, int milliseconds, struct err *e)
{
    enum { STEP_MS = 20 };
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    for (; rc && is_locked() && milliseconds > 0; milliseconds -= STEP_MS) {
        nanosleep(&step, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return !rc ? 0 : is_locked() ? 1 : err_sys(e, EX_OSERR, errno, "%s: cannot be locked", dir);
}

int resume_lock(struct job *j, const char *dir, int fd, struct err *e)
{
    enum { PATIENCE_MS = 1000 };
    char line[1000];
    int rc = resume_try_lock(dir, fd, PATIENCE_MS, e);
    if (rc <= 0)
        return rc;
    snprintf(line, sizeof line, "%.900s: other processes are working there; waiting for them", dir);
    job_print(j->command, line);
    while ((rc = flock(fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    return rc ? err_sys(e, EX_OSERR, errno, "%s: cannot be locked", dir) : 0;
}

int resume_only_file(const char *path, struct err *e)
{
    struct stat st;
    return lstat(path, &st) < 0 || S_ISREG(st.st_mode)
               ? 0
               : err_set(e, EX_CANTCREAT, "%s: is not a regular file; remove it, or give another directory", path);
}

int resume_lock_file(struct job *j, const char *dir, const char *name, struct err *e)
{
    char *path = fd_path(dir, name, e);
    bool ready = path && resume_make_directory(dir, e) == 0 && resume_only_file(path, e) == 0;
    int fd = ready ? fd_open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, EX_CANTCREAT, e) : -1;
    if (fd >= 0 && resume_lock(j, dir, fd, e))
        job_close(&fd);
    free(path);
    return fd;
}

int resume_only_files(const char *dir, const char *except, struct err *e)
{
    DIR *list = opendir(dir);
    int rc = 0;
    if (!list)
        return errno == ENOENT ? 0 : err_sys(e, EX_CANTCREAT, errno, "%s: cannot open", dir);
    for (const struct dirent *d; rc == 0 && (d = readdir(list));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || (except && strcmp(d->d_name, except) == 0))
            continue;
        char *path = fd_path(dir, d->d_name, e);
        rc = path ? resume_only_file(path, e) : -1;
        free(path);
    }
    closedir(list);
    return rc;
}

int resume_remove(const char *path, struct err *e)
{
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
               ? 0
               : err_sys(e, EX_IOERR, errno, "%s: cannot remove", path);
}

int resume_remove_directory(const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    int rc = 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 && unlinkat(dirfd(dir), d->d_name, 0))
            rc = err_sys(e, EX_IOERR, errno, "%s/%s: cannot remove", path, d->d_name);
    }
    if (dir)
        closedir(dir);
    return rc == 0 && rmdir(path) && errno != ENOENT ? err_sys(e, EX_IOERR, errno, "%s: cannot remove", path) : rc;
}

int resume_publish(const char *made, const char *path, struct err *e)
{
    int fd = fd_open_file(made, O_RDONLY | O_NOFOLLOW, EX_IOERR, e);
    if (fd < 0) /* another process with the same result may have tidied up */
        return errno == ENOENT && access(path, F_OK) == 0 ? 0 : -1;
    int rc = durable_file(fd, made, e);
    close(fd);
    if (rc)
        return -1;
    if (link(made, path) == 0 || errno == EEXIST)
        return resume_remove(made, e);
    /* Some file systems have no hard links. Another process with the same result may have tidied up only now. */
    if (rename(made, path) == 0 || (errno == ENOENT && access(path, F_OK) == 0))
        return 0;
    return err_sys(e, EX_IOERR, errno, "%s: cannot create", path);
}

/* ---- Words ---- */

int resume_put_words(struct buf *to, const char *const *words, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = (to->len && buf_put_byte(to, ' ', e)) || shell_words_show(to, words[i], e) ? -1 : 0;
    return rc;
}

int resume_put_asked(struct buf *to, const struct option_words *reader, const struct option_words *chunk,
                     const char *const *worker, size_t n_worker, char **files, int n_files, struct err *e)
{
    size_t same = 0;
    while (same < chunk->n && same < n_worker && strcmp(chunk->at[same], worker[same]) == 0)
        same++;
    if (resume_put_words(to, (const char *const *)reader->at, reader->n, e) ||
        resume_put_words(to, (const char *const *)chunk->at, chunk->n, e) ||
        resume_put_words(to, worker + same, n_worker - same, e) || buf_put_str(to, " --", e) ||
        resume_put_words(to, (const char *const *)files, (size_t)n_files, e))
        return -1;
    return 0;
}

/* ---- Inputs ---- */

/* Whether it is the name of a remote file, such as s3://bucket/key. */
static bool is_remote(const char *name)
{
    const char *end = strstr(name, "://");
    if (!end || !isalpha((unsigned char)*name))
        return false;
    for (const char *p = name; p < end; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("+.-:", *p))
            return false;
    }
    return true;
}

bool resume_may_be_read_again(const char *name)
{
    const bool device = strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/shm/", 9) != 0;
    return *name && strcmp(name, "-") != 0 && !device && strncmp(name, "/proc/", 6) != 0;
}

/* 1: a regular file; 0: something else; -1: not readable. */
static int look_at(const char *name, bool local, struct stat *st, struct err *e)
{
    if (!resume_may_be_read_again(name) && *name)
        return 0;
    if (local && is_remote(name))
        return err_set(e, EX_USAGE, "%s: a remote file, whose changes could not be detected; copy it here", name);
    if (stat(name, st) < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", name);
    if (S_ISDIR(st->st_mode))
        return err_set(e, EX_NOINPUT, "%s: is a directory", name);
    return S_ISREG(st->st_mode);
}

static int put_line(struct buf *to, struct err *e)
{
    return to->len ? buf_put_byte(to, '\n', e) : 0;
}

/* Appends the line of a regular file. */
static int put_input(struct buf *to, const struct stat *st, const char *name, struct err *e)
{
    if (buf_printf(to, e, "%lld %lld.%09ld ", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
                   st->st_mtim.tv_nsec) ||
        buf_put_str(to, name, e))
        return -1;
    return 0;
}

int resume_put_inputs(struct buf *to, char **files, int n, bool local, struct err *e)
{
    struct buf regular = {0};
    struct stat st;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        int kind = look_at(files[i], local, &st, e);
        if (kind < 0)
            rc = -1;
        else if (kind == 0)
            rc = put_line(to, e) || buf_put_str(to, "- - ", e) || buf_put_str(to, files[i], e) ? -1 : 0;
        else
            rc = put_line(&regular, e) || put_input(&regular, &st, files[i], e) ? -1 : 0;
    }
    if (rc == 0 && regular.len)
        rc = put_line(to, e) || buf_put(to, regular.p, regular.len, e) ? -1 : 0;
    buf_free(&regular);
    return rc;
}

int resume_only_regular(char **files, int n, const char *why, struct err *e)
{
    struct stat st;
    for (int i = 0; i < n; i++) {
        int kind = look_at(files[i], false, &st, e);
        if (kind <= 0)
            return kind < 0 ? -1 : err_set(e, EX_USAGE, "%s: cannot be read again%s", fd_name(files[i]), why);
    }
    return 0;
}

bool resume_reads_once(struct str inputs)
{
    return inputs.len >= 4 && (memcmp(inputs.p, "- - ", 4) == 0 || memmem(inputs.p, inputs.len, "\n- - ", 5) != NULL);
}

/* ---- The two files ---- */

static int write_note(const char *dir, const char *name, struct str text, struct err *e)
{
    struct buf line = {0};
    char *path = fd_path(dir, name, e), *made = path ? fd_path(dir, NEW, e) : NULL;
    int rc = !made || buf_put(&line, text.p, text.len, e) || buf_put_byte(&line, '\n', e) ||
                     durable_write(made, path, dir, line.p, line.len, e)
                 ? -1
                 : 0;
    buf_free(&line);
    free(made);
    free(path);
    return rc;
}

int resume_note(const char *dir, struct str asked, struct str inputs, struct err *e)
{
    if (write_note(dir, INPUTS, inputs, e) || write_note(dir, ASKED, asked, e))
        return -1;
    return 0;
}

/* Reads one of the two files, without trailing newlines; nothing if it does not exist. */
static int read_note(const char *dir, const char *name, struct buf *to, struct err *e)
{
    char *path = fd_path(dir, name, e);
    if (!path || resume_only_file(path, e)) {
        free(path);
        return -1;
    }
    int fd = fd_open_file(path, O_RDONLY | O_NOFOLLOW, EX_IOERR, e);
    int rc = fd >= 0 ? fd_read_all(fd, to, path, e) : errno == ENOENT ? 0 : -1;
    if (fd >= 0)
        close(fd);
    while (to->len && to->p[to->len - 1] == '\n')
        to->len--;
    free(path);
    return rc;
}

/* Takes the next line of a text. */
static struct str next_line(struct str *text)
{
    const unsigned char *end = text->len ? memchr(text->p, '\n', text->len) : NULL;
    struct str line = {text->p, end ? (size_t)(end - text->p) : text->len};
    size_t taken = line.len + (end != NULL);
    *text = (struct str){text->p + taken, text->len - taken};
    return line;
}

/* The name in a line of inputs. */
static struct str name_in(struct str line)
{
    for (int fields = 0; fields < 2; fields++) {
        const unsigned char *space = line.len ? memchr(line.p, ' ', line.len) : NULL;
        if (!space)
            return line;
        line = (struct str){space + 1, line.len - (size_t)(space + 1 - line.p)};
    }
    return line;
}

int resume_compare_input(const char *user, const char *dir, const char *where, const char *name, struct err *e)
{
    struct buf notes = {0}, now = {0};
    struct stat st;
    char *path = *name == '/' ? strdup(name) : fd_path(where, name, e);
    int rc = path ? read_note(dir, INPUTS, &notes, e) : -1;
    if (rc == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        rc = put_input(&now, &st, name, e);
    struct str all = buf_str(&notes), was = {0};
    for (bool found = false; rc == 0 && all.len && !found;) {
        struct str line = next_line(&all);
        found = str_equal(name_in(line), str_of(name));
        was = found ? line : was;
    }
    if (rc == 0 && !str_equal(was, buf_str(&now)))
        rc = err_set(e, EX_DATAERR, "%s: changed since %s was begun; plan the work again, in another directory", name,
                     user);
    buf_free(&notes);
    buf_free(&now);
    free(path);
    return rc;
}

static int changed(const char *name, struct str was, struct str is, struct err *e)
{
    struct str line;
    do
        line = next_line(&is);
    while (str_equal(next_line(&was), line) && is.len);
    line = name_in(line);
    return err_set(e, EX_DATAERR, "%.*s: changed since %s was begun; remove %s and run the same command again",
                   (int)line.len, (const char *)line.p, name, name);
}

int resume_compare(const char *name, const char *dir, struct str asked, struct str inputs, struct err *e)
{
    struct buf was = {0};
    int rc = read_note(dir, ASKED, &was, e);
    if (rc == 0 && !str_equal(buf_str(&was), asked))
        rc = err_set(e, EX_USAGE,
                     "%s was begun with: %.*s; give the same options and files, or another directory, or remove it to "
                     "start over",
                     name, was.len < 1500 ? (int)was.len : 1500, was.p ? (const char *)was.p : "");
    was.len = 0;
    rc = rc || read_note(dir, INPUTS, &was, e) ? -1 : 0;
    if (rc == 0 && !str_equal(buf_str(&was), inputs))
        rc = changed(name, buf_str(&was), inputs, e);
    buf_free(&was);
    return rc;
}
