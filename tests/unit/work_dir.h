/* work_dir.h - a temporary directory for a test that makes thousands of small files. */
#ifndef BPE_TESTS_WORK_DIR_H
#define BPE_TESTS_WORK_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Makes the directory in memory if there is enough space, as in_memory of tests/lib.sh does; this takes a tenth of the
 * time. Otherwise makes it in TMPDIR, or /tmp. Its name goes to path[size]. Returns false if it cannot be made. */
static bool make_work_dir(char *path, size_t size, const char *name)
{
    struct statvfs room;
    const char *in = getenv("TMPDIR"), *shm = getenv("TEST_SHM");
    shm = shm && *shm ? shm : "/dev/shm";
    if (access(shm, W_OK) == 0 && statvfs(shm, &room) == 0 && (uint64_t)room.f_bavail * room.f_frsize > 500 << 20)
        in = shm;
    int n = snprintf(path, size, "%s/%s-XXXXXX", in ? in : "/tmp", name);
    return n > 0 && (size_t)n < size && mkdtemp(path) != NULL;
}

#endif
