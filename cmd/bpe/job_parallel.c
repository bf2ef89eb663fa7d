/* job_parallel.c - bpe job --hosts: many jobs, on the hosts of a list, by GNU parallel.
 *
 *     standard input --> GNU parallel --> whole records
 *
 * Standard input passes through this process, so that it knows whether all was read; so does the output, because GNU
 * parallel may be killed while it writes. Exit status: 0: all jobs were done; 75: some were not, or GNU parallel was
 * killed; 74: a read or write failed.
 */
#include "bpe/job_relay.h"

#include "driver/command.h"
#include "wire/record.h"

#include <fcntl.h>
#include <stdio.h>

/* Reads the first bytes of a record, up to its type. */
static int read_type(struct job_relay *r, struct err *e)
{
    enum { TYPE_AT = 2 };
    ssize_t n = 1;
    if (buf_reserve(&r->fed, TYPE_AT + 1, e))
        return -1;
    while (n > 0 && r->fed.len <= TYPE_AT) {
        n = job_read_input(r->fed.p + r->fed.len, TYPE_AT + 1 - r->fed.len, e);
        r->fed.len += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? -1 : n == 0 ? 0 : r->fed.p[TYPE_AT];
}

/* Starts GNU parallel. Records that contain text are grouped into blocks; each record that names files is a job. */
static int start(const struct job_options *o, struct job *j, struct job_relay *r, struct err *e)
{
    struct command_line l = {0};
    int in[2] = {-1, -1}, out[2] = {-1, -1}, type = read_type(r, e);
    char retries[32];
    snprintf(retries, sizeof retries, "%llu", (unsigned long long)o->retries);
    int rc = type < 0 || job_need("parallel", e) || job_pipe(in, e) || job_pipe(out, e) ||
                     command_line_add(&l, e, "parallel", "--will-cite", "--pipe", "--retries", retries,
                                      "--sshloginfile", o->hosts, "--block",
                                      o->block               ? o->block
                                      : type == RECORD_CHUNK ? "32M"
                                                             : "1M") ||
                     command_line_words(&l, (const char *const *)(uintptr_t)o->command, e) ||
                     command_line_start(
                         j, &(struct job_start){.in = in[0], .out = out[1], .foreign = true, .apart = true}, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    job_close(&in[0]);
    job_close(&out[1]);
    if (rc == 0)
        fcntl(in[1], F_SETFL, O_NONBLOCK);
    r->to = in[1];
    r->from = out[0];
    return rc;
}

int job_parallel(const struct job_options *o, struct job *j, struct err *e)
{
    enum { STATUS_MAX = 101 }; /* 101: that many jobs failed, or more */
    struct job_relay r = {.to = -1, .from = -1, .watches_output = true};
    int rc = start(o, j, &r, e) || job_relay(j, &r, e) ? -1 : 0;
    bool cut = r.left.len > 0;
    job_relay_free(&r);
    if (rc)
        return -1;
    int status = j->at[0]->status;
    if (status > STATUS_MAX)
        return err_set(e, EX_TEMPFAIL, "GNU parallel exited with status %d", status);
    return status ? err_set(e, EX_TEMPFAIL, "%d jobs failed in all their attempts", status)
           : cut  ? err_set(e, EX_TEMPFAIL, "the last record of GNU parallel is cut off")
                  : 0;
}
