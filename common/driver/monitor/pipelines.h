/* pipelines.h - which processes form which pipelines.
 *
 * A pipeline is all processes that channels connect to a program bpe-*, or that a tool that spreads work (xargs,
 * parallel, split) has started. Left out is who only holds what others use, as a shell does that waits for its
 * pipeline, and a channel that came to several pipelines from their common parent, with its standard input or output.
 */
#ifndef BPE_DRIVER_MONITOR_PIPELINES_H
#define BPE_DRIVER_MONITOR_PIPELINES_H

#include "driver/monitor/stages.h"

struct pipelines {
    struct pipeline *at; /* owned */
    size_t n, cap;
};

/* Finds the pipelines among n processes, in order of their pids, by their channels; ends that connect nobody are left
 * out of these from now on. -1: out of memory. */
int pipelines_find(struct pipelines *all, struct watched *const *at, size_t n, struct channels *c, struct err *e);

void pipelines_free(struct pipelines *all);

#endif
