/* count_files.c - see count_files.h. */
#include "count/count_files.h"

#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/input.h"
#include "base/sys/hash.h"
#include "input/windows.h"
#include "pretok/scan.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"
#include "wire/record.h"
#include "wire/record_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)WINDOW_PAD >= (int)SCAN_PAD, "a pretoken in a window can be scanned");

#define OUTPUT "standard output"

static const struct ratio unweighted = {1, 1};

struct count_file {
    const char *path; /* borrowed */
    char *name;       /* owned: its absolute path */
    unsigned char run[ID_LEN];
    enum source_access access;
    uint64_t size; /* by value: known when it has been read */
    uint64_t mtime_s, mtime_ns, inode;
    bool again; /* it was named before */
};

/* ---- The runs ---- */

static void set_stat(struct count_file *f, const struct stat *st)
{
    f->size = (uint64_t)st->st_size;
    f->mtime_s = (uint64_t)st->st_mtim.tv_sec;
    f->mtime_ns = (uint64_t)st->st_mtim.tv_nsec;
    f->inode = (uint64_t)st->st_ino;
}

/* Sets the id of a regular file's run, and whether it is compressed. */
static int identify(struct count_file *f, int fd, struct err *e)
{
    enum { END = 16 << 10 };
    unsigned char bytes[END], numbers[32];
    const uint64_t facts[] = {f->size, f->mtime_s, f->mtime_ns, f->inode},
                   at[] = {0, f->size < END ? 0 : f->size - END};
    struct hash128 *h = hash128_new(e);
    if (!h)
        return -1;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        store_le(numbers + 8 * i, 8, facts[i]);
    hash128_add(h, "bpe-count --counts", 18);
    hash128_add(h, numbers, sizeof numbers);
    hash128_add(h, f->name, strlen(f->name));
    ssize_t got = 0;
    for (int i = 0; i < 2 && got >= 0; i++) {
        got = fd_pread(fd, bytes, END, at[i], f->path, e);
        if (got >= 0)
            hash128_add(h, bytes, (size_t)got);
        if (i == 0)
            f->access = got > 0 && decompressor_knows(bytes, (size_t)got) ? ACCESS_COMPRESSED : ACCESS_FILE;
    }
    hash128_get(h, f->run);
    hash128_free(h);
    return got < 0 ? -1 : 0;
}

/* Finds out what a path names, and which run it is. */
static int look_at(struct count_file *f, const char *path, struct err *e)
{
    struct stat st;
    *f = (struct count_file){.path = path, .access = ACCESS_VALUE};
    random_bytes(f->run, ID_LEN);
    bool named = strcmp(path, "-") != 0 && !fd_is_private(path);
    if (named && stat(path, &st))
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
    if (named && S_ISDIR(st.st_mode))
        return err_set(e, EX_NOINPUT, "%s: is a directory; name the files in it", path);
    bool regular = named && S_ISREG(st.st_mode) && st.st_size > 0; /* files of size 0 in /proc may have text */
    f->name = regular ? realpath(path, NULL) : strdup(fd_name(path));
    if (!f->name)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot find its absolute path", path);
    if (!regular)
        return 0;
    int fd = fd_open_regular(path, e);
    if (fd < 0)
        return -1;
    int rc = fstat(fd, &st) ? err_sys(e, EX_IOERR, errno, "%s: cannot read", path) : 0;
    if (rc == 0) {
        set_stat(f, &st);
        rc = identify(f, fd, e);
    }
    close(fd);
    return rc;
}

static int by_run(const void *x, const void *y)
{
    const struct count_file *const *a = x, *const *b = y;
    int order = memcmp((*a)->run, (*b)->run, ID_LEN);
    return order ? order : (*a > *b) - (*a < *b);
}

/* Marks the files that are named more than once. */
static int find_repeated(struct count_files *c, struct err *e)
{
    struct count_file **sorted = calloc(c->n + 1, sizeof *sorted), *first = NULL;
    if (!sorted)
        return err_mem(e, "the list of inputs", c->n * sizeof *sorted);
    for (size_t i = 0; i < c->n; i++)
        sorted[i] = &c->file[i];
    qsort(sorted, c->n, sizeof *sorted, by_run);
    for (size_t i = 1; i < c->n; i++) {
        struct count_file *f = sorted[i];
        f->again = memcmp(f->run, sorted[i - 1]->run, ID_LEN) == 0;
        if (f->again && (!first || f < first))
            first = f;
    }
    c->again = first ? first->path : NULL;
    free(sorted);
    return 0;
}

/* ---- Records ---- */

static int put_promise(struct count_files *c, const struct count_file *f, struct err *e)
{
    const struct promise_head head = {buf_str(&c->rules), 1};
    const struct source_facts source = {.name = str_of(f->name),
                                        .reading = buf_str(&c->reading),
                                        .access = f->access,
                                        .size = f->size,
                                        .mtime_s = f->mtime_s,
                                        .mtime_ns = f->mtime_ns};
    struct buf content = {0};
    c->out.len = 0;
    int rc = promise_put_head(&content, &head, e) || promise_put_source(&content, &source, e) ||
             fragments_put(&c->out, RECORD_PROMISE, f->run, 0, &content, e) || record_write(1, OUTPUT, &c->out, e);
    buf_free(&content);
    return rc ? -1 : 0;
}

/* Writes what makes the run of a file known before it is read. */
static int announce(struct count_files *c, const struct count_file *f, struct err *e)
{
    if (f->access != ACCESS_VALUE)
        return put_promise(c, f, e);
    batch_begin(&c->batch, RECORD_WORDS, 1, OUTPUT, f->run);
    return batch_announce(&c->batch, e);
}

/* Writes the remaining counts and the commit of a file, and its promise if that was not known before. */
static int put_end(struct count_files *c, struct count_file *f, uint64_t len, struct err *e)
{
    if (f->access == ACCESS_VALUE)
        f->size = len;
    const struct commit_range range = {0, 0, f->size};
    const struct commit_run run = {
        .run = f->run, .promised_bytes = f->size, .total = f->size, .range = &range, .n_ranges = 1};
    bool differs = !c->lines.text_overflows && c->lines.text != f->size;
    c->runs.len = 0;
    if (f->size && (counter_put(&c->counter, unweighted, &c->batch, e) || commit_put_run(&c->runs, &run, e) ||
                    (differs && commit_put_text(&c->runs, c->lines.text, e)) ||
                    batch_end(&c->batch, RECORD_COMMIT, buf_str(&c->rules), &c->runs, 1, e)))
        return -1;
    return f->access == ACCESS_VALUE ? put_promise(c, f, e) : 0;
}

/* ---- Counting ---- */

static ptrdiff_t take_window(void *ctx, const unsigned char *p, size_t n, uint64_t offset, bool last, struct err *e)
{
    struct count_files *c = ctx;
    size_t where;
    ptrdiff_t used = count_lines_take(&c->lines, p, n, last, &where, e);
    if (used < 0) {
        c->offset = offset + where;
        return -1;
    }
    return counter_is_full(&c->counter, c->memory, true) && counter_put(&c->counter, unweighted, &c->batch, e) ? -1
                                                                                                               : used;
}

/* Checks that a regular file is still the one that was promised. */
static int check_same(const struct count_file *f, struct err *e)
{
    struct stat st;
    struct count_file now = *f;
    if (f->access == ACCESS_VALUE)
        return 0;
    if (stat(f->path, &st))
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot be found again", f->path);
    set_stat(&now, &st);
    return now.size == f->size && now.mtime_s == f->mtime_s && now.mtime_ns == f->mtime_ns && now.inode == f->inode
               ? 0
               : err_at(e, EX_DATAERR, f->path, ERR_NO_OFFSET, "changed while it was read; run the same command again");
}

/* Reads the rest of a stream, whose writer must not fail because of an error here. */
static void drain(struct count_files *c, struct input *in)
{
    struct err ignored;
    while (c->window.cap && input_read(in, c->window.p, c->window.cap, &ignored) > 0)
        ;
}

static int count_file(struct count_files *c, struct count_file *f, struct err *e)
{
    const struct buf none = {0};
    uint64_t len;
    c->now = f;
    c->offset = 0;
    struct input *in = f->access == ACCESS_VALUE ? input_open(f->path, e) : input_open_regular(f->path, e);
    if (!in)
        return -1;
    count_lines_begin(&c->lines, input_name(in));
    batch_begin(&c->batch, RECORD_WORDS, 1, OUTPUT, f->run);
    int rc = windows_of_input(&c->window, in, &none, take_window, c, &len, e);
    if (rc && f->access == ACCESS_VALUE)
        drain(c, in);
    if (f->access == ACCESS_COMPRESSED)
        c->offset = 0;
    rc = rc || input_unchanged(in, e) || check_same(f, e) || put_end(c, f, len, e) ? -1 : 0;
    input_close(in);
    return rc;
}

/* ---- All files ---- */

int count_files_open(struct count_files *c, const struct rules *rules, enum counts_order order, bool raw,
                     uint64_t memory, struct err *e)
{
    const struct reading reading = {.counts = order, .raw = raw};
    c->memory = memory;
    if (counter_open(&c->counter, rules, INVALID_BYTES, e) || rules_put(&c->rules, rules, e) ||
        record_text_rules(&c->rules_text, buf_str(&c->rules), e) || reading_put(&c->reading, &reading, e))
        return -1;
    pretoken_check_init(&c->check, &c->counter.pretokenizer, rules);
    count_lines_init(&c->lines, order, raw, buf_str(&c->rules_text), &c->counter.table, &c->check);
    return 0;
}

void count_files_close(struct count_files *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->file[i].name);
    free(c->file);
    counter_close(&c->counter);
    pretoken_check_free(&c->check);
    count_lines_free(&c->lines);
    batch_free(&c->batch);
    struct buf *all[] = {&c->rules, &c->reading, &c->rules_text, &c->window, &c->runs, &c->out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_free(all[i]);
    *c = (struct count_files){0};
}

int count_files_run(struct count_files *c, char *const *paths, size_t n, struct err *e)
{
    c->file = calloc(n + 1, sizeof *c->file);
    if (!c->file)
        return err_mem(e, "the list of inputs", n * sizeof *c->file);
    for (; c->n < n; c->n++) {
        if (look_at(&c->file[c->n], paths[c->n], e)) {
            free(c->file[c->n].name);
            return -1;
        }
    }
    if (find_repeated(c, e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!c->file[i].again && announce(c, &c->file[i], e))
            return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!c->file[i].again && count_file(c, &c->file[i], e))
            return -1;
    }
    c->now = NULL;
    return 0;
}

void count_files_send_failure(const struct count_files *c, const struct err *e)
{
    failure_send(1, c->now ? c->now->run : NULL, c->now ? 0 : FAILURE_NOWHERE, c->now ? c->offset : FAILURE_NOWHERE, e);
}
