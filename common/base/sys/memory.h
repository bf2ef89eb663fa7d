/* memory.h - how much memory this process may use. */
#ifndef BPE_BASE_SYS_MEMORY_H
#define BPE_BASE_SYS_MEMORY_H

#include <stdint.h>

/* An upper bound on the bytes of memory this process may use: the smallest of the machine's memory, the limits of the
 * process (RLIMIT_AS, RLIMIT_DATA) and those of its control group and its ancestors (Linux; versions 1 and 2). It is
 * the total, not the free memory. Never fails: a limit that cannot be read is ignored. Not thread-safe. */
uint64_t memory_limit(void);

/* How many more bytes the stack of the main thread may grow (RLIMIT_STACK); UINT64_MAX: unlimited. Call it in the main
 * thread. */
uint64_t memory_stack_left(void);

/* Only the limit of the control groups; UINT64_MAX if there is none. root: a prefix for the paths in /proc and /sys,
 * for tests; otherwise "". */
uint64_t memory_cgroup_limit(const char *root);

#endif
