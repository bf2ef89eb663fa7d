/* monitor.h - watches the pipelines of this machine from outside: samples what their processes do, and from time to
 * time adds it up.
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

/* pid: only pipelines that have this process or its descendants; 0: all. apart: this process is in no pipeline, as it
 * only watches. NULL with EX_OSERR. */
struct monitor *monitor_new(pid_t pid, bool apart, struct err *e);

/* Looks once at all processes that are watched. Returns the milliseconds after which it should be called again, so
 * that this takes less than a hundredth of one core's time; or -1 with EX_OSERR. */
int monitor_sample(struct monitor *m, struct err *e);

/* Adds up the samples since the last report; those of the next begin anew. A pipeline that has ended since is
 * reported once more, without stages. Free it before the next sample. -1: EX_OSERR. */
int monitor_report(struct monitor *m, struct report *r, struct err *e);

void monitor_free(struct monitor *m);

#endif
