/* huge.c - see huge.h. */
#include "base/sys/huge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MAPPED =
        128 << 10, /* memory of at least this size is mapped; below HUGE_PAGE, its pages are populated in advance */
    HUGE_PAGE = 2 << 20,
    WHOLE = 8 * HUGE_PAGE, /* larger sizes are rounded up to whole huge pages */
};

#ifdef MADV_HUGEPAGE
static bool is_mapped(size_t n)
{
    return n >= MAPPED && n <= SIZE_MAX / 4;
}

/* The number of bytes to map for n bytes. The remainder after the last full huge page gets small pages, because
 * clearing a huge page takes time. For large arrays that time does not matter, so the size is rounded up. */
static size_t mapped_size(size_t n)
{
    size_t page = n > WHOLE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
    return (n + page - 1) & ~(page - 1);
}

static unsigned char *map_pages(size_t size, int flags)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps zeroed pages. To align huge pages, maps one more than needed and unmaps both ends. */
static unsigned char *map(size_t n)
{
    size_t size = mapped_size(n);
    if (n < HUGE_PAGE)
        return map_pages(size, MAP_POPULATE);
    unsigned char *p = map_pages(size + HUGE_PAGE, 0);
    if (!p)
        return NULL;
    size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before)
        munmap(p, before);
    if (before < HUGE_PAGE)
        munmap(p + before + size, HUGE_PAGE - before);
    /* This is only advice: without it the memory is the same, but slower. */
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
    size_t size = (n + HUGE_LINE - 1) & ~((size_t)HUGE_LINE - 1);
    void *p = aligned_alloc(HUGE_LINE, size);
    return p ? memset(p, 0, size) : NULL;
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
        /* One call moves and grows the array, so that it remains a single mapping: before Linux 6.17, mremap fails on
         * several mappings at once, after it has already unmapped the new address. */
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
