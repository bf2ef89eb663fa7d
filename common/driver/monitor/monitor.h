/* monitor.h - watches the pipelines of this machine from outside: samples what their processes do, and sums up the
 * samples in reports.
 *
 *     struct monitor *m = monitor_new(0, true, &e);
 *     while (...) {
 *         sleep for monitor_sample(m, &e) milliseconds
 *         now and then: monitor_report(m, &report, &e), print it, report_free
 *     }
 *     monitor_free(m);
 */
#ifndef BPE_DRIVER_MONITOR_MONITOR_H
#define BPE_DRIVER_MONITOR_MONITOR_H

#include "base/sys/err.h"
#include "driver/monitor/report.h"

#include <stdbool.h>
#include <sys/types.h>

struct monitor;

/* pid: only pipelines that include this process or its descendants; 0: all. apart: this process only watches, and
 * belongs to no pipeline. NULL with EX_OSERR. */
struct monitor *monitor_new(pid_t pid, bool apart, struct err *e);

/* Looks once at all watched processes. Returns the milliseconds until the next call, so that sampling takes less than 1
 * % of one core; or -1 with EX_OSERR. */
int monitor_sample(struct monitor *m, struct err *e);

/* Sums up the samples since the last report, and starts a new interval. A pipeline that ended in this interval is
 * reported once more, without stages. Free the report before the next sample. -1: EX_OSERR. */
int monitor_report(struct monitor *m, struct report *r, struct err *e);

void monitor_free(struct monitor *m);

#endif
