/* scratch.h - a directory for named temporary files. It is removed however this process ends: a separate process
 * removes it as soon as this one, and all processes that it started, have ended.
 */
#ifndef BPE_DRIVER_SCRATCH_H
#define BPE_DRIVER_SCRATCH_H

#include "base/sys/err.h"

struct scratch {
    char *path; /* owned */
    int alive;  /* for struct job_start `also`: a process that has it open still uses the directory */
};

/* Creates a directory in `in`, or in TMPDIR if that is NULL; only one may exist at a time. Call it after job_init. -1:
 * EX_CANTCREAT, EX_OSERR. */
int scratch_open(struct scratch *s, const char *in, struct err *e);

/* Removes it; all processes that use it must have ended. Zeroed is fine. */
void scratch_close(struct scratch *s);

/* Removes a file, or a directory with all its contents. */
void scratch_remove(const char *path);

#endif
