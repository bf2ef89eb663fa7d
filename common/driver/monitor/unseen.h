/* unseen.h - resources used by jobs that no sample saw: from a job's last sample to its end, or all of a short job.
 *
 * When a process ends, the system adds its usage to what its parent has reaped. From that, the usage already counted
 * for ended jobs is subtracted, and the rest is divided, once, among the stages of the jobs.
 */
#ifndef BPE_DRIVER_MONITOR_UNSEEN_H
#define BPE_DRIVER_MONITOR_UNSEEN_H

#include "driver/monitor/report.h"
#include "driver/monitor/stages.h"

/* The difference; 0 where it would be negative. */
struct used used_since(const struct used *now, const struct used *before);

/* Computes the unseen usage of the jobs of n processes, sorted by pid, in this interval. Call it once, after
 * pipelines_find. */
void unseen_find(struct watched *const *at, size_t n);

/* Adds that to the stages of a pipeline: CPU time in proportion to the samples in which they ran, but in total at most
 * what `cores` provide in `seconds`; bytes in proportion to the bytes seen, but at most a few times as many. */
void unseen_share(struct stage_report *stages, const struct pipeline *p, struct watched *const *at, size_t n,
                  double seconds, long cores);

#endif
