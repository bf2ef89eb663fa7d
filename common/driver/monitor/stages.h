/* stages.h - which processes of a pipeline do the same work, and in which order the data goes through them.
 */
#ifndef BPE_DRIVER_MONITOR_STAGES_H
#define BPE_DRIVER_MONITOR_STAGES_H

#include "driver/monitor/channels.h"

/* Processes of one program at one place in a pipeline. */
struct stage {
    const char *name;           /* borrowed from a process */
    struct watched **at;        /* the processes, those too that have ended in this interval; owned */
    size_t n, cap, n_alive;     /* n_alive: of them */
    size_t *next;               /* the stages that it writes to, or has started; owned */
    size_t n_next, cap_next;    /* their number */
    bool has_input, has_output; /* another stage of the pipeline writes to it, reads from it */
    bool had_input, had_output; /* the same, in this interval */
    bool parent;                /* it has started processes of other stages */
    struct queue queue;         /* before it */
    bool queue_known;
};

struct pipeline {
    struct stage *stages; /* in the order of the data; owned */
    size_t n, cap;
    const struct watched *driver; /* the bpe that has started it; NULL: none */
};

/* Finds the stages of the processes of a group among n, in order of their pids, with what connects them; *p is empty
 * before. -1: out of memory; stage_free them then, too. */
int stages_find(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *group,
                const struct channels *c, struct err *e);

void stage_free(struct stage *s);

#endif
