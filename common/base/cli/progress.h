/* progress.h - how far a program is: a line on standard error, if that is a terminal, for work that takes longer than
 * two seconds; and for whoever watches the process from outside (bpe monitor), a page of memory that can be read
 * through /proc/PID/fd. To publish costs two stores. */
#ifndef BPE_BASE_CLI_PROGRESS_H
#define BPE_BASE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* The page: a file in memory of this name, which has this struct at its start. */
#define PROGRESS_FILE "bpe-progress"
struct progress_page {
    char doing[64];       /* "merging"; ends with NUL; empty: nothing to say */
    char what[32];        /* what done and total count: "merges"; "bytes" */
    uint64_t done, total; /* total 0: not known */
};

struct progress {
    const char *name; /* of the program; borrowed */
    bool active;      /* standard error is a terminal */
    bool shown;
    double start, last; /* seconds */
};

void progress_start(struct progress *p, const char *name);

/* Begins a part of the work, and publishes that: doing and what as in struct progress_page, borrowed. Times begin
 * anew.
 */
void progress_part(struct progress *p, const char *doing, const char *what);

/* Publishes done and total, if a part has begun, and shows `done of total what`, rate and time left, at most a few
 * times a second. total 0: not known. bytes: `done` and `total` count bytes. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what);
void progress_end(struct progress *p); /* clears the line */

#endif
