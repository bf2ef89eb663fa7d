/* memory_test.c - the memory limits of control groups, with files as in /proc and /sys, and those of the process. */
#include "../unit/tap.h"
#include "base/sys/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *root;

/* Writes a file below the root; creates its directories first. */
static void put(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(full, 0777);
    }
    FILE *f = fopen(full, "w");
    if (!f || fputs(text, f) == EOF || fclose(f) == EOF) {
        perror(full);
        exit(1);
    }
}

static void is(uint64_t wanted, const char *name)
{
    uint64_t got = memory_cgroup_limit(root);
    if (!tap_ok(got == wanted, "%s", name))
        tap_note("got %llu, wanted %llu", (unsigned long long)got, (unsigned long long)wanted);
}

static void test_version_2(void)
{
    is(UINT64_MAX, "no /proc: no limit");
    put("/proc/self/cgroup", "0::/user/job\n");
    is(UINT64_MAX, "no /sys: no limit");
    put("/sys/fs/cgroup/user/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user/memory.max", "max\n");
    is(UINT64_MAX, "max is no limit");
    put("/sys/fs/cgroup/user/job/memory.max", "3000000000\n");
    is(3000000000u, "the group's own limit");
    put("/sys/fs/cgroup/user/memory.max", "2000000000\n");
    is(2000000000u, "the parent group's limit, if it is smaller");
    put("/sys/fs/cgroup/user/job/memory.max", "1000000000\n");
    is(1000000000u, "the group's own limit, if that is smaller");
    put("/sys/fs/cgroup/user/job/memory.high", "900000000\n");
    is(900000000u, "memory.high, at which the kernel throttles, is a limit, too");
    put("/sys/fs/cgroup/memory.max", "800000000\n");
    is(800000000u, "the limit of the root group");
    put("/proc/self/cgroup", "0::/\n");
    is(800000000u, "the same in a container, whose group appears as the root");
    put("/proc/self/cgroup", "0::/../elsewhere\n");
    put("/sys/fs/cgroup/memory.max", "nonsense\n");
    is(UINT64_MAX, "not a number: no limit");
    put("/sys/fs/cgroup/memory.max", "\n");
    is(UINT64_MAX, "an empty line: no limit");
    put("/sys/fs/cgroup/memory.max", "99999999999999999999\n");
    is(UINT64_MAX, "a number that is too large: no limit");
    put("/proc/self/cgroup", "");
    is(UINT64_MAX, "an empty list of groups: no limit");
    put("/proc/self/cgroup", "what is this\n:\n::\n0:\n");
    is(UINT64_MAX, "malformed lines: no limit");
}

static void test_version_1(void)
{
    put("/proc/self/cgroup", "9:name=systemd:/job\n4:memory:/job/task\n1:cpu,cpuacct:/job\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    is(9223372036854771712u, "version 1: \"no limit\" is a very large number");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "500000000\n");
    is(500000000u, "version 1: the parent group's limit, if the group's own is not visible");
    put("/sys/fs/cgroup/memory/job/task/memory.limit_in_bytes", "400000000\n");
    is(400000000u, "version 1: the group's own limit");
    put("/proc/self/cgroup", "2:cpuset,memory,pids:/job/task\n");
    is(400000000u, "version 1: memory listed with other controllers");
    put("/proc/self/cgroup", "2:memoryless,nomemory:/job/task\n");
    is(UINT64_MAX, "version 1: other controllers are ignored");
    put("/sys/fs/cgroup/memory.max", "300000000\n");
    put("/proc/self/cgroup", "2:memory:/job/task\n0::/\n");
    is(300000000u, "both versions: the smaller limit");
}

/* The result of memory_limit in a process with a limit: RLIMIT_DATA if data, otherwise RLIMIT_AS. */
__attribute__((unused)) static uint64_t limit_with(bool data, rlim_t soft)
{
    uint64_t got = 0;
    int fd[2];
    if (pipe(fd) < 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit r;
        if (getrlimit(data ? RLIMIT_DATA : RLIMIT_AS, &r) < 0)
            _exit(1);
        r.rlim_cur = soft;
        setrlimit(data ? RLIMIT_DATA : RLIMIT_AS, &r);
        got = memory_limit();
        _exit(write(fd[1], &got, sizeof got) == sizeof got ? 0 : 1);
    }
    close(fd[1]);
    if (child < 0 || read(fd[0], &got, sizeof got) != sizeof got)
        got = 0;
    close(fd[0]);
    waitpid(child, NULL, 0);
    return got;
}

int main(void)
{
    char name[PATH_MAX], command[PATH_MAX + 20];
    const char *tmp = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/bpe-memory-XXXXXX", tmp ? tmp : "/tmp");
    root = mkdtemp(name);
    if (!root) {
        perror(name);
        return 1;
    }
    test_version_2();
    test_version_1();
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    tap_ok(system(command) == 0, "the files are removed");
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    tap_ok(memory_limit() > 0 && memory_limit() <= all, "at most the machine's memory");
    tap_ok(memory_limit() <= memory_cgroup_limit(""), "at most the control group's limit");
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer's shadow memory is larger than any limit */
    const rlim_t min = (rlim_t)60 << 20;
    tap_ok(limit_with(true, min) == min, "RLIMIT_DATA is a limit");
    tap_ok(limit_with(false, min) == min, "RLIMIT_AS is a limit");
#endif
    return tap_done();
}
