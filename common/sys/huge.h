/* huge.h - memory for large arrays that are read all over: on huge pages where the system has them. */
#ifndef BPE_SYS_HUGE_H
#define BPE_SYS_HUGE_H

#include <stddef.h>

/* n zeroed bytes, released by huge_free with the same n. NULL when memory is short. */
void *huge_zeroed(size_t n);
void huge_free(void *p, size_t n); /* p may be NULL */

/* Makes n bytes of huge_zeroed twice as many: the first half is what was there, the second is zero. Large ones,
 * and powers of two, keep their pages. Returns where they are now, or NULL when memory is short (p is unchanged). */
void *huge_double(void *p, size_t n);

#endif
