/* verdict.h - names the bottleneck of a pipeline, in words.
 *
 * A stage waits for input if earlier stages are slower, and for room in its output if later ones are. The bottleneck is
 * the stage that waits least for either: it runs, sleeps, or waits for its disk or for something outside.
 */
#ifndef BPE_DRIVER_MONITOR_VERDICT_H
#define BPE_DRIVER_MONITOR_VERDICT_H

#include "driver/monitor/report.h"

/* Sets bottleneck and verdict of a pipeline with stages. cores: of this machine. */
void verdict_on(struct pipeline_report *p, long cores);

#endif
