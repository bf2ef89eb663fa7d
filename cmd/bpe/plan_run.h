/* plan_run.h - running a program, to measure what it takes. It runs alone, as often as it is worth it, and the run
 * counts that took least CPU time, as the machine may be busy.
 *
 * All files are without names, so that no death leaves them: a program gets them as descriptors.
 */
#ifndef BPE_CMD_PLAN_RUN_H
#define BPE_CMD_PLAN_RUN_H

#include "bpe/plan.h"
#include "driver/command.h"

struct plan_runner {
    struct job *j;               /* borrowed, as all of these */
    const struct plan_sample *s; /* for messages that name a part */
    double start;                /* CPU seconds for starting a program */
};

struct plan_used {
    double seconds, memory; /* CPU time, without that of starting a program; bytes */
};

extern const char *const plan_names[JOB_MORE]; /* by which a program finds its files */

/* Runs a program that knows n files, `in`, by plan_names; its output replaces what is in `out` (-1: nowhere). part: the
 * one that is its first file, or PLAN_NO_PART. used NULL: one run. Returns the exit status, whose reason was printed,
 * or -1. */
enum { PLAN_NO_PART = -1 };
int plan_run(const struct plan_runner *r, const struct command_line *l, const int *in, size_t n, int out, int part,
             struct plan_used *used, struct err *e);

#endif
