/* output.h - where a command's result goes: standard output, or a file that appears when all is done, or a device or
 * pipe that has a name. */
#ifndef BPE_DRIVER_OUTPUT_H
#define BPE_DRIVER_OUTPUT_H

#include "base/io/outfile.h"
#include "base/sys/err.h"

struct output {
    int fd;              /* for whoever writes */
    const char *name;    /* for messages; borrowed */
    struct outfile file; /* its path is NULL: it is not used */
};

/* path NULL: standard output. -1: EX_CANTCREAT. */
int output_open(struct output *o, const char *path, struct err *e);
void output_drop(struct output *o); /* what is not closed does not appear; zeroed is fine */

/* All is written: it appears. */
int output_close(struct output *o, struct err *e);

#endif
