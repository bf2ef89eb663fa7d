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

/* What passes through this process. Zeroed but for -1: nothing. */
struct job_relay {
    int to;         /* standard input goes there, which is not blocking; -1: not through here */
    struct buf fed; /* read from there; fed.p[given ..] is still to be written */
    size_t given;
    int from;            /* whole records from there go to standard output; -1: a process writes there itself */
    struct buf left;     /* of a record that is not whole */
    bool watches_output; /* all ends if nobody reads standard output any more */
};

/* Relays until `from` ends, or there is none and all processes have ended; then waits for them. -1: EX_IOERR, or
 * EX_TEMPFAIL: nobody reads standard output. */
int job_relay(struct job *j, struct job_relay *r, struct err *e);
void job_relay_free(struct job_relay *r);

/* Reads some bytes; 0 is the end. -1: EX_IOERR. */
ssize_t job_read_input(void *p, size_t n, struct err *e);

/* Many jobs, by GNU parallel. */
int job_parallel(const struct job_options *o, struct job *j, struct err *e);

#endif
