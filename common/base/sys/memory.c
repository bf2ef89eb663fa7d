/* memory.c - see memory.h. */
#include "base/sys/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number in a file; UINT64_MAX if there is none (version 2 uses "max"). */
static uint64_t read_number(const char *path)
{
    char text[32] = "", *end = text;
    FILE *f = fopen(path, "re");
    if (!f)
        return UINT64_MAX;
    errno = 0;
    uint64_t n = fgets(text, sizeof text, f) ? strtoull(text, &end, 10) : 0;
    fclose(f);
    return end == text || errno ? UINT64_MAX : n;
}

/* The smallest limit of a group and its ancestors, which limit it too. In a container, the path may be the host's: then
 * its directories do not exist, and the root of the mount is the container's own group. Missing ones are skipped. */
static uint64_t limit_along(const char *mount, char *group, const char *const *files)
{
    uint64_t min = UINT64_MAX;
    for (char *end = group + strlen(group);; end = strrchr(group, '/')) {
        if (end)
            *end = '\0';
        for (const char *const *file = files; *file; file++) {
            static char path[2 * PATH_MAX]; /* static, as below, because programs call this with little stack left */
            if ((size_t)snprintf(path, sizeof path, "%s%s/%s", mount, end ? group : "", *file) < sizeof path)
                min = smaller(min, read_number(path));
        }
        if (!end || end == group)
            return min;
    }
}

/* Whether a word is in a comma-separated list. */
static int lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return 1;
    }
    return 0;
}

/* A line of /proc/self/cgroup is `number:controllers:group`; in version 2 the number is 0 and there are no controllers.
 */
uint64_t memory_cgroup_limit(const char *root)
{
    static const char *const version1[] = {"memory.limit_in_bytes", NULL}, *const version2[] = {"memory.max",
                                                                                                "memory.high", NULL};
    static char path[PATH_MAX], line[PATH_MAX + 200];
    uint64_t min = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (!f)
        return UINT64_MAX;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        if (strcmp(line, "0") == 0 && !*controllers) {
            snprintf(path, sizeof path, "%s/sys/fs/cgroup", root);
            min = smaller(min, limit_along(path, group, version2));
        } else if (lists(controllers, "memory")) {
            snprintf(path, sizeof path, "%s/sys/fs/cgroup/memory", root);
            min = smaller(min, limit_along(path, group, version1));
        }
    }
    fclose(f);
    return min;
}

/* The resource limits of the process. */
static uint64_t process_limit(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, data = all;
    getrlimit(RLIMIT_AS, &all);
    getrlimit(RLIMIT_DATA, &data);
    rlim_t min = all.rlim_cur < data.rlim_cur ? all.rlim_cur : data.rlim_cur; /* RLIM_INFINITY is the largest */
    return min == RLIM_INFINITY ? UINT64_MAX : (uint64_t)min;
}

uint64_t memory_stack_left(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r) < 0 || r.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t used = 0;
#ifdef __linux__
    /* The program's name is at the bottom of the stack; the environment and the arguments come next. */
    uintptr_t bottom = (uintptr_t)getauxval(AT_EXECFN), here = (uintptr_t)__builtin_frame_address(0);
    used = bottom > here ? bottom - here : 0;
#endif
    return used < r.rlim_cur ? r.rlim_cur - used : 0;
}

uint64_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    return smaller(smaller(machine, process_limit()), memory_cgroup_limit(""));
}
