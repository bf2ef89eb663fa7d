/* pipelines.h - groups processes into pipelines.
 *
 * A pipeline consists of the processes that channels connect to a program bpe-*, and of those started by a tool that
 * distributes work (xargs, parallel, split). It excludes processes that only hold ends that others use, such as a shell
 * waiting for its pipeline, and channels that several pipelines inherited from a common parent's standard input or
 * output.
 */
#ifndef BPE_DRIVER_MONITOR_PIPELINES_H
#define BPE_DRIVER_MONITOR_PIPELINES_H

#include "driver/monitor/stages.h"

struct pipelines {
    struct pipeline *at; /* owned */
    size_t n, cap;
};

/* Finds the pipelines among n processes, sorted by pid, by their channels; removes ends that connect no processes. -1:
 * out of memory. */
int pipelines_find(struct pipelines *all, struct watched *const *at, size_t n, struct channels *c, struct err *e);

void pipelines_free(struct pipelines *all);

#endif
