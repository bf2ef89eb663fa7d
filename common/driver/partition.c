/* partition.c - see partition.h. */
#include "driver/partition.h"

#include "base/io/fd.h"
#include "driver/installed.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int partition_file(const char *dir, struct err *e)
{
    dir = dir ? dir : installed_temporary();
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || errno == ENOENT)
        return fd >= 0 ? fd : err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary file there", dir);
    char *name = fd_path(dir, "bpe-XXXXXX", e); /* a file system without O_TMPFILE */
    fd = name ? mkostemp(name, O_CLOEXEC) : -1;
    if (fd >= 0)
        unlink(name);
    else if (name)
        err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary file there", dir);
    free(name);
    return fd;
}

/* ---- Reading ---- */

/* About how many bytes of text a record has or refers to. */
static int text_of(const struct record *rec, uint64_t *text, struct err *e)
{
    struct range_head head;
    struct source_facts file;
    struct cursor c;
    uint64_t at, len;
    *text = rec->raw_len;
    if (rec->type == RECORD_CHUNK)
        return 0;
    int rc = range_get_head(&head, &c, rec, e);
    *text = 0;
    for (uint64_t i = 0; i < head.n_files && rc == 0; i++) {
        rc = range_get_file(&file, &c, e);
        for (uint64_t k = 0; rc == 0 && k < file.n_pieces; k++) {
            rc = range_get_piece(&at, &len, &file, &c, e);
            *text += access_text(file.access, len);
        }
    }
    return rc;
}

static int consume(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct partition *p = ctx;
    uint64_t text = 0, before = p->n ? p->at[p->n - 1].text : 0;
    (void)stream;
    if (rec->type == RECORD_RANGE || rec->type == RECORD_CHUNK) {
        if (text_of(rec, &text, e) || array_grow(&p->at, &p->cap, p->n + 1, sizeof *p->at, "records", e))
            return -1;
        p->n++;
    } else if (p->n == 0) {
        return 0;
    }
    p->at[p->n - 1] = (struct partition_record){.end = rec->offset + rec->raw_len, .text = before + text};
    return 0;
}

int partition_read(struct partition *p, const char *path, struct err *e)
{
    return record_each_of(path, consume, p, e);
}

void partition_free(struct partition *p)
{
    free(p->at);
    *p = (struct partition){0};
}

/* ---- Dividing ---- */

static uint64_t all_text(const struct partition *p)
{
    return p->n ? p->at[p->n - 1].text : 0;
}

size_t partition_number(const struct partition *p, uint64_t jobs, size_t max)
{
    const uint64_t part = 512 << 20;
    uint64_t rounds = (all_text(p) / part + jobs - 1) / jobs;
    rounds = rounds < 1 ? 1 : rounds > max ? max : rounds;
    return (size_t)(rounds * jobs);
}

size_t partition_divide(const struct partition *p, size_t n, uint64_t *ends)
{
    size_t next = 0;
    n = n < p->n ? n : p->n;
    for (size_t i = 0; i < n; i++) {
        double want = (double)all_text(p) * (double)(i + 1) / (double)n;
        size_t first = next, last = p->n - (n - i); /* leave a record for each later part */
        while (next < last && (double)p->at[next].text < want)
            next++;
        if (next > first && want - (double)p->at[next - 1].text < (double)p->at[next].text - want)
            next--;
        ends[i] = p->at[i + 1 < n ? next : p->n - 1].end;
        next++;
    }
    return n;
}

int partition_copy(int from, uint64_t begin, uint64_t end, int to, const char *name, struct err *e)
{
    char window[16 << 10];
    while (begin < end) {
        size_t want = end - begin < sizeof window ? (size_t)(end - begin) : sizeof window;
        ssize_t n = fd_pread(from, window, want, begin, name, e);
        if (n < 0 || (n > 0 && fd_write(to, window, (size_t)n, name, e)))
            return -1;
        if (n == 0)
            return err_set(e, EX_IOERR, "%s: became shorter while it was read", name);
        begin += (uint64_t)n;
    }
    return 0;
}
