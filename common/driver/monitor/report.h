/* report.h - what is told of pipelines: figures of each stage, and which of them holds the others back.
 */
#ifndef BPE_DRIVER_MONITOR_REPORT_H
#define BPE_DRIVER_MONITOR_REPORT_H

#include "base/cli/progress.h"
#include "base/sys/buf.h"
#include "driver/monitor/process.h"
#include "driver/monitor/queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { REPORT_FILES = 4 };

struct stage_report {
    char name[20];
    pid_t *pids;   /* owned */
    size_t n_pids; /* now */
    double n;      /* processes, as a mean over the samples */
    bool has_queue;
    struct queue queue; /* before it */
    double in, out;     /* bytes a second */
    double cpu;         /* 1: all of one core */
    uint64_t rss;       /* bytes */

    /* Shares of the samples, 1 in all: ready to run; waits for input, for room in its output, for a disk, for a time
     * or what cannot be told, to be let go on after a signal, for processes that it has started. */
    double run, input, output, disk, sleep, stopped, child;
    double own;                            /* the share in which the others wait for this stage */
    double input_full, output_full;        /* how full its inputs and outputs were, 0 to 1; -1: it has none */
    bool has_input, had_input, had_output; /* another stage is, was in this interval, at its other end */

    struct progress_page doing; /* doing is empty: it does not say */
    double doing_rate;          /* of done, a second */
    struct file_report {
        struct process_file file;
        double rate; /* bytes a second; -1: not known yet */
        bool moved;  /* since it was seen first */
    } files[REPORT_FILES];
    size_t n_files;
};

struct pipeline_report {
    pid_t id;                    /* of its first process when it was seen first */
    char command[240];           /* "bpe train ..." or "bpe-chunk | bpe-count" */
    struct stage_report *stages; /* owned; none: it has ended */
    size_t n;
    size_t bottleneck; /* of them */
    char verdict[400];
};

struct report {
    double time;                /* seconds since 1970 */
    struct pipeline_report *at; /* owned */
    size_t n, cap;
};

/* Appends a line of JSON for each pipeline. */
int report_put_json(struct buf *out, const struct report *r, struct err *e);

/* What lines are written to. width: to which they are cut, after the columns that tell least were left out; height: in
 * less than so many lines, by leaving out stages and pipelines, which is said; 0: any. bold: the verdict is. */
struct report_form {
    size_t width, height;
    bool bold;
};

/* Appends blocks of lines. none: what to say if there is no pipeline; or NULL. */
int report_put_text(struct buf *out, const struct report *r, const struct report_form *form, const char *none,
                    struct err *e);

/* Writes what a program publishes of its work, as snprintf does: "merging, 12,000 of 31,743". */
int report_put_doing(char *to, size_t n, const struct progress_page *p);

void pipeline_report_free(struct pipeline_report *p);
void report_free(struct report *r);

#endif
