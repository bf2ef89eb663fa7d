/* job_relay.h - the parts of bpe job. */
#ifndef BPE_CMD_JOB_RELAY_H
#define BPE_CMD_JOB_RELAY_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "driver/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_options {
    const char *as; /* messages begin with it */
    bool records, pack, unpack;
    uint64_t ok;
    const char *hosts, *block;
    uint64_t retries;
    char **command;
    int n_command;
};

/* The data that passes through this process. Zeroed, except for descriptors that are -1. */
struct job_relay {
    int to;         /* gets standard input, non-blocking; -1: standard input is not relayed */
    struct buf fed; /* data read; fed.p[given ..] is not written yet */
    size_t given;
    int from;            /* whole records from it go to standard output; -1: a process writes there itself */
    struct buf left;     /* an incomplete record */
    bool watches_output; /* end if nothing reads standard output any more */
};

/* Relays until `from` has ended and all processes have ended. -1: EX_IOERR, or EX_TEMPFAIL: nothing reads standard
 * output. */
int job_relay(struct job *j, struct job_relay *r, struct err *e);
void job_relay_free(struct job_relay *r);

/* Reads some bytes of standard input; 0: its end. -1: EX_IOERR. */
ssize_t job_read_input(void *p, size_t n, struct err *e);

/* Runs many jobs with GNU parallel. */
int job_parallel(const struct job_options *o, struct job *j, struct err *e);

#endif
