/* progress.h - a line on standard error, if that is a terminal, for work that takes longer than two seconds. */
#ifndef BPE_CLI_PROGRESS_H
#define BPE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *name; /* of the program; borrowed */
    bool active;      /* standard error is a terminal */
    bool shown;
    double start, last; /* seconds */
};

void progress_start(struct progress *p, const char *name);

/* Shows `done of total what`, rate and time left, at most a few times a second. total 0: not known. bytes: `done` and
 * `total` count bytes. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what);
void progress_end(struct progress *p); /* clears the line */

#endif
