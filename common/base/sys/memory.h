/* memory.h - how much memory this process may use. */
#ifndef BPE_BASE_SYS_MEMORY_H
#define BPE_BASE_SYS_MEMORY_H

#include <stdint.h>

/* An upper bound on the bytes of memory this process may use: the smallest of the machine's memory, the limits of the
 * process (RLIMIT_AS, RLIMIT_DATA) and those of its control group and the groups above it (Linux; versions 1 and 2). It
 * is the total, not what is free. Never fails: a limit that cannot be read is ignored. For one thread at a time. */
uint64_t memory_limit(void);

/* How many more bytes the stack of the first thread may grow by its limit (RLIMIT_STACK); UINT64_MAX: as many as there
 * are. To be called in it. */
uint64_t memory_stack_left(void);

/* The limit of the control groups alone, UINT64_MAX if there is none. root: a directory put before /proc and /sys, for
 * tests; otherwise "". */
uint64_t memory_cgroup_limit(const char *root);

#endif
