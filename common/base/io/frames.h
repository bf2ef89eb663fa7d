/* frames.h - where the independent parts of a compressed file begin, if the file says so itself:
 *
 *   - zstd's seekable format: a table of all frames at the end of the file;
 *   - pzstd: before each frame, a skippable frame with the length of the next one;
 *   - bgzf (bgzip, htslib): gzip members whose headers have their length.
 *
 * Nothing is guessed: unless all lengths add up to the file's, no borders are known.
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

/* Finds borders between frames that are at least `apart` bytes from each other and from the file's ends, so that the
 * memory needed depends on size / apart. None if the file does not tell; f must be empty. `size` is that of the open
 * file. -1: EX_IOERR, or out of memory. */
int frames_find(struct frames *f, int fd, const char *name, uint64_t size, uint64_t apart, struct err *e);

void frames_free(struct frames *f);

#endif
