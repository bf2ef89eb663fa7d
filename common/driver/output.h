/* output.h - where a command's result goes: standard output, a file that appears only when it is complete, or a named
 * device or pipe. */
#ifndef BPE_DRIVER_OUTPUT_H
#define BPE_DRIVER_OUTPUT_H

#include "base/io/outfile.h"
#include "base/sys/err.h"

struct output {
    int fd;              /* to write to */
    const char *name;    /* for messages; borrowed */
    struct outfile file; /* not used if its path is NULL */
};

/* path NULL: standard output. -1: EX_CANTCREAT. */
int output_open(struct output *o, const char *path, struct err *e);
void output_drop(struct output *o); /* a file that is not closed does not appear; zeroed is fine */

/* Call when everything is written; the file appears. */
int output_close(struct output *o, struct err *e);

#endif
