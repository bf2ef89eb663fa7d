/* channels.h - what processes are connected by: pipes, FIFOs and pairs of sockets, and who holds which end.
 */
#ifndef BPE_DRIVER_MONITOR_CHANNELS_H
#define BPE_DRIVER_MONITOR_CHANNELS_H

#include "driver/monitor/process.h"
#include "driver/monitor/queue.h"

/* What a process was seen to do in some samples. */
struct tally {
    unsigned n, state[PROCESS_ENDED]; /* samples; those in which it was in which state */
    double input, output;             /* sums over the samples: how full its inputs and outputs were, 0 to 1 */
    struct queue queue;               /* sums of its inputs */
    unsigned n_input, n_output;       /* samples in which that was known */
};

/* A process that is watched, with what is known of an interval. */
struct watched {
    struct process process;
    unsigned links_read; /* how often */
    bool own;            /* it is of the user who watches */
    bool apart;          /* it is the monitor itself, which is in no pipeline */
    bool member;         /* of a pipeline, as far as is known */
    bool parent;         /* of members */
    pid_t pipeline;      /* the number of its pipeline in the last report; 0: none */
    struct tally tally;
    bool counted;                      /* the next two are set */
    struct used before, reaped_before; /* at the begin of the interval; 0 if it is younger */
    pid_t tool;                        /* that has started it; 0: none, or not known */
    bool stands;                       /* it has ended before this interval, and stands for its stage */

    /* Of unseen.c: */
    struct used ahead;  /* what was counted of its jobs that ended, and it has not yet reaped */
    struct used unseen; /* what it reaped in this interval, and no sample saw */

    /* Of pipelines.c: */
    struct watched *group; /* another process of its pipeline, or itself */
    size_t n_alive;        /* processes of its group that run; known of the first of each */
    unsigned ends[2];     /* channels that it writes to, reads from, and came to by itself, with others at their ends */
    struct watched *does; /* the process that it is counted as: itself, its parent, or NULL: it only holds */
    size_t stage;
};

/* One end of a channel that a process holds. A channel is known by kind and id; that of a pair of sockets is the
 * inode of the end that reads. */
struct channel_end {
    enum link_kind kind;
    uint64_t id;
    struct watched *w;
    int fd;
    bool reads;      /* else it writes */
    bool inherited;  /* its parent holds the same at the same descriptor, so it may mean nothing to it */
    uint32_t socket; /* of a socket: the inode of the end that writes */
    bool used;       /* of pipelines.c: it connects the process */
};

struct channel {
    struct channel_end *ends; /* those of this channel, in channels.ends */
    size_t n;
    struct queue queue;
    bool known; /* the queue */
};

struct channels {
    struct channel_end *ends; /* owned, as the next */
    struct channel *at;       /* in order of kind and id */
    size_t n_ends, cap_ends, n, cap;
};

/* Finds the channels of n processes, in order of their pids. only_members: of those that are, or may be, members of
 * pipelines. -1: out of memory. */
int channels_find(struct channels *c, struct watched *const *at, size_t n, bool only_members, const struct sockets *s,
                  struct err *e);

/* Measures how much waits in each of those that members have. */
void channels_measure(struct channels *c, struct sockets *s);

void channels_free(struct channels *c);

enum { WATCHED_GENERATIONS = 32 }; /* how far ancestors are looked for */

/* The first of the processes that are connected with this one. */
struct watched *watched_group(struct watched *w);

/* The tool that has started a process, perhaps through others, such as a shell; NULL: none. */
struct watched *watched_spreader(struct watched *const *at, size_t n, const struct watched *w);

/* Whether a process descends from the one of that pid. */
bool watched_descends(struct watched *const *at, size_t n, const struct watched *w, pid_t from);

/* The process of that pid; NULL: none of n, in order of their pids. */
struct watched *watched_find(struct watched *const *at, size_t n, pid_t pid);

/* Notes which tool has started a process, for the time after the processes between them have ended. */
void watched_note_tool(struct watched *const *at, size_t n, struct watched *w);

bool watched_is_program(const struct watched *w); /* one of the programs bpe-* */
bool watched_is_driver(const struct watched *w);  /* bpe */
bool watched_spreads(const struct watched *w);    /* a tool that starts many processes of one kind */

#endif
