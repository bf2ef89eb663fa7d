/* huge.h - memory for large arrays that are read all over: on huge pages where the system has them. */
#ifndef BPE_BASE_SYS_HUGE_H
#define BPE_BASE_SYS_HUGE_H

#include <stddef.h>

enum { HUGE_LINE = 64 }; /* bytes: the alignment, a line of the cache */

/* n zeroed bytes, released by huge_free with the same n. NULL when memory is short. */
void *huge_zeroed(size_t n);
void huge_free(void *p, size_t n); /* p may be NULL */

/* Doubles an array of n bytes from huge_zeroed: the first half keeps its contents, the second half is zero. Large sizes
 * and powers of two are moved without copying. Returns the new address, or NULL if memory is short (p is unchanged). */
void *huge_double(void *p, size_t n);

#endif
