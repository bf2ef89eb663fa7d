/* channels.h - the pipes, FIFOs and socket pairs that connect processes, and which process holds which end.
 */
#ifndef BPE_DRIVER_MONITOR_CHANNELS_H
#define BPE_DRIVER_MONITOR_CHANNELS_H

#include "driver/monitor/process.h"
#include "driver/monitor/queue.h"

/* What a process did in some samples. */
struct tally {
    unsigned n, state[PROCESS_ENDED]; /* samples; the number of them in each state */
    double input, output;             /* sums over the samples: how full its inputs and outputs were, 0 to 1 */
    struct queue queue;               /* sums of its inputs */
    unsigned n_input, n_output;       /* samples in which that was known */
};

/* A watched process, with its data for one interval. */
struct watched {
    struct process process;
    unsigned links_read; /* how many times */
    bool own;            /* it belongs to the user who watches */
    bool apart;          /* it is the monitor itself, which belongs to no pipeline */
    bool member;         /* of a pipeline, as far as known */
    bool parent;         /* of members */
    pid_t pipeline;      /* the number of its pipeline in the last report; 0: none */
    struct tally tally;
    bool counted;                      /* the next two are set */
    struct used before, reaped_before; /* at the start of the interval; 0 if it is younger */
    pid_t tool;                        /* that started it; 0: none, or unknown */
    bool stands;                       /* it ended before this interval, but represents its stage */

    /* For unseen.c: */
    struct used ahead;  /* counted for its ended jobs that it has not yet reaped */
    struct used unseen; /* what it reaped in this interval that no sample saw */

    /* For pipelines.c: */
    struct watched *group; /* another process of its pipeline, or itself */
    size_t n_alive;        /* running processes of its group; set in the group's first process */
    unsigned ends[2];      /* channels that it writes to, reads from; not inherited, and with both ends held */
    struct watched *does;  /* the process that it is counted as: itself, its parent, or NULL: it only holds ends */
    size_t stage;
};

/* One end of a channel that a process holds. Kind and id identify a channel; the id of a socket pair is the inode of
 * the end that reads. */
struct channel_end {
    enum link_kind kind;
    uint64_t id;
    struct watched *w;
    int fd;
    bool reads;      /* else it writes */
    bool inherited;  /* its parent holds the same end at the same descriptor, so it may not use it */
    uint32_t socket; /* for a socket: the inode of the end that writes */
    bool used;       /* set by pipelines.c: it connects the process */
};

struct channel {
    struct channel_end *ends; /* the ends of this channel, in channels.ends */
    size_t n;
    struct queue queue;
    bool known; /* the queue */
};

struct channels {
    struct channel_end *ends; /* owned, like `at` */
    struct channel *at;       /* sorted by kind and id */
    size_t n_ends, cap_ends, n, cap;
};

/* Finds the channels of n processes, sorted by pid. only_members: only of members of pipelines. -1: out of memory. */
int channels_find(struct channels *c, struct watched *const *at, size_t n, bool only_members, const struct sockets *s,
                  struct err *e);

/* Measures how much data waits in each channel that a member holds. */
void channels_measure(struct channels *c, struct sockets *s);

void channels_free(struct channels *c);

enum { WATCHED_GENERATIONS = 32 }; /* how many generations of ancestors are searched */

/* The first of the processes connected with this one, which represents the group. */
struct watched *watched_group(struct watched *w);

/* The tool that started a process, perhaps through others, such as a shell; NULL: none. */
struct watched *watched_spreader(struct watched *const *at, size_t n, const struct watched *w);

/* Whether a process descends from the one with that pid. */
bool watched_descends(struct watched *const *at, size_t n, const struct watched *w, pid_t from);

/* The process with that pid among n, sorted by pid; NULL: none. */
struct watched *watched_find(struct watched *const *at, size_t n, pid_t pid);

/* Records which tool started a process, for when the processes between them have ended. */
void watched_note_tool(struct watched *const *at, size_t n, struct watched *w);

bool watched_is_program(const struct watched *w); /* a program bpe-* */
bool watched_is_driver(const struct watched *w);  /* bpe */
bool watched_spreads(const struct watched *w);    /* a tool that starts many processes of one kind */

#endif
