/* huge.c - see huge.h. */
#include "sys/huge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HUGE_PAGE = 2 << 20,
    WHOLE = 8 * HUGE_PAGE, /* above this, the last huge page is whole */
};

#ifdef MADV_HUGEPAGE
static bool is_mapped(size_t n)
{
    return n >= HUGE_PAGE && n <= SIZE_MAX / 4;
}

/* What is mapped for n bytes. What is left over of a last huge page is on small ones, for a page costs the time to
 * clear it, unless that is little of all. */
static size_t mapped_size(size_t n)
{
    size_t page = n > WHOLE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
    return (n + page - 1) & ~(page - 1);
}

/* Zeroed pages, aligned by asking for one more and giving the ends back. */
static unsigned char *map(size_t n)
{
    size_t size = mapped_size(n);
    unsigned char *p =
        mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before)
        munmap(p, before);
    if (before < HUGE_PAGE)
        munmap(p + before + size, HUGE_PAGE - before);
    /* Advice: without it all is the same, but slower. */
    madvise(p + before, size & ~((size_t)HUGE_PAGE - 1), MADV_HUGEPAGE);
    return p + before;
}
#endif

void *huge_zeroed(size_t n)
{
#ifdef MADV_HUGEPAGE
    if (is_mapped(n))
        return map(n);
#endif
    return calloc(1, n);
}

void huge_free(void *p, size_t n)
{
#ifdef MADV_HUGEPAGE
    if (p && is_mapped(n)) {
        munmap(p, mapped_size(n));
        return;
    }
#endif
    free(p);
}

void *huge_double(void *p, size_t n)
{
    if (n > SIZE_MAX / 4)
        return NULL;
    unsigned char *new = huge_zeroed(2 * n);
    if (!new)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (is_mapped(n) && mapped_size(n) % HUGE_PAGE == 0) {
        /* It grows as it moves, so that it stays one mapping: before Linux 6.17 several are not moved at once, and what
         * was where they should go is gone all the same. */
        if (mremap(p, mapped_size(n), mapped_size(2 * n), MREMAP_MAYMOVE | MREMAP_FIXED, new) != MAP_FAILED)
            return new;
        huge_free(new, 2 * n);
        new = huge_zeroed(2 * n);
        if (!new)
            return NULL;
    }
#endif
    memcpy(new, p, n);
    huge_free(p, n);
    return new;
}
