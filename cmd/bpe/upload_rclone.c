/* upload_rclone.c - the part of bpe upload that runs rclone, finds out why it failed, and retries.
 *
 * rclone gets the names of files as a memory file (descriptor 4), and writes to another one. It also holds the lock of
 * the directory (descriptor 5), so that the next bpe upload waits for an rclone that outlives a kill. Otherwise that
 * rclone could overwrite a verified copy, and stop in the middle.
 */
#include "bpe/upload.h"

#include "base/io/fd.h"
#include "driver/command.h"

#include <ctype.h>
#include <poll.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Running it ---- */

void upload_nap(double seconds)
{
    poll(NULL, 0, (int)(1e3 * (seconds < 1e6 ? seconds : 1e6)));
}

/* Whether an extended regex matches; *end (may be NULL): the end of the match. */
static bool matches(const char *text, const char *pattern, size_t *end)
{
    regex_t r;
    regmatch_t m;
    if (regcomp(&r, pattern, REG_EXTENDED))
        return false;
    bool found = regexec(&r, text, 1, &m, 0) == 0;
    regfree(&r);
    if (found && end)
        *end = (size_t)m.rm_eo;
    return found;
}

static const char *without(const char *line, const char *prefix)
{
    size_t end;
    return matches(line, prefix, &end) ? line + end : line;
}

/* Sets the reason: the first error that rclone reports, because later ones only count errors; else its last line. */
static void set_reason(struct upload *u, const struct buf *log)
{
    enum { REASON_MAX = 600 };
    char *text = log->len ? strndup((const char *)log->p, log->len) : NULL, *rest = text, *line;
    const char *said = "";
    while ((line = strsep(&rest, "\n"))) {
        if (*line)
            said = line;
        if (matches(line, "ERROR|CRITICAL|Failed|Fatal|rror", NULL) &&
            !matches(line, "Attempt [0-9]*/[0-9]* failed|NOTICE: Config file ", NULL))
            break;
    }
    said = without(without(without(said, "^[0-9/]+ [0-9:]+ "), "^(ERROR|CRITICAL|NOTICE) *: "), "^: ");
    snprintf(u->reason, sizeof u->reason, "%.*s", REASON_MAX, *said ? said : "rclone failed without a message");
    for (char *p = u->reason; *p; p++)
        *p = iscntrl((unsigned char)*p) ? ' ' : *p;
    free(text);
}

void upload_show(const struct upload *u, const struct buf *log)
{
    static const char mark[] = "NOTICE:";
    char line[400], copying[200] = "";
    const char *end = log && log->len ? (const char *)log->p + log->len : NULL, *at = end, *begin = NULL;
    if (!isatty(2))
        return;
    while (at && !begin && at > (const char *)log->p) { /* its last line about bytes: "1 MiB / 2 MiB, 50%, ..." */
        end = at[-1] == '\n' ? at - 1 : at;
        const char *before = memrchr(log->p, '\n', (size_t)(end - (const char *)log->p));
        at = before ? before + 1 : (const char *)log->p;
        if (memmem(at, (size_t)(end - at), " / ", 3) && memchr(at, '%', (size_t)(end - at)))
            begin = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
    }
    if (begin) {
        begin += sizeof mark - 1;
        begin += strspn(begin, " ");
        snprintf(copying, sizeof copying, "; %.*s", (int)(end - begin), begin);
    }
    snprintf(line, sizeof line, "%s: %zu of %zu finished shards%s", u->job->command, u->n_uploaded, u->n_shards,
             copying);
    job_show(line);
}

/* Runs rclone with these words. out: gets its output; log: its messages. Returns its exit status, or -1 with *e. */
static int run_rclone(struct upload *u, const char *const *words, const struct buf *names, struct buf *out,
                      struct buf *log, struct err *e)
{
    struct command_line l = {0};
    struct job_process *p = NULL;
    int status = -1, list = -1, written = -1;
    out->len = log->len = 0;
    if (command_line_add(&l, e, "rclone", "--retries", "1") || command_line_words(&l, words, e) ||
        (list = job_file(names->p, names->len, e)) < 0 || (written = job_file(NULL, 0, e)) < 0)
        goto end;
    p = job_start(u->job,
                  &(struct job_start){.argv = l.words,
                                      .in = -1,
                                      .out = written,
                                      .n_more = 2,
                                      .more = {list, u->lock},
                                      .foreign = true,
                                      .heard = true},
                  e);
    if (!p)
        goto end;
    while (!p->ended) {
        job_wait(u->job, NULL, 0, isatty(2) ? 500 : -1);
        upload_show(u, &p->text);
    }
    if (lseek(written, 0, SEEK_SET) == 0 && fd_read_all(written, out, "the output of rclone", e) == 0 &&
        buf_put(log, p->text.p, p->text.len, e) == 0)
        status = p->status;
end:
    job_close(&list);
    job_close(&written);
    job_forget(u->job);
    command_line_free(&l);
    return status;
}

/* If a remote answers with an error, recent versions of rclone take the path for a directory, and complain about that;
 * without a list of names they report the error itself. */
static int ask_again(struct upload *u, struct buf *log, struct err *e)
{
    const char *const words[] = {"lsf", "--max-depth", "1", u->to, NULL};
    struct buf out = {0}, none = {0};
    int status = run_rclone(u, words, &none, &out, log, e);
    buf_free(&out);
    if (status > 0)
        set_reason(u, log);
    return status < 0 ? -1 : 0;
}

int upload_rclone(struct upload *u, const char *const *words, struct upload_file **files, size_t n, int other,
                  struct buf *out, struct err *e)
{
    struct buf names = {0}, log = {0};
    int rc = 0, status = -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = buf_put_str(&names, files[i]->name, e) || buf_put_byte(&names, '\n', e) ? -1 : 0;
    if (rc == 0)
        status = run_rclone(u, words, &names, out, &log, e);
    rc = status < 0 ? -1 : status && status != other;
    if (status && status == other)
        out->len = 0;
    else if (status > 128)
        snprintf(u->reason, sizeof u->reason, "rclone was killed");
    else if (status > 0) {
        set_reason(u, &log);
        if (matches(u->reason, "can't limit to single files|is a file not a directory", NULL) && ask_again(u, &log, e))
            rc = -1;
    }
    buf_free(&names);
    buf_free(&log);
    return rc;
}

/* Permanent errors: -1 with *e. */
static int check_final(const struct upload *u, struct err *e)
{
    if (matches(u->reason, "didn't find section in config file|didn't find backend called|unknown flag", NULL))
        return err_set(e, EX_USAGE, "%s: %s", u->to, u->reason);
    if (matches(u->reason, "AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden|(^|[ :])40[13]([^0-9]|$)",
                NULL))
        return err_set(e, EX_IOERR, "%s: %s", u->to, u->reason);
    return 0;
}

int upload_persist(struct upload *u, upload_step *step, struct err *e)
{
    enum { LONGEST = 60 };
    uint64_t tried = 0;
    double pause = 1;
    for (;;) {
        size_t had = u->n_done;
        int rc = step(u, e);
        if (rc <= 0)
            return rc;
        if (u->n_done != had) { /* files arrive: count failures anew */
            tried = 0;
            pause = 1;
        }
        if (check_final(u, e))
            return -1;
        if (tried++ >= u->retries)
            return err_set(e, EX_IOERR, "%s: %s (tried %llu times)", u->to, u->reason, (unsigned long long)tried);
        upload_nap(pause);
        pause = 2 * pause < LONGEST ? 2 * pause : LONGEST;
    }
}
