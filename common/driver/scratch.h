/* scratch.h - a directory for temporary files with names. It goes away with this process, however that ends: by a
 * process of its own, which removes it as soon as this one, and all that it has started, have ended.
 */
#ifndef BPE_DRIVER_SCRATCH_H
#define BPE_DRIVER_SCRATCH_H

#include "base/sys/err.h"

struct scratch {
    char *path; /* owned */
    int alive;  /* for struct job_start `also`: who has it open still uses the directory */
};

/* Makes a directory in TMPDIR. There is one at a time; call it after job_init. -1: EX_CANTCREAT, EX_OSERR. */
int scratch_open(struct scratch *s, struct err *e);

/* Removes it; all processes that use it have ended. Zeroed is fine. */
void scratch_close(struct scratch *s);

/* Removes a file, or a directory and all that is in it. */
void scratch_remove(const char *path);

#endif
