/* huge.c - see huge.h. */
#include "sys/huge.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, SMALLEST = 4 * HUGE_PAGE };

void *huge_alloc(size_t n)
{
#ifdef MADV_HUGEPAGE
    if (n >= SMALLEST && n <= SIZE_MAX - HUGE_PAGE) {
        size_t whole = (n + HUGE_PAGE - 1) & ~((size_t)HUGE_PAGE - 1);
        void *p = aligned_alloc(HUGE_PAGE, whole);
        if (p)
            madvise(p, whole, MADV_HUGEPAGE); /* advice: without it all is the same, but slower */
        return p;
    }
#endif
    return malloc(n);
}
