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

/* The state of files and progress at the last report, for comparison in the next. */
struct before {
    struct file_before {
        pid_t pid;
        uint64_t id, position;
        bool moved; /* since it was first seen */
    } * files;      /* owned, like `progress` */
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
    struct watched **at; /* sorted by pid; array and elements owned */
    size_t n, cap;
    pid_t *pids; /* all processes; owned */
    size_t n_pids, cap_pids;
    struct option_words fifos; /* names of the FIFOs of members */
    struct sockets sockets;
    struct channels channels; /* of the last sample */
    struct known *known;      /* owned */
    size_t n_known, cap_known;
    struct before before;
    double scanned, scan_took;        /* when all processes were last read, and how much CPU time that took */
    double owed, sampled;             /* CPU time used beyond its share; when that was computed */
    double reported;                  /* when the last report was made */
    uint64_t last_pid;                /* the newest process at the last scan */
    bool young;                       /* some processes were too young to be skipped */
    bool grouped;                     /* members have been determined */
    unsigned samples, samples_before; /* so far; at the last report */
};

/* A process's position in a file at the last report. NULL: not recorded. */
const struct file_before *monitor_file_before(const struct monitor *m, pid_t pid, const struct process_file *f);

/* Seconds of CPU time of this thread. */
double monitor_cpu(void);

void watched_free(struct watched *w);

/* Reads a process's links. -1: out of memory. */
int monitor_read_links(struct monitor *m, struct watched *w, struct err *e);

#endif
