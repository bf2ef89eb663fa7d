/* progress.h - the progress of a program: a status line on standard error, if that is a terminal and the work takes
 * longer than two seconds; and a memory page that other processes (bpe monitor) can read through /proc/PID/fd. An
 * update of the page costs two stores. */
#ifndef BPE_BASE_CLI_PROGRESS_H
#define BPE_BASE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* The page: a memory file (memfd_create) with this name, which begins with this struct. */
#define PROGRESS_FILE "bpe-progress"
struct progress_page {
    char doing[64];       /* such as "merging"; ends with NUL; empty: nothing to report */
    char what[32];        /* the unit of done and total, such as "merges" or "bytes" */
    uint64_t done, total; /* total 0: unknown */
};

struct progress {
    const char *name; /* of the program; borrowed */
    bool active;      /* standard error is a terminal */
    bool shown;
    double start, last; /* seconds */
};

void progress_start(struct progress *p, const char *name);

/* Begins a stage of the work, publishes it and restarts the clock. doing and what: as in struct progress_page,
 * borrowed. */
void progress_part(struct progress *p, const char *doing, const char *what);

/* Publishes done and total, if a stage has begun, and shows `done of total what`, the rate and the time left, at most a
 * few times a second. total 0: unknown. bytes: `done` and `total` count bytes. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what);
void progress_end(struct progress *p); /* clears the line */

#endif
