/* huge_test.c - doubling memory in huge pages: the old contents are kept, the rest is zero, and it remains one mapping.
 * Also if mremap(2) fails as it did before Linux 6.17, and leaves a hole where the memory should have gone. */
#include "../unit/tap.h"
#include "base/sys/huge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST = 1 << 20, ODD = 17 * FIRST + 8 * 77, DOUBLINGS = 6 };

static bool fails;

/* Replaces mremap of libc. */
void *mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *to = va_arg(ap, void *);
    va_end(ap);
    if (!fails)
        return (void *)syscall(SYS_mremap, old, old_size, new_size, flags, to);
    munmap(to, old_size);
    errno = EFAULT;
    return MAP_FAILED;
}

/* The number of mappings that p[0 .. n) consists of. */
static int mappings(const void *p, size_t n)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long begin, end, from = (unsigned long)(uintptr_t)p;
    int found = 0;
    char line[4096];
    while (f && fgets(line, sizeof line, f))
        found += sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin < from + n && end > from;
    if (f)
        fclose(f);
    return found;
}

static void test_double(const char *name, size_t first)
{
    size_t n = first / sizeof(uint64_t), wrong = 0;
    uint64_t *p = huge_zeroed(first);
    int divided = 0;
    for (size_t i = 0; p && i < n; i++)
        p[i] = i + 1;
    for (int k = 0; p && k < DOUBLINGS; k++) {
        uint64_t *twice = huge_double(p, n * sizeof *p);
        if (!twice)
            break;
        p = twice;
        for (size_t i = 0; i < 2 * n; i++) {
            wrong += p[i] != (i < n ? i + 1 : 0);
            p[i] = i + 1;
        }
        n *= 2;
        divided += k && mappings(p, n * sizeof *p) != 1; /* not the first one: it is small, and may adjoin others */
    }
    tap_ok(p && n == first / sizeof *p << DOUBLINGS && wrong == 0, "%s: the contents are kept, the rest is zero", name);
    tap_ok(divided == 0, "%s: it is one mapping", name);
    if (p)
        huge_free(p, n * sizeof *p);
}

int main(void)
{
    test_double("doubled", FIRST);
    test_double("doubled, not a multiple of the page size", ODD);
    fails = true;
    test_double("doubled, and mremap fails", FIRST);
    test_double("the same, not a multiple of the page size", ODD);
    return tap_done();
}
