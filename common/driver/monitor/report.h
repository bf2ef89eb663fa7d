/* report.h - a report on pipelines: figures for each stage, and which stage is the bottleneck.
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
    double n;      /* number of processes, mean over the samples */
    bool has_queue;
    struct queue queue; /* in front of it */
    double in, out;     /* bytes per second */
    double cpu;         /* 1: all of one core */
    uint64_t rss;       /* bytes */

    /* Shares of the samples, 1 in total: ready to run; waiting for input; for room in its output; for a disk; for a
     * time, or unknown; stopped by a signal; waiting for processes that it started. */
    double run, input, output, disk, sleep, stopped, child;
    double own;                            /* the share in which others wait for this stage */
    double input_full, output_full;        /* how full its inputs and outputs were, 0 to 1; -1: none */
    bool has_input, had_input, had_output; /* another stage is, or was in this interval, at the other end */

    struct progress_page doing; /* doing is empty: not published */
    double doing_rate;          /* of done, per second */
    struct file_report {
        struct process_file file;
        double rate; /* bytes per second; -1: not known yet */
        bool moved;  /* since it was first seen */
    } files[REPORT_FILES];
    size_t n_files;
};

struct pipeline_report {
    pid_t id;                    /* pid of its first process when it was first seen */
    char command[240];           /* "bpe train ..." or "bpe-chunk | bpe-count" */
    struct stage_report *stages; /* owned; none: it has ended */
    size_t n;
    size_t bottleneck; /* index of a stage */
    char verdict[400];
};

struct report {
    double time;                /* seconds since 1970 */
    struct pipeline_report *at; /* owned */
    size_t n, cap;
};

/* Appends one line of JSON per pipeline. */
int report_put_json(struct buf *out, const struct report *r, struct err *e);

/* The form of the text. width: lines are cut to it, after dropping the least useful columns. height: the text is kept
 * below this number of lines by dropping stages and pipelines, with a note. 0: no limit. bold: prints the verdict in
 * bold. */
struct report_form {
    size_t width, height;
    bool bold;
};

/* Appends a block of lines per pipeline. none: the line to print if there is no pipeline; or NULL. */
int report_put_text(struct buf *out, const struct report *r, const struct report_form *form, const char *none,
                    struct err *e);

/* Formats a program's published progress, as snprintf does: "merging, 12,000 of 31,743". */
int report_put_doing(char *to, size_t n, const struct progress_page *p);

void pipeline_report_free(struct pipeline_report *p);
void report_free(struct report *r);

#endif
