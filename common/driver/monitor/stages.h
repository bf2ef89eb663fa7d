/* stages.h - groups the processes of a pipeline that do the same work into stages, in the order of the data.
 */
#ifndef BPE_DRIVER_MONITOR_STAGES_H
#define BPE_DRIVER_MONITOR_STAGES_H

#include "driver/monitor/channels.h"

/* Processes of one program at one position in a pipeline. */
struct stage {
    const char *name;           /* borrowed from a process */
    struct watched **at;        /* the processes, including those that ended in this interval; owned */
    size_t n, cap, n_alive;     /* n_alive: how many still run */
    size_t *next;               /* indices of the stages that it writes to, or started; owned */
    size_t n_next, cap_next;    /* how many */
    bool has_input, has_output; /* another stage of the pipeline writes to it, reads from it */
    bool had_input, had_output; /* the same, in this interval */
    bool parent;                /* it started processes of other stages */
    struct queue queue;         /* in front of it */
    bool queue_known;
};

struct pipeline {
    struct stage *stages; /* in the order of the data; owned */
    size_t n, cap;
    const struct watched *driver; /* the bpe that started it; NULL: none */
};

/* Finds the stages of a group's processes among n, sorted by pid, and how they are connected; *p must be empty. -1: out
 * of memory; call stage_free on the stages in any case. */
int stages_find(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *group,
                const struct channels *c, struct err *e);

void stage_free(struct stage *s);

#endif
