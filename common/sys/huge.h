/* huge.h - memory for large arrays that are read all over: on huge pages where the system has them. */
#ifndef BPE_SYS_HUGE_H
#define BPE_SYS_HUGE_H

#include <stddef.h>

/* As malloc: not zeroed, released by free(), NULL when memory is short. */
void *huge_alloc(size_t n);

#endif
