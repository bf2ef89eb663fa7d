/* memory.h - how much memory this process may use. */
#ifndef BPE_SYS_MEMORY_H
#define BPE_SYS_MEMORY_H

#include <stdint.h>

/* Bytes of memory that this process can hope for: the smallest of the machine's memory, the limits of the process
 * (RLIMIT_AS, RLIMIT_DATA) and those of its control group and the groups above it (Linux; versions 1 and 2). It is
 * what there is in all, not what is free. Never fails: what cannot be found out does not limit. */
uint64_t memory_limit(void);

/* The limit of the control groups alone, UINT64_MAX if there is none. root: a directory in front of /proc and /sys, ""
 * but in tests. */
uint64_t memory_cgroup_limit(const char *root);

#endif
