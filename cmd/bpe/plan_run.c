/* plan_run.c - see plan_run.h. */
#include "bpe/plan_run.h"

#include "driver/installed.h"
#include "driver/partition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3 };
#define ENOUGH 0.2 /* seconds that are worth no second round */

/* The names of the descriptors from JOB_FIRST_MORE on. A file that is named /dev/fd/N is another one in each process to
 * bpe-chunk, which then writes its text; these are the same in bpe-count, and are to be read as any file is. */
const char *const plan_names[JOB_MORE] = {"/dev/./fd/4", "/dev/./fd/5", "/dev/./fd/6",  "/dev/./fd/7",
                                          "/dev/./fd/8", "/dev/./fd/9", "/dev/./fd/10", "/dev/./fd/11"};

/* A number after `word` in a line; NULL: there is none. Sets *end to what follows. */
static const char *number_after(const char *line, const char *word, uint64_t *n, const char **end)
{
    const char *at = strstr(line, word), *digits = at ? at + strlen(word) : NULL;
    if (!digits || *digits < '0' || *digits > '9')
        return NULL;
    char *stop;
    *n = strtoull(digits, &stop, 10);
    *end = stop;
    return at;
}

/* Where a line of a part begins. */
static uint64_t line_begin(int fd, uint64_t line)
{
    char window[16 << 10];
    ssize_t n;
    for (uint64_t at = 0; line > 1 && (n = pread(fd, window, sizeof window, (off_t)at)) > 0; at += (uint64_t)n) {
        for (const char *p = window; (p = memchr(p, '\n', (size_t)(window + n - p))) != NULL;) {
            p++;
            if (--line == 1)
                return at + (uint64_t)(p - window);
        }
    }
    return 0;
}

/* Says of which FILE a message is, and which byte of its text, where a program names a part. */
static int put_origin(const struct plan_runner *r, int part, const char *line, struct buf *to, struct err *e)
{
    const char *end, *name;
    char byte[100], number[100];
    uint64_t n, offset;
    snprintf(byte, sizeof byte, "%s: byte ", plan_names[0]);
    snprintf(number, sizeof number, "%s: line ", plan_names[0]);
    const char *at = number_after(line, byte, &n, &end);
    if (!at && (at = number_after(line, number, &n, &end)) != NULL)
        n = line_begin(r->s->part[part], n);
    if (!at || !(name = plan_sample_origin(r->s, (size_t)part, n, &offset)))
        return buf_put(to, line, strlen(line) + 1, e);
    if (buf_put(to, line, (size_t)(at - line), e) || buf_put_str(to, name, e) ||
        buf_printf(to, e, ": byte %llu", (unsigned long long)offset) || buf_put(to, end, strlen(end) + 1, e))
        return -1;
    return 0;
}

/* The exit status of the program that has ended, after the line that says why. Its remarks are of no interest. */
static int outcome(const struct plan_runner *r, int part, struct err *e)
{
    struct buf line = {0}, text = {0};
    int status = job_outcome(r->j, &line, e);
    if (status > 0 && buf_put_byte(&line, '\0', e))
        status = -1;
    if (status > 0 && line.len > 1) {
        if (part == PLAN_NO_PART)
            job_print(NULL, (const char *)line.p);
        else if (put_origin(r, part, (const char *)line.p, &text, e) == 0)
            job_print(NULL, (const char *)text.p);
        else
            status = -1;
    }
    buf_free(&line);
    buf_free(&text);
    job_forget(r->j);
    return status;
}

static int run_once(const struct plan_runner *r, const struct command_line *l, const int *in, size_t n, int out,
                    int part, struct plan_used *used, struct err *e)
{
    struct job_start how = {.argv = l->words,
                            .in = -1,
                            .out = out,
                            .n_more = (int)n,
                            .writes = installed_temporary(),
                            .remedy = PARTITION_REMEDY};
    for (size_t i = 0; i < n; i++)
        how.more[i] = in[i];
    if (out >= 0 && (ftruncate(out, 0) || lseek(out, 0, SEEK_SET)))
        return err_sys(e, EX_IOERR, errno, "%s: cannot write", installed_temporary());
    const struct job_process *p = job_start(r->j, &how, e);
    if (!p)
        return -1;
    job_wait_all(r->j);
    *used = (struct plan_used){p->cpu, (double)p->memory};
    return outcome(r, part, e);
}

int plan_run(const struct plan_runner *r, const struct command_line *l, const int *in, size_t n, int out, int part,
             struct plan_used *used, struct err *e)
{
    struct plan_used best = {0}, now;
    int status = 0, rounds = used ? ROUNDS : 1;
    for (int round = 0; round < rounds && status == 0 && (round == 0 || best.seconds < ENOUGH); round++) {
        now = (struct plan_used){0};
        status = run_once(r, l, in, n, out, part, &now, e);
        if (round == 0 || now.seconds < best.seconds)
            best = now;
    }
    best.seconds = best.seconds > r->start ? best.seconds - r->start : 0;
    if (used)
        *used = best;
    return status;
}
