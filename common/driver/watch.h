/* watch.h - shows a command's progress, one line for all its processes: on a terminal after two seconds, or for a log
 * file a line every so many seconds (--progress).
 *
 * The bytes read are those that the system counts (/proc/PID/io): the processes need not report, and all input formats
 * count alike. This does not work for files read by a user's command or a tool, perhaps on other hosts. There, progress
 * is what programs publish (base/cli/progress.h): the text by value that bpe-chunk has read, or the text covered by the
 * results that bpe-sum or bpe-shard has.
 */
#ifndef BPE_DRIVER_WATCH_H
#define BPE_DRIVER_WATCH_H

#include "driver/job.h"

#include <stdbool.h>
#include <stdint.h>

/* The option --progress: SECONDS, json or json,SECONDS. */
int watch_option(const char *argument, void *to, struct err *e);
extern const char *const watch_words[];

struct watch {
    struct job *job; /* borrowed */
    uint64_t total;  /* bytes of all files as stored; 0: unknown */
    uint64_t done;   /* read so far */
    double each;     /* seconds between separate lines; 0: one line on a terminal */
    bool json;       /* the lines are JSON */
    int last_stage;  /* the last that reads the files */
    bool active;
    double start, last;
};

/* each: the argument of --progress; NULL: one line on a terminal. files: the sum of their sizes is the total, unless
 * one is not a regular file; NULL: unknown. Nothing is shown on a terminal on which the user types the text.
 * last_stage: processes of stages up to this one read text; only bpe-chunk does if the text comes from a pipe, because
 * it passes the text on. */
void watch_start(struct watch *w, struct job *j, const char *each, char **files, int n_files, int last_stage);

/* Whether standard input is among the FILEs; no FILEs means standard input, too. */
bool watch_reads_input(char **files, int n_files);

/* Waits until all processes have ended, and shows their progress meanwhile. */
void watch_until_all_ended(struct watch *w);

/* Shows progress if it is due, for a command with its own loop. Returns the milliseconds until it is due again; -1:
 * never. */
int watch_tick(struct watch *w);

void watch_end(struct watch *w); /* clears the line; JSON: prints the final state */

#endif
