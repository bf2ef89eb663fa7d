/* unseen.h - what jobs used that no sample saw: from the last sample of each to its end, or all of a short one.
 *
 * The system adds what a process used to what its parent has reaped. What was counted of the jobs that have ended is
 * subtracted, and the rest is divided, once, among the stages that the jobs belong to.
 */
#ifndef BPE_DRIVER_MONITOR_UNSEEN_H
#define BPE_DRIVER_MONITOR_UNSEEN_H

#include "driver/monitor/report.h"
#include "driver/monitor/stages.h"

/* What was used since; nothing, if it seems to be less than nothing. */
struct used used_since(const struct used *now, const struct used *before);

/* Finds what was not seen of the jobs of each of n processes, in order of their pids, in this interval: call it once,
 * after pipelines_find. */
void unseen_find(struct watched *const *at, size_t n);

/* Adds that to the stages of a pipeline: CPU time as the samples in which they ran, but in all no more than so many
 * cores have in these seconds; bytes as what was seen of them, but of little no more than some times that. */
void unseen_share(struct stage_report *stages, const struct pipeline *p, struct watched *const *at, size_t n,
                  double seconds, long cores);

#endif
