/* frames.h - where the independent parts of a compressed file begin, if the file records it:
 *
 *   - zstd's seekable format: a table of all frames at the end of the file;
 *   - pzstd: a skippable frame before each frame, with its length;
 *   - bgzf (bgzip, htslib): gzip members with their length in the header.
 *
 * Nothing is guessed: unless the lengths add up to the size of the file, there are no borders.
 */
#ifndef BPE_BASE_IO_FRAMES_H
#define BPE_BASE_IO_FRAMES_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct frames {       /* zeroed: empty */
    uint64_t *border; /* owned; ascending, greater than 0 and less than the file's size */
    size_t n, cap;
};

/* Finds borders between frames that are at least `apart` bytes from each other and from both ends of the file, which
 * limits the memory to size / apart borders. Finds none if the file does not record them. f must be empty; `size` is
 * the size of the open file. -1: EX_IOERR, or out of memory. */
int frames_find(struct frames *f, int fd, const char *name, uint64_t size, uint64_t apart, struct err *e);

void frames_free(struct frames *f);

#endif
