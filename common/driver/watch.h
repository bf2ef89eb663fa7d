/* watch.h - how far a command is: one line for all of its processes, on a terminal after two seconds, or a line each
 * so many seconds (--progress), for a log file.
 *
 * What is read is what the system counts (/proc/PID/io): the processes need not tell, and whatever a file is read as
 * counts the same. Files that a command of the user's reads, or a tool, or what they start on other hosts, are another
 * matter: there it is what programs publish (base/cli/progress.h), which is text by value that bpe-chunk has read, or
 * what the results cover that bpe-sum or bpe-shard has.
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
    uint64_t total;  /* bytes of all files, as they are; 0: not known */
    uint64_t done;   /* read so far */
    double each;     /* seconds between lines of their own; 0: one line on a terminal */
    bool json;       /* these are JSON */
    int last_stage;  /* of the processes that read the files */
    bool active;
    double start, last;
};

/* each: the text of --progress; NULL: one line on a terminal. files: the sum of their sizes is the total, unless one
 * is no regular file; NULL: it is not known. Nothing is shown on a terminal on which somebody types the text.
 * last_stage: processes of this stage and those before it read text: bpe-chunk alone where text is from a pipe, which
 * it hands on. */
void watch_start(struct watch *w, struct job *j, const char *each, char **files, int n_files, int last_stage);

/* Whether standard input is among the FILEs; none is that, too. */
bool watch_reads_input(char **files, int n_files);

/* Waits until all processes have ended, and shows how far they are meanwhile. */
void watch_until_all_ended(struct watch *w);

/* Shows it now, if it is time; for a command with a loop of its own. Returns the milliseconds until it is again; -1:
 * never. */
int watch_tick(struct watch *w);

void watch_end(struct watch *w); /* clears the line; JSON: tells how far it came */

#endif
