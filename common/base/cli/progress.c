/* progress.c - see progress.h. */
#include "base/cli/progress.h"

#include "base/sys/clock.h"
#include "base/sys/num.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- For other processes ---- */

static volatile struct progress_page *page; /* of this process; NULL: none, nothing is published */

/* Creates the page. Its descriptor remains open so that other processes can find the page. */
static void publish(void)
{
    enum { BYTES = 4096 };
    struct rlimit max;
    if (page || getrlimit(RLIMIT_FSIZE, &max) < 0 || max.rlim_cur < BYTES) /* ftruncate would raise SIGXFSZ */
        return;
    int fd = memfd_create(PROGRESS_FILE, MFD_CLOEXEC);
    if (fd < 0)
        return;
    void *p = ftruncate(fd, BYTES) < 0 ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        close(fd);
    else
        page = p;
}

static void set_text(volatile char *to, size_t n, const char *text)
{
    size_t i = 0;
    for (; text[i] && i + 1 < n; i++)
        to[i] = text[i];
    to[i] = '\0';
}

void progress_part(struct progress *p, const char *doing, const char *what)
{
    publish();
    p->start = clock_now();
    if (!page)
        return;
    page->done = page->total = 0;
    set_text(page->what, sizeof page->what, what);
    set_text(page->doing, sizeof page->doing, doing);
}

/* ---- On a terminal ---- */

void progress_start(struct progress *p, const char *name)
{
    *p = (struct progress){.name = name, .active = isatty(2), .start = clock_now()};
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what)
{
    if (page) {
        page->total = total;
        page->done = done;
    }
    if (!p->active)
        return;
    double t = clock_now(), took = t - p->start;
    if (took < 2 || t - p->last < 0.2)
        return;
    p->last = t;
    p->shown = true;
    char line[200], a[32], b[32], c[32];
    double rate = (double)done / took;
    if (bytes) {
        num_bytes(a, sizeof a, (double)done);
        num_bytes(b, sizeof b, (double)total);
        num_bytes(c, sizeof c, rate);
    } else {
        snprintf(a, sizeof a, "%llu", (unsigned long long)done);
        snprintf(b, sizeof b, "%llu", (unsigned long long)total);
        snprintf(c, sizeof c, "%.0f", rate);
    }
    int n = total && done <= total && rate > 0
                ? snprintf(line, sizeof line, "\r\033[K%s: %s of %s %s, %s/s, %.0f s left", p->name, a, b, what, c,
                           (double)(total - done) / rate)
                : snprintf(line, sizeof line, "\r\033[K%s: %s %s, %s/s", p->name, a, what, c);
    if (write(2, line, (size_t)n) < 0)
        p->active = false;
}

void progress_end(struct progress *p)
{
    if (p->shown && write(2, "\r\033[K", 4) < 0)
        p->active = false;
    p->shown = false;
}
