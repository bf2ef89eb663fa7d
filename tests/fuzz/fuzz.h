/* fuzz.h - functions for fuzz targets. A target is a file fuzz_NAME.c with the one function that libFuzzer calls. It
 * takes any bytes, frees everything, and returns; abort() reports a wrong result. Without libFuzzer, replay.c is the
 * main program. */
#ifndef BPE_TESTS_FUZZ_H
#define BPE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory. Its path is valid while this process lives. */
struct fuzz_file {
    int fd; /* 0: not yet made */
    char path[40];
};

/* Replaces the content of the file, and sets its position to the start. Returns its path. */
__attribute__((unused)) static const char *fuzz_fill(struct fuzz_file *f, const void *data, size_t size)
{
    if (!f->fd) {
        f->fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
    }
    if (f->fd < 0 || ftruncate(f->fd, 0) || pwrite(f->fd, data, size, 0) != (ssize_t)size ||
        lseek(f->fd, 0, SEEK_SET) != 0)
        abort();
    return f->path;
}

#endif
