/* monitoring.h - prints a command's own pipelines on standard error, as bpe monitor shows them: every so many seconds
 * (--monitor), and once after SIGUSR1.
 */
#ifndef BPE_DRIVER_MONITORING_H
#define BPE_DRIVER_MONITORING_H

#include "base/cli/options.h"
#include "base/sys/buf.h"
#include "driver/job.h"

/* The row of the option --monitor, whose argument is stored in a field of the struct `owner`. */
#define MONITORING_OPTION(owner, field)                                                                                \
    {                                                                                                                  \
        0, "monitor", "SECONDS", "print what each stage does and the bottleneck, every SECONDS (default 2)",           \
            OPTION_TO(TEXT, owner, field), .if_none = "2", .check = monitoring_option                                  \
    }
int monitoring_option(const char *argument, void *to, struct err *e);

/* From the first call to the second, job_wait prints the pipelines when it is time. */
void monitoring_begin(struct job *j);
void monitoring_end(struct job *j);

/* Parses seconds, a decimal number. -1: EX_USAGE, with a message that names `option`. */
int monitoring_seconds(const char *s, const char *option, double *v, struct err *e);

/* The report format for this descriptor (driver/monitor/report.h). Not a terminal: 0 and false. */
struct report_form;
struct report_form monitoring_form(int fd);

#endif
