/* monitor_internal.h - what monitor.c and monitor_report.c share. */
#ifndef BPE_DRIVER_MONITOR_MONITOR_INTERNAL_H
#define BPE_DRIVER_MONITOR_MONITOR_INTERNAL_H

#include "driver/monitor/monitor.h"
#include "driver/monitor/pipelines.h"

/* A pipeline of the last report. */
struct known {
    pid_t id;
    char command[240];
    bool seen;
    size_t n;
    struct identity {
        pid_t pid;
        uint64_t began;
    } * of; /* its processes; owned */
};

/* What processes were at when a report was made, for the next one to compare with. */
struct before {
    struct file_before {
        pid_t pid;
        uint64_t id, position;
        bool moved; /* since it was seen first */
    } * files;      /* owned, as the next */
    struct progress_before {
        pid_t pid;
        char doing[64];
        uint64_t done;
    } * progress;
    size_t n_files, cap_files, n_progress, cap_progress;
};

struct monitor {
    pid_t pid;
    bool apart;
    struct watched **at; /* in order of their pids; owned, as each */
    size_t n, cap;
    pid_t *pids; /* all that there are; owned */
    size_t n_pids, cap_pids;
    struct option_words fifos; /* names of the FIFOs of members */
    struct sockets sockets;
    struct channels channels; /* of the last sample */
    struct known *known;      /* owned */
    size_t n_known, cap_known;
    struct before before;
    double scanned, scan_took;        /* when all processes were read, and how long that took */
    double owed, sampled;             /* CPU time that is more than its share so far; when that was computed */
    double reported;                  /* when the last report was made */
    uint64_t last_pid;                /* the youngest process at the last scan */
    bool young;                       /* some were too young then to be left alone */
    bool grouped;                     /* it is known who is a member */
    unsigned samples, samples_before; /* so far, and at the last report */
};

/* Where a process was in a file when that was noted. NULL: it was not. */
const struct file_before *monitor_file_before(const struct monitor *m, pid_t pid, const struct process_file *f);

/* Seconds of CPU time of this thread. */
double monitor_cpu(void);

void watched_free(struct watched *w);

/* Reads which links a process has. -1: out of memory. */
int monitor_read_links(struct monitor *m, struct watched *w, struct err *e);

#endif
