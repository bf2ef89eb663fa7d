/* verdict.h - which stage of a pipeline holds the others back, in words.
 *
 * A stage waits for input if those before it are slower, and for room in its output if those after it are. The
 * bottleneck is the one that waits for neither most of the time: it runs, sleeps, or waits for its disk or for what
 * is outside.
 */
#ifndef BPE_DRIVER_MONITOR_VERDICT_H
#define BPE_DRIVER_MONITOR_VERDICT_H

#include "driver/monitor/report.h"

/* Sets bottleneck and verdict of a pipeline that has stages. cores: of this machine. */
void verdict_on(struct pipeline_report *p, long cores);

#endif
