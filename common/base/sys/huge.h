/* huge.h - memory for large arrays with random access, on huge pages if the system has them. */
#ifndef BPE_BASE_SYS_HUGE_H
#define BPE_BASE_SYS_HUGE_H

#include <stddef.h>

enum { HUGE_LINE = 64 }; /* bytes: the alignment, a cache line */

/* n zeroed bytes, to be freed by huge_free with the same n. NULL: out of memory. */
void *huge_zeroed(size_t n);
void huge_free(void *p, size_t n); /* p may be NULL */

/* Doubles an array of n bytes from huge_zeroed: the first half keeps its contents, the second half is zero. Large sizes
 * and powers of two are moved without copying. Returns the new address, or NULL: out of memory, p is unchanged. */
void *huge_double(void *p, size_t n);

#endif
